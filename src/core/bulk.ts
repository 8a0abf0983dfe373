import type { ClaimSum } from './ledger.ts';
import { formatAmounts } from './money.ts';
import { plural } from './text/plural.ts';

/** Decisions that can be made about many doubts at once. */
export const DOUBT_DECISIONS = ['accepted', 'write_off', 'resend'] as const;
export type DoubtDecision = (typeof DOUBT_DECISIONS)[number];

/** Decisions that can be made about many files at once. */
export const FILE_DECISIONS = ['release', 'reread'] as const;
export type FileDecision = (typeof FILE_DECISIONS)[number];

/** `acknowledge` is about double credits. */
export type BulkDecision = DoubtDecision | FileDecision | 'acknowledge';

/** True if the decision is about files and not about entries of the ledger. */
export function isAboutFiles(decision: BulkDecision): decision is FileDecision {
  return decision === 'release' || decision === 'reread';
}

/** `preview` has changed nothing yet. `expired` has changed nothing and never will. */
export type BulkState = 'preview' | 'running' | 'finished' | 'aborted' | 'expired';

/**
 * Result for an entry or a file; null while it waits. `settled`, `changed` and `failed` are results of the
 * execution. The others are found when the action is frozen: the entry or file is left out.
 */
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

/** One decision about many entries or files, as it was frozen in the preview. */
export type Bulk = {
  readonly bulkId: string;
  /** A preview counts as expired as soon as its time is over. */
  readonly state: BulkState;
  readonly decision: BulkDecision;
  /** With `accepted`: the deal for entries that name none themselves. */
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Describes the selection in a sentence. */
  readonly chosen: string;
  /** Where the action was created. */
  readonly via: 'console' | 'command';
  readonly reason: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Number of entries or files that can be settled. */
  readonly entries: number;
  readonly ineligible: number;
  /** Amounts of the entries that can be settled; for double credits, the excess amounts. */
  readonly amounts: readonly ClaimSum[];
  readonly confirmedBy: string | null;
  readonly confirmedAt: Date | null;
  readonly abortedBy: string | null;
  readonly abortedAt: Date | null;
  readonly endedAt: Date | null;
};

/** Describes the action for a button and for the audit: `Write off 212 entries: 1,204.50 EUR, 310.00 USD`. */
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
    release: `Discard the rows of ${count}`,
    reread: `Read ${count} again`,
  }[decision];
  const money = formatAmounts(amounts);
  const isTooMuch = decision === 'acknowledge' ? ' too much' : '';
  return money === '' ? what : `${what}: ${money}${isTooMuch}`;
}

/** Formats a count: `212 entries`, `1 file`. */
export function countOf(decision: BulkDecision, count: number): string {
  return isAboutFiles(decision) ? plural(count, 'file') : plural(count, 'entry', 'entries');
}

/** Describes what happened to an entry or a file that was settled. */
export const SETTLED_WORDS: Readonly<Record<BulkDecision, string>> = {
  accepted: 'accepted as credited',
  write_off: 'written off',
  resend: 'to be sent again by the next run',
  acknowledge: 'acknowledged',
  release: 'discarded',
  reread: 'to be read again by the next run',
};

/** Describes why an entry or a file was not settled. */
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
