import type { WriteAudit } from '../../audit/record-audit.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { effects } from '../../effects/index.ts';
import { reapLost } from '../../ledger/reap.ts';
import {
  acceptDoubt,
  acknowledgeDoubleCredit,
  approveResend,
  type Resolved,
  type ShownEntry,
  writeOffDoubt,
} from '../../ledger/resolve.ts';
import type { EntryState } from '../../model/ledger.ts';
import { type DealOfHandle, dealsOfHandle, findEntry, type OpenEntry } from '../../report/list-doubts.ts';

/** What a person can say about an entry: it was credited, give it up, send it again, its double credit is corrected. */
export const DECISIONS = ['accepted', 'write_off', 'resend', 'acknowledge'] as const;
export type Decision = (typeof DECISIONS)[number];

export type Settlement = {
  readonly entryId: string;
  readonly decision: Decision;
  /** Why, in the words of the person. Not blank. */
  readonly reason: string;
  readonly decidedBy: string;
  /** With `accepted`: what was credited. Left out, it is what the entry or its evidence names. */
  readonly dealId?: string | null | undefined;
  readonly collabId?: string | null | undefined;
  /** What the person saw. An entry that has changed since is left alone. */
  readonly shown?: ShownEntry | undefined;
  /** Of a double credit: how many credits the person saw. */
  readonly shownCredits?: number | undefined;
  /** Writes the audit record, in the same transaction. @returns its id. */
  readonly audit: WriteAudit;
  /** The action on many that this one belongs to. */
  readonly bulkId?: string | undefined;
};

export type Settled =
  | { readonly kind: 'settled'; readonly state: EntryState; readonly job: string; readonly auditId: string }
  | { readonly kind: 'unknown_entry' }
  /** Nothing was changed: the entry is not in a state to which the decision applies, or not as it was shown. */
  | { readonly kind: 'does_not_apply'; readonly state: EntryState }
  | { readonly kind: 'not_credited_twice' }
  /** Nothing says which deal was credited. The mirror may know the deals of the handle. */
  | {
      readonly kind: 'deal_unknown';
      readonly handle: string | null;
      readonly deals: readonly DealOfHandle[];
    };

/**
 * Settles one doubt as a person says, and writes down who did. Commands and the console settle through here. Afterwards, and outside of
 * this transaction, `refreshReporting` of the job brings the reports up to date.
 */
export async function settleDoubt(trx: DatabaseTransaction, settlement: Settlement): Promise<Settled> {
  const { entryId, decision } = settlement;
  // An entry of a process that is gone is in doubt, whether or not a run has come by since. For one of many this was done when they were frozen.
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
  const auditId = await settlement.audit({
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
  return { kind: 'settled', state, job: before.job, auditId };
}

/** What the entry or its evidence says was credited; null where neither does. */
export function knownDeal({ dealId, evidence }: Pick<OpenEntry, 'dealId' | 'evidence'>): string | null {
  return dealId ?? evidence.find((one) => one.dealId !== null)?.dealId ?? null;
}

/** Whether somebody who accepts the entry must name the deal or the collaboration first. */
export function lacksDeal(
  { effect }: Pick<OpenEntry, 'effect'>,
  { dealId, collabId }: { readonly dealId: string | null; readonly collabId: string | null },
): boolean {
  return effects[effect].namesDeal && dealId === null && collabId === null;
}

/** What a decision has done, in a sentence. */
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
      return acceptDoubt(trx, { ...resolution, dealId, collabId });
    case 'write_off':
      return writeOffDoubt(trx, resolution);
    case 'resend':
      return approveResend(trx, resolution);
    case 'acknowledge':
      return acknowledgeDoubleCredit(trx, { entryId, reason, decidedBy, credits: shownCredits });
  }
}
