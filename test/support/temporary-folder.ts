import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';

/** The suite needs less than half of this. */
const ENOUGH_BYTES = 2 * 2 ** 30;

/**
 * Chooses where the suite keeps its temporary files: hundreds of databases and folders of some three hundred
 * files each. File systems that do not reuse the inode of a removed file at once (ext4 without a journal: for
 * minutes) search longer and longer for a free one. So the suite uses memory if there is enough, unless
 * TMPDIR names another place.
 */
export function chooseTemporaryFolder(): string {
  return process.env.TMPDIR || !isRoomy(MEMORY) ? tmpdir() : MEMORY;
}

/**
 * Returns true if the folder is a file system of its own with enough space, from which programs can be
 * started, because Postgres is started from there.
 */
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
    return false; // Not available on this system, or to this user.
  }
}

/**
 * Gives the suite a temporary home folder if this user has no writable one, as in a container with an
 * arbitrary uid, because vitest, npm and npx store files there. It is removed when this process ends.
 */
export function ensureHome(): void {
  if (isWritable(homedir)) return;
  const home = mkdtempSync(join(tmpdir(), 'influencer-sync-home-'));
  process.env.HOME = home;
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
}

/**
 * @param folder returns the folder. It may throw, as homedir() does if neither HOME nor the passwd database
 * names one.
 */
export function isWritable(folder: () => string): boolean {
  try {
    accessSync(folder(), constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
