import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

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
