import { readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = Number(readHolder(path));
    if (holder !== process.pid && isAlive(holder)) {
      throw new KnownError({
        code: 'database_in_use',
        message: `Another process (pid ${holder}) has the embedded database open.`,
        where: folder,
        help: 'Wait until it ends, or set database.url of the configuration to a Postgres server, which many processes can share.',
        exitCode: EXIT.alreadyRunning,
      });
    }
    rmSync(path, { force: true });
  }
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
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
