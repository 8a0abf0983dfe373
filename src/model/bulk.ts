import type { ClaimSum } from './ledger.ts';
import { formatAmounts } from './money.ts';

/** What can be decided about many entries at once. */
export type BulkDecision = (typeof BULK_DECISIONS)[number];
export const BULK_DECISIONS = ['accepted', 'write_off', 'resend'] as const;

/** `preview` has changed nothing; `expired` never will. */
export type BulkState = 'preview' | 'running' | 'finished' | 'aborted' | 'expired';

/** What became of an entry; null: it waits. The last three are known when it is frozen, and such an entry is left out. */
export type BulkOutcome = (typeof BULK_OUTCOMES)[number];
export const BULK_OUTCOMES = [
  'settled',
  'changed',
  'failed',
  'not_in_doubt',
  'deal_unknown',
  'has_evidence',
] as const;

/** One decision about many entries, as it was frozen. */
export type Bulk = {
  readonly bulkId: string;
  /** A preview whose time is over counts as expired at once. */
  readonly state: BulkState;
  readonly decision: BulkDecision;
  /** With `accepted`: of entries that name none themselves. */
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Which entries were chosen, in a sentence. */
  readonly chosen: string;
  readonly reason: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Entries that can be settled. */
  readonly entries: number;
  readonly ineligible: number;
  /** Of the entries that can be settled. */
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
  const count = `${entries.toLocaleString('en')} ${entries === 1 ? 'entry' : 'entries'}`;
  const what = {
    accepted: `Accept ${count} as credited`,
    write_off: `Write off ${count}`,
    resend: `Send ${count} again`,
  }[decision];
  const money = formatAmounts(amounts);
  return money === '' ? what : `${what}: ${money}`;
}
