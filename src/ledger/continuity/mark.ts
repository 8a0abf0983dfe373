import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import type { FileStore, StoredFile } from '../../core/source.ts';
import { findFolderProblem } from '../../core/text/folder-problem.ts';
import { isOutdated, namesIn } from './journal-folder.ts';
import { CLOSED_ENDING, type JournalName, parseJournalName, partName } from './journal-names.ts';

export type ClosedJournal = {
  /** Full id of the process. */
  readonly owner: string;
  readonly path: string;
  readonly name: string;
};

/**
 * The mark is a second copy of the journals, outside the machine that writes them. A container without a
 * persistent disk compares its database with the mark. The store contains:
 *
 * - `<owner>-<number>.open.ndjson`: the claims of one commit, up to that number, written before the first
 *   byte of any of their requests;
 * - closed journals under their own names. Each replaces the parts of its process.
 *
 * `fetch` downloads the journals that are needed, and they are then read like local ones. They never prove
 * that a request was not begun, because they are copies.
 */
export type Mark = {
  /**
   * Downloads the journals that a comparison needs, or every journal if `all` is true. Journals downloaded
   * before are kept.
   *
   * @returns the folder that contains them.
   * @throws KnownError `mark_unavailable`.
   */
  fetch(options: { readonly all: boolean }): Promise<string>;
  /**
   * Writes claims of a live process to the mark. @throws KnownError `mark_unavailable`: none of these claims
   * may then be sent.
   */
  note(claims: NotedClaims): Promise<void>;
  /**
   * Replaces the noted claims of a process by its closed journal. If that fails, the noted claims stay, which
   * is equally safe.
   */
  keep(journal: ClosedJournal): Promise<void>;
  /**
   * Removes journals that are older than the retention of journals, but never the newest of a ledger. The
   * next run retries what fails.
   */
  prune(now: Date): Promise<void>;
};

export type NotedClaims = {
  readonly owner: string;
  /** Number of the newest of them. */
  readonly newest: string;
  /** A complete journal: a head, and one line for each claim. */
  readonly text: string;
};

export type MarkOptions = {
  /** Where the mark is kept. */
  readonly store: FileStore;
  /** Address of the store, for messages. */
  readonly uri: string;
  /** Folder of this machine's own journals, which need no copy. */
  readonly journals: string;
};

/** A journal whose name this version cannot read. It is downloaded, and its content says what it is. */
const UNKNOWN: JournalName = { ledger: null, newest: null, owner: '' };

/** Maximum number of concurrent requests to the store. */
const CONCURRENCY = 8;

/** Creates the mark of a process. The files that it downloads are removed when the process ends. */
export function createMark({ store, uri, journals }: MarkOptions): Mark {
  let folder: string | null = null;

  async function list(): Promise<readonly MarkedJournal[]> {
    const files = await store.list();
    return files
      .filter(({ name }) => name.endsWith(CLOSED_ENDING))
      .map((file) => ({ ...(parseJournalName(file.name) ?? UNKNOWN), ...file }));
  }

  async function fetch(all: boolean): Promise<string> {
    folder ??= makeFolder();
    const here = folder;
    const files = await list();
    const newest = new Set(newestOf(files).values());
    const local = new Set(namesIn(journals).flatMap((name) => parseJournalName(name)?.owner ?? []));
    const missing = files.filter(
      (file) =>
        (all || file.ledger === null || newest.has(file)) &&
        !local.has(file.owner) &&
        !existsSync(join(here, file.name)),
    );
    let hasChanged = false;
    await eachOf(missing, async ({ name }) => {
      try {
        await store.download(name, join(here, name));
      } catch (error) {
        if ((await list()).some((file) => file.name === name)) throw error;
        hasChanged = true;
      }
    });
    // A process that closes its journal replaces its parts, which may happen after they were listed.
    return hasChanged ? fetch(all) : here;
  }

  return {
    async fetch({ all }) {
      try {
        return await fetch(all);
      } catch (cause) {
        throw unavailable(cause, { uri, doing: 'read' });
      } finally {
        store.close();
      }
    },
    async note({ owner, newest, text }) {
      try {
        await store.write(partName(owner, newest), text);
      } catch (cause) {
        throw unavailable(cause, { uri, doing: 'written' });
      }
    },
    async keep({ owner, path, name }) {
      try {
        await store.upload(name, path);
        const parts = (await list()).filter(
          (file) => file.ledger === null && file.name.startsWith(`${owner}-`),
        );
        await eachOf(parts, (part) => store.remove(part.name));
      } catch {
        // The noted claims stay. They show equally well which requests may have been sent.
      } finally {
        store.close();
      }
    },
    async prune(now) {
      try {
        const files = await list();
        const newest = newestOf(files);
        const kept = new Set(newest.values());
        // Noted claims do not name their ledger. They are removed once the newest closed journal of every
        // ledger is newer: none is while no journal has been closed.
        const [first = 0n, ...others] = [...kept].map((file) => file.newest ?? 0n);
        const least = others.reduce((one, other) => (other < one ? other : one), first);
        const old = files.filter(
          (file) =>
            isOutdated(file.modifiedAt, now) &&
            (file.ledger === null ? (file.newest ?? least) < least : !kept.has(file)),
        );
        await eachOf(old, ({ name }) => store.remove(name));
      } catch {
        // The next run tries again.
      } finally {
        store.close();
      }
    },
  };
}

const folders = new Set<string>();

/**
 * Creates a folder for this process alone, so that its files are not replaced while they are read. It is
 * removed when the process exits.
 */
function makeFolder(): string {
  if (folders.size === 0)
    process.once('exit', () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-mark-'));
  folders.add(folder);
  return folder;
}

type MarkedJournal = StoredFile & JournalName;

async function eachOf(
  files: readonly MarkedJournal[],
  work: (file: MarkedJournal) => Promise<void>,
): Promise<void> {
  await pLimit(CONCURRENCY).map(files, work);
}

/** For each ledger, returns the closed journal with the newest claim. */
function newestOf(files: readonly MarkedJournal[]): ReadonlyMap<string, MarkedJournal> {
  const newest = new Map<string, MarkedJournal>();
  for (const file of files) {
    if (file.ledger === null) continue;
    const before = newest.get(file.ledger);
    if (before === undefined || (before.newest ?? 0n) < (file.newest ?? 0n)) newest.set(file.ledger, file);
  }
  return newest;
}

function unavailable(cause: unknown, { uri, doing }: { uri: string; doing: 'read' | 'written' }): KnownError {
  const known = cause instanceof KnownError ? cause : null;
  const problem = findFolderProblem(cause);
  const why =
    problem === null
      ? (known?.message ?? (cause instanceof Error ? cause.message : String(cause)))
      : `${problem.path}: ${problem.reason} (${problem.code}).`;
  const needs = /^s3:/i.test(uri)
    ? 'The credentials need s3:ListBucket on the bucket of ledger.mark_uri, and s3:GetObject, s3:PutObject and s3:DeleteObject below it.'
    : problem?.code === 'ENOSPC' || problem?.code === 'EDQUOT'
      ? 'Free space there and run the command again: what was not sent is sent then.'
      : 'Let the user of influencer-sync write to the folder of ledger.mark_uri, keep space free, and put nothing else into it. Then run the command again.';
  return new KnownError({
    code: 'mark_unavailable',
    message: `The mark of the ledger cannot be ${doing}. ${why}`,
    where: uri,
    help: `${known === null ? '' : `${known.details.help}\n`}${needs} Nothing is posted without the mark, because it shows whether the database was restored.`,
    safe: doing === 'read' ? 'Nothing was read or sent.' : 'Claims that are not in the mark were not sent.',
    exitCode: known?.details.exitCode ?? (problem === null ? EXIT.crash : EXIT.configuration),
    cause,
  });
}
