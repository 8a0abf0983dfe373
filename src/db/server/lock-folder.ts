import { accessSync, constants, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { namePath, withPath } from '../../core/text/folder-problem.ts';

/** Result code of SQLite for a file that another process has locked. */
const SQLITE_BUSY = 5;

/**
 * Locks the folder of the embedded database for this process, because two processes that open it at once
 * would damage it.
 *
 * The lock is one of the operating system, which Node offers only through SQLite. It ends with its process,
 * however that ends. It also works between containers, which share a volume but not their process ids.
 *
 * @returns a function that releases the lock.
 * @throws KnownError `database_in_use` (exit 5), or the system error if this user may not write to the
 * folder.
 */
export function lockFolder(folder: string): () => void {
  // Gives a clear error, which SQLite does not.
  accessSync(folder, constants.W_OK | constants.X_OK);
  // Used only to report the holder to other processes.
  const note = join(folder, 'lock.pid');
  const unlock = lockFile(join(folder, 'lock.sqlite'));
  if (unlock === null)
    throw new KnownError({
      code: 'database_in_use',
      message: `Another process${readHolder(note)} has the embedded database open.`,
      where: folder,
      help: 'Wait until it ends, or set database.url of the configuration to a Postgres server, which many processes can share.',
      exitCode: EXIT.alreadyRunning,
    });
  writeFileSync(note, String(process.pid));
  return () => {
    rmSync(note, { force: true });
    unlock();
  };
}

/** The locks of this process. One that nothing refers to would be collected, and end. */
const locks = new Set<DatabaseSync>();

/**
 * Takes a lock that ends with this process, however it ends. Creates the file if it is missing; the file
 * stays empty.
 *
 * @returns a function that releases the lock. Null if another process holds it.
 */
export function lockFile(path: string): (() => void) | null {
  const lock = withPath(path, () => new DatabaseSync(path));
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null;
    throw namePath(error, path);
  }
  locks.add(lock);
  return () => {
    locks.delete(lock);
    lock.close();
  };
}

/** @returns an empty string in the short time between taking the lock and writing the pid. */
function readHolder(note: string): string {
  try {
    return ` (pid ${readFileSync(note, 'utf8')})`;
  } catch {
    return '';
  }
}
