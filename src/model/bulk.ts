import type { ClaimSum } from './ledger.ts';
import { formatAmounts } from './money.ts';

/** What can be decided about many doubts at once. */
export const DOUBT_DECISIONS = ['accepted', 'write_off', 'resend'] as const;
export type DoubtDecision = (typeof DOUBT_DECISIONS)[number];

/** What can be decided about many files at once. */
export const FILE_DECISIONS = ['release', 'reread'] as const;
export type FileDecision = (typeof FILE_DECISIONS)[number];

/** `acknowledge`: of double credits. */
export type BulkDecision = DoubtDecision | FileDecision | 'acknowledge';

/** What each of them is: an entry of the ledger, or a file. */
export function isAboutFiles(decision: BulkDecision): decision is FileDecision {
  return decision === 'release' || decision === 'reread';
}

/** `preview` has changed nothing; `expired` never will. */
export type BulkState = 'preview' | 'running' | 'finished' | 'aborted' | 'expired';

/** What became of an entry or a file; null: it waits. Those after the third are known when it is frozen, and such a one is left out. */
export type BulkOutcome = (typeof BULK_OUTCOMES)[number];
export const BULK_OUTCOMES = [
  'settled',
  'changed',
  'failed',
  'not_in_doubt',
  'deal_unknown',
  'has_evidence',
  'not_credited_twice',
  'not_held',
  'being_read',
] as const;

/** One decision about many entries or files, as it was frozen. */
export type Bulk = {
  readonly bulkId: string;
  /** A preview whose time is over counts as expired at once. */
  readonly state: BulkState;
  readonly decision: BulkDecision;
  /** With `accepted`: of entries that name none themselves. */
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Which were chosen, in a sentence. */
  readonly chosen: string;
  /** Where it was made. */
  readonly via: 'console' | 'command';
  readonly reason: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Entries or files that can be settled. */
  readonly entries: number;
  readonly ineligible: number;
  /** Of those that can be settled; of double credits what is too much. */
  readonly amounts: readonly ClaimSum[];
  readonly confirmedBy: string | null;
  readonly confirmedAt: Date | null;
  readonly abortedBy: string | null;
  readonly abortedAt: Date | null;
  readonly endedAt: Date | null;
};

/** What it does, for a button and for the audit: `Write off 212 entries: 1,204.50 EUR, 310.00 USD`. */
export function describeBulk({
  decision,
  entries,
  amounts,
}: Pick<Bulk, 'decision' | 'entries' | 'amounts'>): string {
  const count = countOf(decision, entries);
  const what = {
    accepted: `Accept ${count} as credited`,
    write_off: `Write off ${count}`,
    resend: `Send ${count} again`,
    acknowledge: `Acknowledge the double credit of ${count}`,
    release: `Release ${count}`,
    reread: `Read ${count} again`,
  }[decision];
  const money = formatAmounts(amounts);
  const isTooMuch = decision === 'acknowledge' ? ' too much' : '';
  return money === '' ? what : `${what}: ${money}${isTooMuch}`;
}

/** `212 entries`, `1 file`. */
export function countOf(decision: BulkDecision, count: number): string {
  const [one, many] = isAboutFiles(decision) ? ['file', 'files'] : ['entry', 'entries'];
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** What has become of one that was settled. */
export const SETTLED_WORDS: Readonly<Record<BulkDecision, string>> = {
  accepted: 'accepted as credited',
  write_off: 'written off',
  resend: 'to be sent again by the next run',
  acknowledge: 'acknowledged',
  release: 'released',
  reread: 'to be read again by the next run',
};

/** Why one was not settled. */
export const LEFT_WORDS: Readonly<Record<Exclude<BulkOutcome, 'settled'>, string>> = {
  changed: 'not changed: it has changed since the preview',
  failed: 'failed: the log of the process says why',
  not_in_doubt: 'left out: somebody has settled it, or it was sent again',
  deal_unknown: 'left out: it is unknown which deal was credited. Enter the deal, or settle the entry alone',
  has_evidence: 'left out: there is evidence that the service has it. Settle it on its own page',
  not_credited_twice: 'left out: it is not credited more than once, or somebody has acknowledged it',
  not_held: 'left out: it is no longer held',
  being_read: 'left out: it is being read, or a later reading has replaced it',
};
