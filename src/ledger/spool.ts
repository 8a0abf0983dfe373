import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { withPath } from '../core/text/folder-problem.ts';
import { databaseClock } from '../db/clock.ts';
import type { Database } from '../db/connect.ts';
import { namesIn } from './continuity/journal-folder.ts';
import { dispositionOf, storeLostClaims } from './continuity/lost-claims.ts';
import { boundAccount } from './open-account.ts';
import { type Answer, LOST, recordAnswers } from './record.ts';

/** Keeps answers of the service while the database is unreachable. */
export type Spool = {
  /**
   * Writes the answer and fsyncs it. The answer is durable when the call returns.
   *
   * @throws the error of the file system if it cannot be written as a whole. None of it is then kept.
   */
  append(answer: Answer): void;
};

const ENDING = '.ndjson';

/** SQLSTATE class of values that the database cannot store: one such line must not keep the others from being recorded. */
const DATA_EXCEPTION = '22';
const UNUSABLE = 'unusable';

/** Subfolder of the spool for lines that cannot be read. */
const ASIDE = 'unreadable';

/**
 * Opens the spool of this process: one file, created by the first append.
 *
 * @param folder absolute path; created if it does not exist.
 * @param owner names the file, so that a later process can tell whether the writer is still alive.
 */
export function openSpool(folder: string, owner: string): Spool {
  return {
    append(answer) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = openSync(join(folder, owner + ENDING), 'a', 0o600);
      try {
        withPath(folder, () => {
          writeLine(file, JSON.stringify(answer));
          fsyncSync(file);
        });
      } finally {
        closeSync(file);
      }
      // Sync the folder too: the file's name must also survive a power cut.
      const parent = openSync(folder, 'r');
      try {
        fsyncSync(parent);
      } finally {
        closeSync(parent);
      }
    },
  };
}

/** Writes a line as a whole, or removes what was written of it: the next line would become a part of it. */
function writeLine(file: number, line: string): void {
  const { size } = fstatSync(file);
  try {
    // Unlike writeSync, it writes on if the system took only a part, for example because the disk is nearly full.
    writeFileSync(file, `${line}\n`);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

export type Replayed = {
  /** Number of answers recorded, including `lost`. */
  readonly answers: number;
  /**
   * Answers to claims that this database has lost. They are stored as lost claims
   * (continuity/lost-claims.ts).
   */
  readonly lost: number;
  /**
   * Lines that cannot be used, because they are damaged or their claim cannot be identified. They are set
   * aside, and the doubts that they would have settled remain.
   */
  readonly unreadable: number;
};

/**
 * Records the spooled answers of this process and of processes whose leases have expired. Run it before
 * reaping, so that an entry with a known answer does not become a doubt. A line that cannot be read is set
 * aside (`spool/unreadable/`) and the other lines are still processed.
 *
 * @param options.isContinuous false if the caller does not know whether the database has lost claims. Answers
 * to claims that the database lacks then stay in the spool: storing only some of the lost claims would hide
 * the others from `checkContinuity`.
 * @returns the numbers of answers and lines. Recording an answer twice is harmless. A line that a crash cut
 * short had not been acknowledged.
 */
export async function replaySpool(
  db: Database,
  folder: string,
  owner: string,
  { isContinuous = true }: { isContinuous?: boolean } = {},
): Promise<Replayed> {
  const replayed = { answers: 0, lost: 0, unreadable: 0 };
  const accountId = await boundAccount(db);
  for (const name of spoolFiles(folder)) {
    const writer = name.slice(0, -ENDING.length);
    if (writer !== owner && (await isAlive(db, writer))) continue;
    const path = join(folder, name);
    const spooled = readAnswers(path);
    // Another process that recovers at the same time has recorded and removed it.
    if (spooled === null) continue;
    const { answers, unreadable } = spooled;
    // Skip files of another account: a data folder may serve two accounts, each with its own ledger.
    if (answers.some(({ answer }) => answer.claim !== undefined && answer.claim.accountId !== accountId))
      continue;
    let isKept = false;
    // Record one answer at a time: the same answer may occur twice in a file.
    for (const { answer, line } of answers) {
      if (answer.claim === undefined && !(await isOf(db, answer, writer))) {
        unreadable.push(line);
        continue;
      }
      const [state] = await recordAnswers(db, [answer], 'spool').catch((error: { code?: unknown }) => {
        if (!String(error.code).startsWith(DATA_EXCEPTION)) throw error;
        return [UNUSABLE];
      });
      if (state === UNUSABLE) {
        unreadable.push(line);
        continue;
      }
      if (state === LOST && !isContinuous) {
        isKept = true;
        continue;
      }
      replayed.answers += 1;
      if (state !== LOST || answer.claim === undefined) continue;
      const { claim, outcome } = answer;
      const disposition = dispositionOf(outcome);
      replayed.lost += await storeLostClaims(db, [{ claim, disposition, outcome, claimedAt: null }]);
    }
    // Keep the whole file for the next replay. Recording an answer twice is harmless.
    if (isKept) continue;
    if (unreadable.length > 0) setAside(folder, { name, lines: unreadable });
    replayed.unreadable += unreadable.length;
    rmSync(path, { force: true });
  }
  return replayed;
}

/** Counts the lines that were set aside and have not been removed. */
export function countUnreadable(folder: string): number {
  const aside = join(folder, ASIDE);
  return spoolFiles(aside).reduce(
    (sum, name) => sum + readFileSync(join(aside, name), 'utf8').split('\n').length - 1,
    0,
  );
}

/**
 * True if an answer that does not name its claim belongs to the process that wrote it, and not to another
 * process that has since claimed the entry.
 */
async function isOf(db: Database, { entryId, attempt }: Answer, writer: string): Promise<boolean> {
  const attempts = db.selectFrom('ledger.attempts').where((eb) => eb.and({ entry_id: entryId, attempt }));
  return (await attempts.where(sql`owner::text`, '=', writer).executeTakeFirst()) !== undefined;
}

function spoolFiles(folder: string): readonly string[] {
  return namesIn(folder).filter((name) => name.endsWith(ENDING));
}

type SpoolFile = {
  readonly answers: { readonly answer: Answer; readonly line: string }[];
  readonly unreadable: string[];
};

/** @returns null if the file does not exist any more. */
function readAnswers(path: string): SpoolFile | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  // A crash cut off the text after the last line break, and its answer was not acknowledged.
  const whole = text.split('\n').slice(0, -1);
  const file: SpoolFile = { answers: [], unreadable: [] };
  for (const line of whole) {
    const answer = parseAnswer(line);
    if (answer === null) file.unreadable.push(line);
    else file.answers.push({ answer, line });
  }
  return file;
}

const OUTCOMES: readonly unknown[] = ['accepted', 'rejected', 'not_written', 'throttled', 'in_doubt'];

/** Parses and checks a line. A damaged or edited file may contain anything. */
function parseAnswer(line: string): Answer | null {
  try {
    const answer = JSON.parse(line, toStorable) as Answer;
    const isAnswer =
      /^\d{1,18}$/.test(answer.entryId) &&
      Number.isSafeInteger(answer.attempt) &&
      OUTCOMES.includes(answer.outcome?.kind) &&
      (answer.claim === undefined || typeof answer.claim.claimId === 'string');
    return isAnswer ? answer : null;
  } catch {
    return null;
  }
}

/** Replaces what Postgres cannot store: a spool of an earlier version may hold any text of the service. */
function toStorable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
}

function setAside(folder: string, { name, lines }: { name: string; lines: readonly string[] }): void {
  const aside = join(folder, ASIDE);
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  writeFileSync(join(aside, name), `${lines.join('\n')}\n`, { flag: 'a', mode: 0o600 });
}

async function isAlive(db: Database, owner: string): Promise<boolean> {
  const leases = db.selectFrom('ops.leases').where(sql`owner::text`, '=', owner);
  return (await leases.where('expires_at', '>', databaseClock).executeTakeFirst()) !== undefined;
}
