import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';

/**
 * Takes the embedded database's folder for this process: it is damaged when two processes open it at once.
 * A lock left by a process that is gone is taken over.
 *
 * @returns a function that gives the folder back.
 * @throws KnownError `database_in_use` (exit 5).
 */
export function lockFolder(folder: string): () => void {
  const path = join(folder, 'lock');
  // Linked into place with its content: nobody may find the lock before it says whose it is.
  const own = join(folder, `lock-${process.pid}`);
  writeFileSync(own, String(process.pid));
  try {
    while (!isLinked(own, path)) {
      const holder = Number(readHolder(path));
      if (holder !== process.pid && isAlive(holder)) throw inUse(folder, holder);
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(own, { force: true });
  }
  return () => rmSync(path, { force: true });
}

/** @returns false when there is one already. */
function isLinked(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

function inUse(folder: string, holder: number): KnownError {
  return new KnownError({
    code: 'database_in_use',
    message: `Another process (pid ${holder}) has the embedded database open.`,
    where: folder,
    help: 'Wait until it ends, or set database.url of the configuration to a Postgres server, which many processes can share.',
    exitCode: EXIT.alreadyRunning,
  });
}

function readHolder(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // Given back in this very moment: the next round takes it.
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Has ended, and nobody has taken note of that: in a container without an init that may be so for ever. Shown by Linux only (proc(5)). */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The state comes after the name, which stands in parentheses and may hold any character.
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}
