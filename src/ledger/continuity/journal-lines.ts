import { crc32 } from 'node:zlib';
import { configurationError } from '../../core/known-error.ts';
import type { Claim, Outcome } from '../../core/ledger.ts';

/**
 * The journal records what a process did, outside the database: one file for each process, one JSON object on each line.
 * It shows which claims a database has lost, and which requests in doubt were never begun.
 *
 *     {"journal":1,"ledger":…,"account":…,"owner":…,"boot":…,"file":…,"host":…,"pid":…,"at":…}   the head
 *     {"claim":17,"id":…,"entry":"5","attempt":1,"key":…,…}   after the claim's commit, before the first byte of its request
 *     {"writing":17}                                         just before the first byte
 *     {"answer":17,"outcome":{…}}                            when the answer is known
 *     {"closed":true,"last":{…}}                             the process ended normally; repeats its last claim
 *
 * Each line ends with its number. The first line of each write also has the CRC-32 of the lines between the head and it
 * (`"n":3,"sum":1830210547`), and so has line-count.ts of all lines. So a gap, a cut in the midst and a replaced part are
 * seen. Journals of 0.2.0 have neither; 0.2.1 has a sum on each line, and takes a journal with fewer for damaged.
 *
 * Lines are not fsynced. They survive the death of the process, but not a power cut or a file system that was
 * forcibly shut down: it may lose the newest lines, and the journal then knows less than the database (whole-journal.ts).
 * The journal contains no order id, no address and no API key.
 */
export const JOURNAL_VERSION = 1;

export type JournalHead = {
  readonly journal: number;
  readonly ledger: string;
  readonly account: string;
  /** Id of the process in `ops.leases`. */
  readonly owner: string;
  /** Id of the kernel's boot; null if the system does not report it. */
  readonly boot: string | null;
  /**
   * Identity of the file (device, inode, time of birth). It tells the original from a copy, for example a
   * restored one.
   */
  readonly file: string;
  readonly host: string;
  readonly pid: number;
  /** ISO 8601, by the clock of this machine. */
  readonly at: string;
};

/** How far a journal reaches: the number of its lines, and the CRC-32 of those after its head. */
export type JournalEnd = { readonly lines: number; readonly sum: number };

const BEGINNING: JournalEnd = { lines: 0, sum: 0 };

/**
 * Makes the bytes of one write: gives each line its number, and the first one the checksum of the lines before it. The
 * checksum is computed once a write, since each line of a busy process would cost a percent of posting.
 *
 * @param end of the journal so far. Omit it if the first line is the head.
 */
export function chainLines(
  lines: readonly string[],
  end: JournalEnd = BEGINNING,
): { readonly bytes: Buffer; readonly end: JournalEnd } {
  let number = end.lines;
  let text = '';
  for (const line of lines) {
    const sum = text === '' ? `,"sum":${end.sum}` : '';
    number += 1;
    text += `${line.slice(0, -1)},"n":${number}${sum}}\n`;
  }
  const bytes = Buffer.from(text);
  // The checksum begins after the head.
  return { bytes, end: { lines: number, sum: end.lines === 0 ? end.sum : crc32(bytes, end.sum) } };
}

/** The identity and the position of a claim in the database that made it. */
export type ClaimedAttempt = { readonly claim: Claim; readonly entryId: string; readonly attempt: number };

export type JournalledClaim = ClaimedAttempt & {
  /** By the clock of the machine that made the claim. */
  readonly at: Date;
  /** True if the first byte of the request may have been written. */
  readonly isWriting: boolean;
  /** Null if no outcome is known. */
  readonly outcome: Outcome | null;
};

/**
 * How a line writes the number of a claim: as a number, which earlier versions read too, and as text where a number would
 * round it.
 */
type ClaimNumeral = number | string;

function numeralOf(claimNo: string): ClaimNumeral {
  const number = Number(claimNo);
  return Number.isSafeInteger(number) ? number : claimNo;
}

const LARGEST_BIGINT = 2n ** 63n - 1n;
const LARGEST_INTEGER = 2 ** 31 - 1;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** True for the digits of a bigint, also as a number that rounds nothing. */
function isBigint(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  return typeof value === 'string' && /^\d{1,19}$/.test(value) && BigInt(value) <= LARGEST_BIGINT;
}

/** False for a claim that no ledger can have made: its line is damaged, and a database could not look it up. */
function isPossible({ claim, id, entry, attempt }: Readonly<Record<string, unknown>>): boolean {
  return (
    isBigint(claim) &&
    isBigint(entry) &&
    isBigint(attempt) &&
    Number(attempt) <= LARGEST_INTEGER &&
    UUID.test(String(id))
  );
}

type ClaimLine = {
  readonly claim: ClaimNumeral;
  readonly id: string;
  readonly entry: string;
  readonly attempt: number;
  readonly effect: Claim['effect'];
  readonly key: string;
  readonly body: string;
  readonly amount: string | null;
  readonly currency: string | null;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly at: number;
};

export function claimLine({ claim, entryId, attempt }: ClaimedAttempt, at: number): string {
  const { claimNo, claimId, effect, keyHash, bodyHash, amount, currency } = claim;
  const line: ClaimLine = {
    claim: numeralOf(claimNo),
    id: claimId,
    entry: entryId,
    attempt,
    effect,
    key: keyHash,
    body: bodyHash,
    amount,
    currency,
    at,
  };
  return JSON.stringify(line);
}

export function writingLine(claimNo: string): string {
  return `{"writing":${JSON.stringify(numeralOf(claimNo))}}`;
}

export function answerLine(claimNo: string, outcome: Outcome): string {
  return JSON.stringify({ answer: numeralOf(claimNo), outcome });
}

export function closedLine(last: ClaimedAttempt | null): string {
  const written =
    last === null ? null : { ...last, claim: { ...last.claim, claimNo: numeralOf(last.claim.claimNo) } };
  return JSON.stringify({ closed: true, last: written });
}

/** Reads the last line of a closed journal. @returns null if it is another line. */
export function parseClosedLine(text: string): { readonly last: ClaimedAttempt | null } | null {
  const line = parseLine<{ readonly closed?: boolean; readonly last?: ClaimedAttempt | null }>(text);
  if (line?.closed !== true) return null;
  const { last = null } = line;
  if (last === null) return { last };
  const { claim, entryId: entry, attempt } = last;
  if (!isPossible({ claim: claim.claimNo, id: claim.claimId, entry, attempt })) return null;
  return { last: { ...last, claim: { ...last.claim, claimNo: String(last.claim.claimNo) } } };
}

/** The contents of a journal, except the answered claims. */
export type JournalSummary = {
  readonly head: JournalHead;
  /** Its newest claim; null if it has no claims. */
  readonly last: ClaimedAttempt | null;
  /** Claims without an answer. */
  readonly open: readonly JournalledClaim[];
  /** True if its process ended normally. */
  readonly isClosed: boolean;
  /**
   * True if a line other than the last one cannot be read, names an unknown claim, or does not follow the line
   * before it. A missing line then proves nothing.
   */
  readonly isDamaged: boolean;
  /** Undefined for a journal of version 0.2, whose lines have no numbers. */
  readonly end?: JournalEnd;
};

/** Maximum number of claims passed on at a time. */
const BATCH = 2_000;

/**
 * Reads the lines of one journal. Memory use does not depend on its size: answered claims are passed on in
 * batches, and only open claims are kept.
 *
 * @param onAnswered receives the claims whose answer is known, in the order of the answers.
 * @returns null if the head cannot be read: the journal then contains no usable information.
 * @throws KnownError `journal_of_later_version`.
 */
export async function readJournal(
  lines: AsyncIterable<string>,
  onAnswered: (claims: readonly JournalledClaim[]) => Promise<void>,
): Promise<JournalSummary | null> {
  let head: JournalHead | null = null;
  let last: ClaimedAttempt | null = null;
  let isClosed = false;
  let isDamaged = false;
  let unreadable = false;
  let end: JournalEnd | null = null;
  const open = new Map<string, JournalledClaim>();
  const answered: JournalledClaim[] = [];
  for await (const text of lines) {
    if (head === null) {
      head = parseHead(text);
      if (head === null) return null;
      if ('n' in head) end = { ...BEGINNING, lines: 1 };
      continue;
    }
    // An unreadable line is damage only if another line follows it.
    if (unreadable) isDamaged = true;
    const line = parseLine<Line>(text);
    unreadable = line === null;
    if (line === null) continue;
    if (end !== null) {
      if (line.n !== end.lines + 1 || (line.sum ?? end.sum) !== end.sum) isDamaged = true;
      end = { lines: end.lines + 1, sum: crc32(`${text}\n`, end.sum) };
    }
    if (line.claim !== undefined && !isPossible(line)) isDamaged = true;
    else if (line.claim !== undefined) {
      const claim = toClaim(head, line as ClaimLine);
      open.set(claim.claim.claimNo, claim);
      last = claim;
    } else if (line.closed === true) isClosed = true;
    else {
      const number = String(line.writing ?? line.answer);
      const claim = open.get(number);
      if (claim === undefined) isDamaged = true;
      else if (line.outcome === undefined) open.set(number, { ...claim, isWriting: true });
      else {
        open.delete(number);
        answered.push({ ...claim, outcome: line.outcome });
        if (answered.length >= BATCH) await onAnswered(answered.splice(0));
      }
    }
  }
  if (answered.length > 0) await onAnswered(answered);
  if (head === null) return null;
  return { head, last, open: [...open.values()], isClosed, isDamaged, ...(end === null ? {} : { end }) };
}

type Line = Partial<ClaimLine> & {
  readonly n?: number;
  readonly sum?: number;
  readonly writing?: ClaimNumeral;
  readonly answer?: ClaimNumeral;
  readonly outcome?: Outcome;
  readonly closed?: boolean;
};

/**
 * Reads the first line of a journal. @returns null if it is not a head.
 * @throws KnownError `journal_of_later_version`: the journal may describe claims in a way that this version does not know.
 */
export function parseHead(text: string): JournalHead | null {
  const head = parseLine<JournalHead>(text);
  if (typeof head?.journal !== 'number' || typeof head.ledger !== 'string') return null;
  if (head.journal !== JOURNAL_VERSION)
    throw configurationError({
      code: 'journal_of_later_version',
      message: `Process ${head.pid} on ${head.host} wrote a journal of the ledger at ${head.at} with a later version of influencer-sync: it has format ${head.journal}, and this version reads format ${JOURNAL_VERSION}.`,
      help: 'Install that version here too. This one cannot tell which orders the journal says were sent.',
      safe: 'Nothing was read or sent.',
    });
  return head;
}

function toClaim(head: JournalHead, line: ClaimLine): JournalledClaim {
  return {
    claim: {
      ledgerId: head.ledger,
      claimNo: String(line.claim),
      claimId: line.id,
      accountId: head.account,
      effect: line.effect,
      keyHash: line.key,
      bodyHash: line.body,
      amount: line.amount,
      currency: line.currency,
    },
    entryId: line.entry,
    attempt: line.attempt,
    at: new Date(line.at),
    isWriting: false,
    outcome: null,
  };
}

function parseLine<Of>(text: string): Of | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Of) : null;
  } catch {
    return null;
  }
}
