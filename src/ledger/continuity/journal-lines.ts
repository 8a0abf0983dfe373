import type { Claim, Outcome } from '../../model/ledger.ts';

/**
 * The journal: what a process did outside of the database, one file a process, one JSON object a line. It is what a ledger that lost commits
 * is compared with, and what tells a doubt that was sent from one that never was.
 *
 *     {"journal":1,"ledger":…,"account":…,"owner":…,"boot":…,"file":…,"host":…,"pid":…,"at":…}   the head
 *     {"claim":17,"id":…,"entry":"5","attempt":1,"key":…,…}   after the claim's commit, before the first byte of its request
 *     {"writing":17}                                         just before the first byte
 *     {"answer":17,"outcome":{…}}                            when its answer is known
 *     {"closed":true,"last":{…}}                             the process ended in order; its last claim once more
 *
 * No line is fsynced: what a process wrote survives its death, and only a power cut can take the newest lines, which then know less than
 * the database. No order id, no address and no key is in it.
 */
export const JOURNAL_VERSION = 1;

export type JournalHead = {
  readonly journal: number;
  readonly ledger: string;
  readonly account: string;
  /** The process, as its leases name it. */
  readonly owner: string;
  /** The kernel's boot; null where the system does not tell. */
  readonly boot: string | null;
  /** The file itself (device, inode, birth): a copy, for example one that was restored, is another file. */
  readonly file: string;
  readonly host: string;
  readonly pid: number;
  /** ISO 8601, by this machine's clock. */
  readonly at: string;
};

/** Where a claim stands in the database that made it. */
export type ClaimPlace = {
  readonly claim: Claim;
  readonly entryId: string;
  readonly attempt: number;
};

export type JournalledClaim = ClaimPlace & {
  /** By this machine's clock. */
  readonly at: Date;
  /** The first byte may have been written. */
  readonly isWriting: boolean;
  /** Null when none is known. */
  readonly outcome: Outcome | null;
};

type ClaimLine = {
  readonly claim: number;
  readonly id: string;
  readonly entry: string;
  readonly attempt: number;
  readonly effect: Claim['effect'];
  readonly key: string;
  readonly body: string;
  readonly amount: string | null;
  readonly currency: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
};

export function claimLine({ claim, entryId, attempt }: ClaimPlace, at: number): string {
  const { claimNo, claimId, effect, keyHash, bodyHash, amount, currency } = claim;
  const line: ClaimLine = {
    claim: claimNo,
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
  return `${JSON.stringify(line)}\n`;
}

export function writingLine(claimNo: number): string {
  return `{"writing":${claimNo}}\n`;
}

export function answerLine(claimNo: number, outcome: Outcome): string {
  return `${JSON.stringify({ answer: claimNo, outcome })}\n`;
}

export function closedLine(last: ClaimPlace | null): string {
  return `${JSON.stringify({ closed: true, last })}\n`;
}

/** What a journal says as a whole, beside the claims that were answered. */
export type JournalSummary = {
  readonly head: JournalHead;
  /** Its newest claim; null when it has none. */
  readonly last: ClaimPlace | null;
  /** Claims without an answer. */
  readonly open: readonly JournalledClaim[];
  /** Its process ended in order. */
  readonly isClosed: boolean;
  /** A line that is not the last cannot be read, so what is missing proves nothing. A last line that a crash cut was never acted upon. */
  readonly isDamaged: boolean;
};

/** Claims that are handed on at a time. */
const BATCH = 2_000;

/**
 * Reads the lines of one journal. Its size does not matter: what is answered is handed on in batches, and only what is open is kept.
 *
 * @param onAnswered is given claims whose answer is known, in the order of the answers.
 * @returns null when not even its head can be read: then it says nothing.
 */
export async function readJournal(
  lines: AsyncIterable<string>,
  onAnswered: (claims: readonly JournalledClaim[]) => Promise<void>,
): Promise<JournalSummary | null> {
  let head: JournalHead | null = null;
  let last: ClaimPlace | null = null;
  let isClosed = false;
  let isDamaged = false;
  let unreadable = false;
  const open = new Map<number, JournalledClaim>();
  const answered: JournalledClaim[] = [];
  for await (const text of lines) {
    if (head === null) {
      head = parseHead(text);
      if (head === null) return null;
      continue;
    }
    // Only a line after which others come is damage.
    if (unreadable) isDamaged = true;
    const line = parseLine<Line>(text);
    unreadable = line === null;
    if (line === null) continue;
    if (line.claim !== undefined) {
      const claim = toClaim(head, line as ClaimLine);
      open.set(claim.claim.claimNo, claim);
      last = claim;
    } else if (line.closed === true) isClosed = true;
    else {
      const number = line.writing ?? line.answer ?? Number.NaN;
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
  return { head, last, open: [...open.values()], isClosed, isDamaged };
}

type Line = Partial<ClaimLine> & {
  readonly writing?: number;
  readonly answer?: number;
  readonly outcome?: Outcome;
  readonly closed?: boolean;
};

function parseHead(text: string): JournalHead | null {
  const head = parseLine<JournalHead>(text);
  return head?.journal === JOURNAL_VERSION && typeof head.ledger === 'string' ? head : null;
}

function toClaim(head: JournalHead, line: ClaimLine): JournalledClaim {
  return {
    claim: {
      ledgerId: head.ledger,
      claimNo: line.claim,
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
