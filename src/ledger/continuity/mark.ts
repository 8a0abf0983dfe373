import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import type { FileStore, StoredFile } from '../../model/source.ts';
import { isOutdated, namesIn } from './journal-folder.ts';
import { type JournalName, parseJournalName, partName } from './journal-names.ts';
import type { ClosedJournal } from './settle-journals.ts';

/**
 * The mark: the journals once more, outside of the machine that writes them. It is what a container without a lasting disk compares its
 * database with. In the store are
 *
 * - `<owner>-<number>.open.ndjson`: the claims of one commit, up to that number, written before the first byte of any of their requests;
 * - closed journals under their own names: each takes the place of the parts of its process.
 *
 * What is needed of them is brought here, where they are journals like others. They never prove that a request was not begun, since they are
 * copies.
 */
export type Mark = {
  /**
   * Brings here what a comparison needs, or with `all` whatever is kept. What was brought before stays.
   *
   * @returns the folder that it is in.
   * @throws KnownError `mark_unavailable`.
   */
  fetch(options: { readonly all: boolean }): Promise<string>;
  /** Notes claims of a live process. @throws KnownError `mark_unavailable`: then none of them may be sent. */
  note(claims: NotedClaims): Promise<void>;
  /** Keeps the closed journal of a process instead of what was noted of it. What fails stays as it was noted, which is as safe. */
  keep(journal: ClosedJournal): Promise<void>;
  /** Removes what is older than journals are kept, but never the newest of a ledger. What fails is removed another time. */
  prune(now: Date): Promise<void>;
};

export type NotedClaims = {
  readonly owner: string;
  readonly newest: number;
  /** A journal by itself: its head, and a line for each claim. */
  readonly text: string;
};

export type MarkOptions = {
  /** Where the mark is kept. */
  readonly store: FileStore;
  /** Address of the store, for messages. */
  readonly uri: string;
  /** Folder of the journals of this machine, of which no copy is needed. */
  readonly journals: string;
};

/** Requests to the store at a time. */
const CONCURRENCY = 8;

/** The mark of a process. What it brings here is removed when the process ends. */
export function createMark({ store, uri, journals }: MarkOptions): Mark {
  let folder: string | null = null;

  async function list(): Promise<readonly MarkedJournal[]> {
    const files = await store.list();
    return files.flatMap((file) => {
      const name = parseJournalName(file.name);
      return name === null ? [] : [{ ...file, ...name }];
    });
  }

  async function fetch(all: boolean): Promise<string> {
    folder ??= makeFolder();
    const here = folder;
    const files = await list();
    const newest = new Set(newestOf(files).values());
    const local = ownersIn(journals);
    const missing = files.filter(
      (file) =>
        (all || file.ledger === null || newest.has(file)) &&
        !local.has(file.owner) &&
        !existsSync(join(here, file.name)),
    );
    await eachOf(missing, ({ name }) => store.download(name, join(here, name)));
    return here;
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
        // What was noted stays, and says the same of what may have been sent.
      } finally {
        store.close();
      }
    },
    async prune(now) {
      try {
        const files = await list();
        const newest = newestOf(files);
        const kept = new Set(newest.values());
        // What was noted does not name its ledger: it goes once the newest closed journal of each is newer.
        const least = Math.min(...[...kept].map((file) => file.newest ?? 0));
        const old = files.filter(
          (file) =>
            isOutdated(file.modifiedAt, now) &&
            (file.ledger === null ? (file.newest ?? 0) < least : !kept.has(file)),
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

/** Of this process alone, so that nothing in it is replaced while it is read. It goes with the process. */
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

/** Of each ledger, the closed journal with its newest claim. */
function newestOf(files: readonly MarkedJournal[]): ReadonlyMap<string, MarkedJournal> {
  const newest = new Map<string, MarkedJournal>();
  for (const file of files) {
    if (file.ledger === null) continue;
    const before = newest.get(file.ledger);
    if (before === undefined || (before.newest ?? 0) < (file.newest ?? 0)) newest.set(file.ledger, file);
  }
  return newest;
}

/** Short ids of the processes whose journals are on this machine. */
function ownersIn(folder: string): ReadonlySet<string> {
  return new Set(namesIn(folder).flatMap((name) => parseJournalName(name)?.owner ?? []));
}

function unavailable(
  cause: unknown,
  { uri, doing }: { readonly uri: string; readonly doing: 'read' | 'written' },
): KnownError {
  const known = cause instanceof KnownError ? cause : null;
  const why = known?.message ?? (cause instanceof Error ? cause.message : String(cause));
  return new KnownError({
    code: 'mark_unavailable',
    message: `The mark of the ledger cannot be ${doing}. ${why}`,
    where: uri,
    help: `${known === null ? '' : `${known.details.help}\n`}The credentials need s3:ListBucket on the bucket of ledger.mark_uri, and s3:GetObject, s3:PutObject and s3:DeleteObject below it. Nothing is posted without the mark, because it shows whether the database was restored.`,
    safe: doing === 'read' ? 'Nothing was read or sent.' : 'Claims that are not in the mark were not sent.',
    exitCode: known?.details.exitCode ?? EXIT.crash,
    cause,
  });
}
