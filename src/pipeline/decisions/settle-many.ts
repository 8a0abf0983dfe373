import type { AuditRecord } from '../../audit/record-audit.ts';
import { abortBulk, confirmBulk } from '../../bulk/carry-out-bulk.ts';
import { freezeBulk } from '../../bulk/freeze-bulk.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { effects } from '../../effects/index.ts';
import { reapLost } from '../../ledger/reap.ts';
import { type Bulk, describeBulk } from '../../model/bulk.ts';
import { findBulk } from '../../report/console/read-bulk.ts';
import { type DoubtFilter, selectToSettle } from '../../report/list-doubts.ts';

/*
 * One decision about many entries. Three steps, so that nobody settles more than they have seen: a preview freezes the entries and what they
 * are, a person confirms exactly that preview, and run-bulks.ts carries it out entry by entry, each by `settleDoubt` with what was frozen.
 */

/** Enough for a night and somebody else's opinion. Later, what was frozen says little about how things are. */
const PREVIEW_VALID_MS = 24 * 3_600_000;

type Deciding = {
  readonly actor: string;
  /** Why, in the words of the person. Not blank. */
  readonly reason: string;
  /** Writes the audit record, in the same transaction. @returns its id. */
  readonly audit: (record: Omit<AuditRecord, 'actor' | 'via'>) => Promise<string>;
};

export type ManyToSettle = Deciding &
  Pick<Bulk, 'decision' | 'dealId' | 'collabId'> & {
    /** A filter without relative times, or entries that were picked. */
    readonly entries: DoubtFilter | { readonly entryIds: readonly string[] };
    /** What was chosen, in a sentence. */
    readonly chosen: string;
  };

/** Freezes what a decision would be applied to. @returns null where that is no entry at all. */
export async function previewSettlement(
  trx: DatabaseTransaction,
  { entries, decision, dealId, collabId, chosen, actor, reason, audit }: ManyToSettle,
): Promise<{ readonly bulkId: string; readonly auditId: string } | null> {
  // An entry of a process that is gone is in doubt, whether or not a run has come by since.
  await reapLost(trx);
  const filter = 'entryIds' in entries ? null : entries;
  const frozen = await freezeBulk(trx, {
    decision,
    dealId,
    collabId,
    chosen,
    filter,
    reason,
    createdBy: actor,
    chosenEntries: selectToSettle(entries),
    effectsThatNameDeals: Object.values(effects).flatMap(({ effect, namesDeal }) =>
      namesDeal ? [effect] : [],
    ),
    validMs: PREVIEW_VALID_MS,
  });
  const { bulkId } = frozen;
  if (frozen.entries + frozen.ineligible === 0) return null;
  const auditId = await audit({
    action: 'preview_bulk',
    subjectKind: 'bulk',
    subject: bulkId,
    summary: `Bulk action ${bulkId} is previewed. Nothing is changed yet.`,
    reason,
    filter,
    after: {
      chosen,
      decision,
      entries: frozen.entries,
      ineligible: frozen.ineligible,
      amounts: frozen.amounts,
    },
  });
  return { bulkId, auditId };
}

export type BulkChange =
  | { readonly kind: 'changed'; readonly auditId: string }
  | { readonly kind: 'unknown' }
  /** Nothing was changed: it is in another state. */
  | { readonly kind: 'does_not_apply'; readonly bulk: Bulk };

type BulkToChange = Deciding & { readonly bulkId: string };

/** Begins to carry out a preview, once and as it was frozen. */
export async function confirmSettlement(
  trx: DatabaseTransaction,
  { bulkId, actor, reason, audit }: BulkToChange,
): Promise<BulkChange> {
  const isConfirmed = await confirmBulk(trx, { bulkId, confirmedBy: actor, reason });
  const bulk = await findBulk(trx, bulkId);
  if (bulk === null) return { kind: 'unknown' };
  if (!isConfirmed) return { kind: 'does_not_apply', bulk };
  const auditId = await audit({
    action: 'confirm_bulk',
    subjectKind: 'bulk',
    subject: bulkId,
    summary: `Bulk action ${bulkId} begins. ${describeBulk(bulk)}.`,
    reason,
    before: { state: 'preview' },
    after: { state: 'running', entries: bulk.entries, amounts: bulk.amounts },
  });
  return { kind: 'changed', auditId };
}

/** Ends a bulk action before its end. What it has settled stays so. */
export async function abortSettlement(
  trx: DatabaseTransaction,
  { bulkId, actor, reason, audit }: BulkToChange,
): Promise<BulkChange> {
  const isAborted = await abortBulk(trx, { bulkId, abortedBy: actor });
  const bulk = await findBulk(trx, bulkId);
  if (bulk === null) return { kind: 'unknown' };
  if (!isAborted) return { kind: 'does_not_apply', bulk };
  const auditId = await audit({
    action: 'abort_bulk',
    subjectKind: 'bulk',
    subject: bulkId,
    summary: `Bulk action ${bulkId} is aborted. Entries that it has settled stay so.`,
    reason,
    before: { state: 'running' },
    after: { state: 'aborted' },
  });
  return { kind: 'changed', auditId };
}
