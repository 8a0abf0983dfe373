import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { namePath } from '../../core/text/folder-problem.ts';
import { type ClaimedAttempt, type JournalHead, parseClosedLine, parseHead } from './journal-lines.ts';
import { CLOSED_ENDING, OPEN_ENDING, parseJournalName } from './journal-names.ts';

export type JournalFile = {
  readonly path: string;
  readonly name: string;
  /** True if its process has not closed it. */
  readonly isOpen: boolean;
};

/** Lists the journals of a folder: open ones first, then closed ones by ledger and newest claim. */
export function listJournals(folder: string): readonly JournalFile[] {
  const files = namesIn(folder)
    .filter((name) => name.endsWith(CLOSED_ENDING))
    .sort()
    .map((name) => ({ name, path: join(folder, name), isOpen: name.endsWith(OPEN_ENDING) }));
  return [...files.filter(({ isOpen }) => isOpen), ...files.filter(({ isOpen }) => !isOpen)];
}

/**
 * Passes each journal of a folder to `read`, one after the other. A journal that is closed in the meantime
 * has another name, so the folder is listed again if one has disappeared: none is left out, and `read` may
 * get one twice, before and after it was closed.
 */
export async function eachJournal(folder: string, read: (file: JournalFile) => Promise<void>): Promise<void> {
  const passed = new Set<string>();
  let hasChanged: boolean;
  do {
    hasChanged = false;
    for (const file of listJournals(folder)) {
      if (passed.has(file.name)) continue;
      passed.add(file.name);
      try {
        await read(file);
      } catch (error) {
        if (existsSync(file.path)) throw error;
        hasChanged = true;
      }
    }
  } while (hasChanged);
}

/** For each ledger, returns the closed journal with the newest claim. */
export function newestClosed(files: readonly JournalFile[]): readonly JournalFile[] {
  const newest = new Map<string, JournalFile>();
  for (const file of files) {
    if (file.isOpen) continue;
    const ledger = file.name.split('-')[0] ?? '';
    const before = newest.get(ledger);
    if (before === undefined || numberOf(before) <= numberOf(file)) newest.set(ledger, file);
  }
  return [...newest.values()];
}

function numberOf({ name }: JournalFile): bigint {
  return parseJournalName(name)?.newest ?? 0n;
}

/**
 * Yields the lines of a journal without loading the whole file. Only a line feed ends a line: `readline` would also
 * break it at U+2028, which an answer of the service may contain.
 */
export async function* linesOf(path: string): AsyncIterable<string> {
  let rest = '';
  try {
    for await (const chunk of createReadStream(path, 'utf8')) {
      const lines = `${rest}${String(chunk)}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    throw namePath(error, path);
  }
  if (rest !== '') yield rest;
}

/** Longer than the first or the last line of any journal. */
const EDGE_BYTES = 16_384;

/**
 * Reads the head and the newest claim of a closed journal without reading the lines in between.
 *
 * @returns null if that is not possible. The caller must then read the whole journal.
 */
export function readEdges(
  path: string,
): { readonly head: JournalHead; readonly last: ClaimedAttempt | null } | null {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const head = readAt(file, 0).split('\n', 1)[0] ?? '';
    const tail =
      readAt(file, Math.max(0, size - EDGE_BYTES))
        .trimEnd()
        .split('\n')
        .at(-1) ?? '';
    const closed = parseClosedLine(tail);
    const parsed = closed === null ? null : parseHead(head);
    return closed === null || parsed === null ? null : { head: parsed, last: closed.last };
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, position: number): string {
  const bytes = Buffer.alloc(EDGE_BYTES);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, EDGE_BYTES, position));
}

/** How long closed journals are kept: an operator may restore a backup that is as old as this. */
export const JOURNALS_KEPT_MS = 90 * 86_400_000;

/**
 * True if a journal that was closed or noted at that time is older than any backup that may still be
 * restored.
 */
export function isOutdated(closedAt: Date, now: Date): boolean {
  return closedAt.getTime() < now.getTime() - JOURNALS_KEPT_MS;
}

/**
 * Removes outdated closed journals, but never the newest one of a ledger: the database is compared with it.
 */
export function removeOldJournals(folder: string, now: Date): void {
  const files = listJournals(folder);
  const newest = new Set(newestClosed(files).map(({ path }) => path));
  for (const { path, isOpen } of files) {
    if (isOpen || newest.has(path)) continue;
    // Another process may have removed it since the listing.
    const closedAt = statSync(path, { throwIfNoEntry: false })?.mtime;
    if (closedAt !== undefined && isOutdated(closedAt, now)) rmSync(path, { force: true });
  }
}

/** Lists the names in a folder; empty if the folder does not exist. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
