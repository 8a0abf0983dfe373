import type { EntryState } from '../core/ledger.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { effects } from '../ledger/effects/index.ts';
import { reapLost } from '../ledger/reap.ts';
import { acknowledgeDoubleCredit, decideEntry, type Resolved, type ShownEntry } from '../ledger/resolve.ts';
import type { DecidedWhy } from '../ops/record-audit.ts';
import {
  type DealOfHandle,
  dealsOfHandle,
  findEntry,
  type OpenEntry,
} from '../reports/doubts/list-doubts.ts';

/**
 * What a person can decide about an entry: it was credited, write it off, send it again, or its double credit
 * was corrected.
 */
export const DECISIONS = ['accepted', 'write_off', 'resend', 'acknowledge'] as const;
export type Decision = (typeof DECISIONS)[number];

export type Settlement = DecidedWhy & {
  readonly entryId: string;
  readonly decision: Decision;
  /**
   * For `accepted`: the deal that was credited. Defaults to the deal that the entry or its evidence names.
   */
  readonly dealId?: string | null | undefined;
  readonly collabId?: string | null | undefined;
  /** The state that the person saw. An entry that has changed since is not settled. */
  readonly shown?: ShownEntry | undefined;
  /** For a double credit: the number of credits that the person saw. */
  readonly shownCredits?: number | undefined;
  /** The bulk action that this settlement is part of. */
  readonly bulkId?: string | undefined;
};

export type Settled =
  | { readonly kind: 'settled'; readonly state: EntryState; readonly job: string }
  | { readonly kind: 'unknown_entry' }
  /**
   * Nothing was changed: the decision does not apply to the entry's state, or the entry differs from what was
   * shown.
   */
  | { readonly kind: 'does_not_apply'; readonly state: EntryState }
  | { readonly kind: 'not_credited_twice' }
  /**
   * Neither the entry nor its evidence names the credited deal. `deals` lists the deals of the handle that
   * the mirror knows.
   */
  | {
      readonly kind: 'deal_unknown';
      readonly handle: string | null;
      readonly deals: readonly DealOfHandle[];
    };

/**
 * Settles one doubt as a person has decided, and records who decided. Commands and the console both call this
 * function. After this transaction has committed, the caller must call `refreshReporting` for the job.
 */
export async function settleDoubt(trx: DatabaseTransaction, settlement: Settlement): Promise<Settled> {
  const { entryId, decision } = settlement;
  // Marks entries of dead processes as in doubt, because no run may have done so yet. For a bulk action this
  // happened when its entries were frozen.
  if (settlement.bulkId === undefined) await reapLost(trx);
  const before = await findEntry(trx, entryId);
  if (before === null)
    return decision === 'acknowledge' ? { kind: 'not_credited_twice' } : { kind: 'unknown_entry' };
  const dealId = settlement.dealId ?? knownDeal(before);
  const collabId = settlement.collabId ?? before.collabId;
  if (decision === 'accepted' && before.state === 'in_doubt' && lacksDeal(before, { dealId, collabId }))
    return {
      kind: 'deal_unknown',
      handle: before.influencerHandle,
      deals: before.influencerHandle === null ? [] : await dealsOfHandle(trx, before.influencerHandle),
    };
  const resolved = await resolve(trx, { ...settlement, dealId, collabId });
  const { state } = resolved;
  if (!resolved.done || state === null)
    return decision === 'acknowledge'
      ? { kind: 'not_credited_twice' }
      : { kind: 'does_not_apply', state: state ?? before.state };
  await settlement.audit({
    action: decision === 'acknowledge' ? 'acknowledge_double_credit' : 'settle_doubt',
    subjectKind: 'entry',
    subject: entryId,
    summary: describeSettled({ entryId, decision, state }),
    reason: settlement.reason,
    before: {
      state: before.state,
      attempt: before.attempt,
      amount: before.amount,
      currency: before.currency,
    },
    after: { state, ...(decision === 'accepted' ? { deal_id: dealId, collab_id: collabId } : {}) },
    bulkId: settlement.bulkId ?? null,
  });
  return { kind: 'settled', state, job: before.job };
}

/** The deal that the entry or its evidence names. Null if neither names one. */
export function knownDeal({ dealId, evidence }: Pick<OpenEntry, 'dealId' | 'evidence'>): string | null {
  return dealId ?? evidence.find((one) => one.dealId !== null)?.dealId ?? null;
}

/** Returns true if a person who accepts the entry must name the deal or the collaboration first. */
export function lacksDeal(
  { effect }: Pick<OpenEntry, 'effect'>,
  { dealId, collabId }: { dealId: string | null; collabId: string | null },
): boolean {
  return effects[effect].namesDeal && dealId === null && collabId === null;
}

/** Describes the result of a decision in a sentence. */
export function describeSettled({
  entryId,
  decision,
  state,
}: Pick<Settlement, 'entryId' | 'decision'> & { readonly state: EntryState }): string {
  if (decision === 'acknowledge') return `The double credit of entry ${entryId} is acknowledged.`;
  return `Entry ${entryId} is ${WORDS[state] ?? state} now.`;
}

const WORDS: Readonly<Partial<Record<EntryState, string>>> = {
  written_off: 'written off',
  ready: 'ready: the next run sends it again',
};

type Named = Settlement & { readonly dealId: string | null; readonly collabId: string | null };

function resolve(trx: DatabaseTransaction, settlement: Named): Promise<Resolved> {
  const { decision, entryId, reason, decidedBy, shown, shownCredits, dealId, collabId } = settlement;
  const resolution = { entryId, reason, decidedBy, shown };
  switch (decision) {
    case 'accepted':
      return decideEntry(trx, { ...resolution, decision: 'accept', dealId, collabId });
    case 'write_off':
    case 'resend':
      return decideEntry(trx, { ...resolution, decision });
    case 'acknowledge':
      return acknowledgeDoubleCredit(trx, { entryId, reason, decidedBy, credits: shownCredits });
  }
}
