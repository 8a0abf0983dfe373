import {
  type BigIntStats,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { lockFile } from '../../db/server/lock-folder.ts';
import type { ClaimedEntry, Outcome } from '../../model/ledger.ts';
import {
  answerLine,
  type ClaimPlace,
  claimLine,
  closedLine,
  JOURNAL_VERSION,
  type JournalHead,
  writingLine,
} from './journal-lines.ts';
import { closedName, OPEN_ENDING } from './journal-names.ts';
import type { Mark } from './mark.ts';

/** What posting tells the journal of its process. */
export type Journal = {
  /** Claims whose commit was acknowledged. What cannot be noted makes `writing` of these entries fail, so that they are not sent. */
  claimed(claims: readonly ClaimPlace[]): Promise<void>;
  /** Resolves when it is noted that the first byte of the request is about to be written. @throws when it could not be noted: then nothing may be sent. */
  writing(entry: ClaimedEntry): Promise<void>;
  /** What is known after the attempt. It need not be noted to be true, so it never throws. */
  answered(entry: ClaimedEntry, outcome: Outcome): void;
  /** The newest claim that was noted; null before the first. */
  last(): ClaimPlace | null;
  /** The process ends in order. */
  close(): Promise<void>;
};

export type JournalOptions = {
  /** Folder of the journals, absolute; made when it is missing. */
  readonly folder: string;
  readonly ledgerId: string;
  readonly accountId: string;
  readonly owner: string;
  /** Where claims are noted too; null where this folder is all there is. */
  readonly mark: Mark | null;
};

const LOCK_ENDING = '.lock';

/**
 * Opens this process's journal: one file, made before the first claim, so that a claim that is not in it was never sent. While the process
 * lives it holds a lock beside the file, by which others know that it may still write. A journal that cannot be opened lets nothing be
 * sent: `writing` says why.
 */
export function openJournal({ folder, ledgerId, accountId, owner, mark }: JournalOptions): Journal {
  const path = join(folder, owner + OPEN_ENDING);
  let file: number | null = null;
  let unlock: (() => void) | null = null;
  let failure: unknown = null;
  let head = '';
  let last: ClaimPlace | null = null;
  let gathered = '';
  let flushed: Promise<void> | null = null;

  function write(lines: string): void {
    if (failure !== null) throw failure;
    if (file === null) throw new Error('the journal is closed');
    try {
      writeWhole(file, lines);
    } catch (error) {
      failure = error;
      throw error;
    }
  }

  /** Everything that is gathered in this turn of the event loop is one write. */
  function flush(): Promise<void> {
    flushed ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        const lines = gathered;
        gathered = '';
        flushed = null;
        try {
          if (lines !== '') write(lines);
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return flushed;
  }

  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    unlock = lockFile(path + LOCK_ENDING);
    if (unlock === null) throw new Error('another process has this journal open');
    file = openSync(path, 'a', 0o600);
    head = headLine({ ledgerId, accountId, owner, file });
    write(head);
  } catch (error) {
    failure = error;
  }

  return {
    async claimed(claims) {
      const at = Date.now();
      const lines = claims.map((claim) => claimLine(claim, at)).join('');
      try {
        write(lines);
        last = claims.at(-1) ?? last;
        if (last !== null) await mark?.note({ owner, newest: last.claim.claimNo, text: head + lines });
      } catch (error) {
        failure ??= error;
      }
    },
    async writing({ claim }) {
      if (failure !== null) throw failure;
      gathered += writingLine(claim.claimNo);
      await flush();
    },
    answered({ claim }, outcome) {
      if (failure !== null) return;
      gathered += answerLine(claim.claimNo, outcome);
      flush().catch(() => {});
    },
    last: () => last,
    async close() {
      if (file === null) return;
      let closed: string | null = null;
      try {
        write(gathered + closedLine(last));
        gathered = '';
        // One without claims says nothing.
        if (last === null) rmSync(path);
        else {
          closed = closedName(ledgerId, last.claim.claimNo, owner);
          renameSync(path, join(folder, closed));
        }
      } catch {
        // It stays open: the next process reads what it says and closes it.
        closed = null;
      }
      closeSync(file);
      file = null;
      rmSync(path + LOCK_ENDING, { force: true });
      unlock?.();
      if (closed !== null) await mark?.keep({ owner, path: join(folder, closed), name: closed });
    },
  };
}

/** Whether the process of an open journal still lives. @returns a function that gives its lock back, or null while it does. */
export function lockJournal(path: string): (() => void) | null {
  const unlock = lockFile(path + LOCK_ENDING);
  if (unlock === null) return null;
  return () => {
    rmSync(path + LOCK_ENDING, { force: true });
    unlock();
  };
}

function headLine({
  ledgerId,
  accountId,
  owner,
  file,
}: Pick<JournalOptions, 'ledgerId' | 'accountId' | 'owner'> & { readonly file: number }): string {
  const head: JournalHead = {
    journal: JOURNAL_VERSION,
    ledger: ledgerId,
    account: accountId,
    owner,
    boot: readBootId(),
    file: fileIdOf(fstatSync(file, { bigint: true })),
    host: hostname(),
    pid: process.pid,
    at: new Date().toISOString(),
  };
  return `${JSON.stringify(head)}\n`;
}

/**
 * Names this boot of the kernel (`random(4)`: /proc/sys/kernel/random/boot_id). What a dead process wrote is certain to be in its file only
 * while the same kernel runs. Null where the system does not tell (not Linux).
 */
function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}

/** Names a file for as long as it exists. */
function fileIdOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}

/**
 * Whether a line that is missing in a journal proves that what it would have said never happened: the file is the one that its process wrote,
 * not a copy of it, and the kernel that took the lines still runs.
 */
export function isProof(path: string, head: JournalHead): boolean {
  const boot = readBootId();
  return boot !== null && head.boot === boot && head.file === fileIdOf(statSync(path, { bigint: true }));
}

/** A write may take less than it was given, for example when the disk fills up. */
function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
