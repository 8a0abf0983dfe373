import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { boundAccount } from './bind-account.ts';
import { dispositionOf, storeLostClaims } from './continuity/lost-claims.ts';
import type { Answer } from './record.ts';
import { LOST, recordAnswers } from './record.ts';

/** Answers of the service that the database could not take when they came. */
export type Spool = {
  /** Durable when it returns: written and fsynced. */
  append(answer: Answer): void;
};

const ENDING = '.ndjson';

/** Folder within the spool for lines that cannot be read. */
const ASIDE = 'unreadable';

/**
 * Opens this process's spool: one file, made on the first append.
 *
 * @param folder absolute; made when it is missing.
 * @param owner names the file, so that a later process can tell whether its writer still lives.
 */
export function openSpool(folder: string, owner: string): Spool {
  return {
    append(answer) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = openSync(join(folder, owner + ENDING), 'a', 0o600);
      try {
        writeSync(file, `${JSON.stringify(answer)}\n`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      // The file's name must outlive a power cut too.
      const parent = openSync(folder, 'r');
      try {
        fsyncSync(parent);
      } finally {
        closeSync(parent);
      }
    },
  };
}

export type Replayed = {
  /** Answers that were recorded. */
  readonly answers: number;
  /** Of them, answers to claims that this database lost: they are kept as such (continuity/lost-claims.ts). */
  readonly lost: number;
  /** Lines that cannot be used: damaged, or of a claim that cannot be told. They are set aside, and the doubts that they would have settled stay. */
  readonly unreadable: number;
};

/**
 * Records what was spooled: by this process, and by processes whose leases are over. Must run before reaping, so that an answer that
 * is known does not become a doubt. A line that cannot be read is set aside (`spool/unreadable/`) and the rest goes on.
 *
 * @param options.isContinuous false where it is not known whether the database lost claims: then answers to claims that it does not have stay in
 * the spool. To take note of some of what it lost would hide the rest from `checkContinuity`.
 * @returns how many there were. Recording one twice is harmless; a line cut by a crash had not been acknowledged.
 */
export async function replaySpool(
  db: Database,
  folder: string,
  owner: string,
  { isContinuous = true }: { readonly isContinuous?: boolean } = {},
): Promise<Replayed> {
  const replayed = { answers: 0, lost: 0, unreadable: 0 };
  const accountId = await boundAccount(db);
  for (const name of spoolFiles(folder)) {
    const writer = name.slice(0, -ENDING.length);
    if (writer !== owner && (await isAlive(db, writer))) continue;
    const path = join(folder, name);
    const { answers, unreadable } = readAnswers(path);
    // A data folder may serve two accounts, each with a ledger of its own.
    if (answers.some(({ answer }) => answer.claim !== undefined && answer.claim.accountId !== accountId))
      continue;
    let isKept = false;
    // One after the other: the same answer may stand in it twice.
    for (const { answer, line } of answers) {
      if (answer.claim === undefined && !(await isOf(db, answer, writer))) {
        unreadable.push(line);
        continue;
      }
      const [state] = await recordAnswers(db, [answer], 'spool');
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
    // It is replayed as a whole once more: to record an answer twice is harmless.
    if (isKept) continue;
    if (unreadable.length > 0) setAside(folder, { name, lines: unreadable });
    replayed.unreadable += unreadable.length;
    rmSync(path);
  }
  return replayed;
}

/** How many lines were set aside and are still there. */
export function countUnreadable(folder: string): number {
  const aside = join(folder, ASIDE);
  return spoolFiles(aside).reduce(
    (sum, name) => sum + readFileSync(join(aside, name), 'utf8').split('\n').length - 1,
    0,
  );
}

/** An answer that does not name its claim: it counts for the process that wrote it, and for no other that may have taken its place. */
async function isOf(db: Database, { entryId, attempt }: Answer, writer: string): Promise<boolean> {
  const { rows } = await sql`
    select from ledger.attempts a where a.entry_id = ${entryId}::bigint and a.attempt = ${attempt} and a.owner::text = ${writer}`.execute(
    db,
  );
  return rows.length > 0;
}

function spoolFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ENDING))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

type SpoolFile = {
  readonly answers: { readonly answer: Answer; readonly line: string }[];
  readonly unreadable: string[];
};

function readAnswers(path: string): SpoolFile {
  // What follows the last line break was cut by a crash, and its answer not acknowledged.
  const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const file: SpoolFile = { answers: [], unreadable: [] };
  for (const line of whole) {
    const answer = parseAnswer(line);
    if (answer === null) file.unreadable.push(line);
    else file.answers.push({ answer, line });
  }
  return file;
}

const OUTCOMES: readonly unknown[] = ['accepted', 'rejected', 'not_written', 'throttled', 'in_doubt'];

/** A file that a disk or a person damaged may hold anything. */
function parseAnswer(line: string): Answer | null {
  try {
    const answer = JSON.parse(line) as Answer;
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

function setAside(folder: string, { name, lines }: { name: string; lines: readonly string[] }): void {
  const aside = join(folder, ASIDE);
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  writeFileSync(join(aside, name), `${lines.join('\n')}\n`, { flag: 'a', mode: 0o600 });
}

async function isAlive(db: Database, owner: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ops.leases where owner::text = ${owner} and expires_at > clock_timestamp() limit 1`.execute(
    db,
  );
  return rows.length > 0;
}
