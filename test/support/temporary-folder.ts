import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';

/** The suite takes less than half of it. */
const ENOUGH_BYTES = 2 * 2 ** 30;

/**
 * Where the suite keeps what it makes and removes: hundreds of databases and folders of some three hundred files each. File systems that
 * do not use a removed file's number again at once (ext4 without a journal: for minutes) search longer and longer for a free one, so where
 * there is room in memory, that is the place; unless TMPDIR names one.
 */
export function chooseTemporaryFolder(): string {
  return process.env.TMPDIR || !isRoomy(MEMORY) ? tmpdir() : MEMORY;
}

/** Whether it is a file system of its own with space, from which programs may be started: Postgres is, from there. */
function isRoomy(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, path]) => path === folder);
    const { bavail, bsize } = statfsSync(folder);
    return mount?.[3]?.split(',').includes('noexec') === false && bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false; // Not on this system, or not for this user.
  }
}

/**
 * Gives the suite a home folder of its own where this user has none that can be written, as in a container with a uid of its own: vitest,
 * npm and npx keep files there. It goes with this process.
 */
export function ensureHome(): void {
  if (isWritable(homedir)) return;
  const home = mkdtempSync(join(tmpdir(), 'influencer-sync-home-'));
  process.env.HOME = home;
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
}

/** @param folder where it is; it may throw: homedir() does where neither HOME nor the passwd database knows one. */
export function isWritable(folder: () => string): boolean {
  try {
    accessSync(folder(), constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
