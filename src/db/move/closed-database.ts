import { closeSync, existsSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';

/** Beside the embedded database: it was moved to a server, and must never be opened again. */
const FILE = 'moved';

/** Closes the embedded database of a folder for good. The file is on disk when this returns. */
export function closeEmbedded(folder: string, movedTo: string): void {
  for (const [path, flag] of [
    [join(folder, FILE), 'w'],
    [folder, 'r'],
  ] as const) {
    const descriptor = openSync(path, flag, 0o600);
    try {
      if (flag === 'w') writeSync(descriptor, `to ${movedTo} at ${new Date().toISOString()}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}

/** @throws KnownError `database_moved` (exit 2) if the embedded database of a folder was moved to a server. */
export function requireOpenEmbedded(folder: string): void {
  if (!existsSync(join(folder, FILE))) return;
  throw new KnownError({
    code: 'database_moved',
    message: 'The embedded database was moved to a server, so it is not used any more.',
    where: join(folder, FILE),
    help: 'Set DATABASE_URL to the server that this file names. If the move was interrupted, finish it: npx influencer-sync ledger move --reason "…"',
    safe: 'Nothing was read or sent. Two databases with one ledger would post orders twice.',
    exitCode: EXIT.configuration,
  });
}
