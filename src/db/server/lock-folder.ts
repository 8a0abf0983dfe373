import { accessSync, constants, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';

/** SQLite's result code for a file that another process has locked. */
const SQLITE_BUSY = 5;

/**
 * Takes the embedded database's folder for this process: it is damaged when two processes open it at once.
 *
 * The lock is the operating system's, which Node offers only by SQLite: it ends with its process, however that ends, and it holds between
 * containers too, which share a volume but not their pids.
 *
 * @returns a function that gives the folder back.
 * @throws KnownError `database_in_use` (exit 5), or the system's error where this user may not write into the folder.
 */
export function lockFolder(folder: string): () => void {
  // Says what is wrong, as SQLite does not.
  accessSync(folder, constants.W_OK | constants.X_OK);
  // Only for whoever finds the folder taken.
  const note = join(folder, 'lock.pid');
  const unlock = lockFile(join(folder, 'lock.sqlite'));
  if (unlock === null) throw inUse(folder, note);
  writeFileSync(note, String(process.pid));
  return () => {
    rmSync(note, { force: true });
    unlock();
  };
}

/**
 * Takes a lock that ends with this process, however it ends. The file is made where it is missing, and holds nothing.
 *
 * @returns a function that gives it back; null when another process has it.
 */
export function lockFile(path: string): (() => void) | null {
  const lock = new DatabaseSync(path);
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return () => lock.close();
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

function inUse(folder: string, note: string): KnownError {
  return new KnownError({
    code: 'database_in_use',
    message: `Another process${readHolder(note)} has the embedded database open.`,
    where: folder,
    help: 'Wait until it ends, or set database.url of the configuration to a Postgres server, which many processes can share.',
    exitCode: EXIT.alreadyRunning,
  });
}

/** @returns nothing in the moment between its lock and its note. */
function readHolder(note: string): string {
  try {
    return ` (pid ${readFileSync(note, 'utf8')})`;
  } catch {
    return '';
  }
}
