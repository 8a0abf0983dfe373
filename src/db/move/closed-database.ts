import { closeSync, existsSync, fstatSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configurationError } from '../../core/known-error.ts';

/** Beside the embedded database, and in the record of its ledger: it was moved to a server, and must never be used again. */
const FILE = 'moved';

/**
 * Closes the embedded database of a folder for good. The file is on disk when this returns, and keeps the first place.
 *
 * @param folder the data folder; or the record of its ledger outside it, so that an older copy of the data folder is
 * closed too.
 * @throws KnownError as `requireSamePlace`.
 */
export function closeEmbedded(folder: string, movedTo: string): void {
  requireSamePlace(folder, movedTo);
  for (const [path, flag] of [
    [join(folder, FILE), 'a'],
    [folder, 'r'],
  ] as const) {
    const descriptor = openSync(path, flag, 0o600);
    try {
      if (flag === 'a' && fstatSync(descriptor).size === 0)
        writeFileSync(descriptor, `to ${movedTo} at ${new Date().toISOString()}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}

/**
 * An interrupted move is only finished to the server where it began, because that server may already have the
 * ledger. An empty file is of a move that died before the server could get it.
 *
 * @throws KnownError `database_moved_elsewhere` (exit 2) if the embedded database of a folder was moved to another place.
 */
export function requireSamePlace(folder: string, place: string): void {
  const path = join(folder, FILE);
  const moved = readMoved(folder) ?? '';
  if (moved === '' || moved.startsWith(`to ${place} at `)) return;
  throw configurationError({
    code: 'database_moved_elsewhere',
    message: `The embedded database was already moved, but not to ${place}. The file says: "${moved}".`,
    where: path,
    help: 'Set DATABASE_URL to the server that this file names, written in the same way. Remove the file only if you are sure that this server does not have the ledger.',
    safe: 'Nothing was copied or sent. Two servers with one ledger would post orders twice.',
  });
}

/** What is written about the move of a folder: `to db:5432/sync at 2026-10-31T…`, or empty. Null if it was not moved. */
export function readMoved(folder: string): string | null {
  const path = join(folder, FILE);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

/** @throws KnownError `database_moved` (exit 2) if the embedded database of a folder was moved to a server. */
export function requireOpenEmbedded(folder: string): void {
  if (readMoved(folder) === null) return;
  throw configurationError({
    code: 'database_moved',
    message: 'The embedded database was moved to a server, so it is not used any more.',
    where: join(folder, FILE),
    help: 'Set DATABASE_URL to the server that this file names. If the move was interrupted, finish it: npx influencer-sync ledger move --reason "…"',
    safe: 'Nothing was read or sent. Two databases with one ledger would post orders twice.',
  });
}
