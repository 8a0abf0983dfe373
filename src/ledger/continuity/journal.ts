import {
  type BigIntStats,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { KnownError } from '../../core/known-error.ts';
import type { ClaimedEntry, Outcome } from '../../core/ledger.ts';
import { findFolderProblem, withPath } from '../../core/text/folder-problem.ts';
import { lockFile } from '../../db/server/lock-folder.ts';
import {
  answerLine,
  type ClaimedAttempt,
  chainLines,
  claimLine,
  closedLine,
  JOURNAL_VERSION,
  type JournalEnd,
  type JournalHead,
  writingLine,
} from './journal-lines.ts';
import { closedName, OPEN_ENDING } from './journal-names.ts';
import { type LineCount, openLineCount } from './line-count.ts';
import type { Mark } from './mark.ts';

/** Records the claims and answers of this process outside the database. */
export type Journal = {
  /**
   * Records claims whose commit was acknowledged. Never throws: if they cannot be recorded, `writing` of
   * these entries throws, so that they are not sent.
   */
  claimed(claims: readonly ClaimedAttempt[]): Promise<void>;
  /**
   * Records that the first byte of the request is about to be written. @throws if that cannot be recorded:
   * the request must then not be sent.
   */
  writing(entry: ClaimedEntry): Promise<void>;
  /**
   * Records the outcome of an attempt. Never throws, because the outcome is valid even if it is not recorded
   * here.
   */
  answered(entry: ClaimedEntry, outcome: Outcome): void;
  /** Returns the newest recorded claim, or null before the first one. */
  last(): ClaimedAttempt | null;
  /** Closes the journal when the process ends normally. */
  close(): Promise<void>;
};

export type JournalOptions = {
  /** Absolute path of the folder of journals; created if it does not exist. */
  readonly folder: string;
  /** Absolute path of a second folder, in which the same lines are written. Null or omitted: there is none. */
  readonly copyFolder?: string | null;
  readonly ledgerId: string;
  readonly accountId: string;
  readonly owner: string;
  /** A second place where claims are recorded; null if there is none. */
  readonly mark: Mark | null;
};

const LOCK_ENDING = '.lock';

/** One file of a journal that this process has open. */
type OpenFile = { readonly folder: string; readonly path: string; readonly file: number; unlock(): void };

/**
 * Opens the journal of this process. The file exists before the first claim, so a claim that is not in it was
 * never sent. While the process lives, it holds a lock file next to the journal, which tells other processes
 * that it may still write.
 *
 * @throws the error of the file system if the journal cannot be opened: nothing may be claimed then.
 */
export function openJournal(options: JournalOptions): Journal {
  const { folder, copyFolder = null, ledgerId, owner, mark } = options;
  const files: OpenFile[] = [];
  let count: LineCount | null = null;
  let failure: unknown = null;
  let head = '';
  let end: JournalEnd | undefined;
  let last: ClaimedAttempt | null = null;
  const gathered: string[] = [];
  let flushed: Promise<void> | null = null;

  function write(lines: readonly string[]): void {
    if (failure !== null) throw failure;
    if (files.length === 0) throw new Error('the journal is closed');
    try {
      const chained = chainLines(lines, end);
      // Unlike writeSync, it writes on if the system took only a part, for example because the disk is nearly full.
      for (const { file, path } of files) withPath(path, () => writeFileSync(file, chained.bytes));
      count?.note(chained.end);
      end = chained.end;
    } catch (error) {
      failure = unwritable(error);
      throw failure;
    }
  }

  /** Writes all lines of one turn of the event loop together: each write costs two calls of the system. */
  function append(...lines: readonly string[]): Promise<void> {
    gathered.push(...lines);
    flushed ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        flushed = null;
        try {
          write(gathered.splice(0));
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return flushed;
  }

  try {
    for (const place of copyFolder === null ? [folder] : [folder, copyFolder])
      files.push(openFile(place, owner));
    head = JSON.stringify({
      journal: JOURNAL_VERSION,
      ledger: options.ledgerId,
      account: options.accountId,
      owner: options.owner,
      boot: readBootId(),
      file: fileIdOf(fstatSync(files[0]?.file ?? Number.NaN, { bigint: true })),
      host: hostname(),
      pid: process.pid,
      at: new Date().toISOString(),
    });
    count = openLineCount(owner);
    write([head]);
  } catch (error) {
    for (const open of files.splice(0)) closeFile(open, true);
    throw error instanceof KnownError ? error.details.cause : error;
  }

  return {
    async claimed(claims) {
      const at = Date.now();
      const lines = claims.map((claim) => claimLine(claim, at));
      try {
        await append(...lines);
        last = claims.at(-1) ?? last;
        if (last !== null && mark !== null)
          await mark.note({
            owner,
            newest: last.claim.claimNo,
            text: String(chainLines([head, ...lines]).bytes),
          });
      } catch (error) {
        failure ??= error;
      }
    },
    writing: ({ claim }) => append(writingLine(claim.claimNo)),
    answered({ claim }, outcome) {
      append(answerLine(claim.claimNo, outcome)).catch(() => {});
    },
    last: () => last,
    async close() {
      if (files.length === 0) return;
      let isWritten = true;
      try {
        write([...gathered.splice(0), closedLine(last)]);
      } catch {
        // The journal stays open. The next process reads and closes it.
        isWritten = false;
      }
      const closed = files.splice(0).map((open) => closeFile(open, isWritten));
      if (closed.every((isClosed) => isClosed)) count?.remove();
      const name = last === null ? null : closedName(ledgerId, last.claim.claimNo, owner);
      if (closed[0] === true && name !== null) await mark?.keep({ owner, path: join(folder, name), name });
    },
  };

  /** Closes a file, and gives it the name of a closed journal if it is one. @returns true if it is. */
  function closeFile({ folder: place, path, file, unlock }: OpenFile, isWritten: boolean): boolean {
    let isClosed = false;
    try {
      if (isWritten) {
        // A journal without claims contains no information.
        if (last === null) rmSync(path);
        else renameSync(path, join(place, closedName(ledgerId, last.claim.claimNo, owner)));
        isClosed = true;
      }
    } catch {
      // As above.
    }
    closeSync(file);
    removeLock(path);
    unlock();
    return isClosed;
  }
}

/** Says which journal cannot be written, and why. */
function unwritable(error: unknown): unknown {
  const problem = findFolderProblem(error);
  if (problem === null) return error;
  const { path, reason, code } = problem;
  return new KnownError({
    code: 'journal_unwritable',
    message: `The journal ${path} cannot be written: ${reason} (${code}). Nothing is sent without it.`,
    help: 'Free space, or let the user of influencer-sync write there, and run again: what was not sent waits.',
    safe: 'Claims that are not in the journal were not sent.',
    cause: error,
  });
}

function openFile(folder: string, owner: string): OpenFile {
  const path = join(folder, owner + OPEN_ENDING);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unlock = lockFile(path + LOCK_ENDING);
  if (unlock === null) throw new Error('another process has this journal open');
  return { folder, path, file: openSync(path, 'a', 0o600), unlock };
}

/**
 * Tries to lock an open journal. @returns a function that releases the lock, or null if its process is still
 * alive, or if the journal has just been closed.
 */
export function lockJournal(path: string): (() => void) | null {
  let unlock: (() => void) | null;
  try {
    unlock = lockFile(path + LOCK_ENDING);
  } catch (error) {
    // SQLite reports an input error if the lock file is removed while it opens it.
    if (existsSync(path)) throw error;
    return null;
  }
  if (unlock === null) return null;
  return () => {
    removeLock(path);
    unlock();
  };
}

/**
 * Removes the lock file of a journal that is closed. As long as the journal is open, its lock file stays:
 * processes that lock two files of the same name would not exclude each other.
 */
function removeLock(path: string): void {
  if (!existsSync(path)) rmSync(path + LOCK_ENDING, { force: true });
}

/** True if the process of an open journal has ended. A live process may still write more lines. */
export function isDead(path: string): boolean {
  const unlock = lockJournal(path);
  unlock?.();
  return unlock !== null;
}

/**
 * Returns the id of this boot of the kernel (`random(4)`: /proc/sys/kernel/random/boot_id), or null if the
 * system is not Linux. What a dead process wrote is certain to be in its file only while the same kernel
 * runs.
 */
function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}

/** Identifies a file for as long as it exists. */
function fileIdOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

/**
 * True if this is the original file, not a copy, and the kernel that received its lines is still running. See
 * `isWhole` (whole-journal.ts) for what else a proof needs.
 */
export function isProof(path: string, head: JournalHead): boolean {
  const boot = readBootId();
  return boot !== null && head.boot === boot && head.file === fileIdOf(statSync(path, { bigint: true }));
}
