import {
  type Bulk,
  type DoubtDecision,
  describeBulk,
  type FileDecision,
  isAboutFiles,
} from '../core/bulk.ts';
import { formatInstant } from '../core/text/format-instant.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { effects } from '../ledger/effects/index.ts';
import { reapLost } from '../ledger/reap.ts';
import type { WriteAudit } from '../ops/record-audit.ts';
import { findBulk } from '../reports/bulk/read-bulk.ts';
import { type DoubtFilter, selectToAcknowledge, selectToSettle } from '../reports/doubts/list-doubts.ts';
import { type FileFilter, selectToDecide } from '../reports/files/list-files.ts';
import { abortBulk, confirmBulk } from './carry-out-bulk.ts';
import { freezeBulk, judgeDoubleCredits, judgeDoubts, judgeFiles, type ToFreeze } from './freeze-bulk.ts';

/*
 * One decision about many entries or files. Three steps ensure that a person settles only what they have seen:
 * a preview freezes the entries and their state, a person confirms exactly that preview, and run-bulks.ts
 * settles the entries one by one, as if each was settled alone, as long as they match their frozen state.
 */

/**
 * Long enough to ask someone else and decide on the next day. After that, the frozen state is too old to be
 * useful.
 */
const PREVIEW_VALID_MS = 24 * 3_600_000;

type Deciding = {
  readonly actor: string;
  /** The reason that the person gave. Not blank. */
  readonly reason: string;
  /** Writes the audit record, in the same transaction. @returns its id. */
  readonly audit: WriteAudit;
};

type Many = Deciding & {
  /** Describes the selection in a sentence. */
  readonly chosen: string;
  readonly via: Bulk['via'];
};

export type Previewed = { readonly bulkId: string; readonly auditId: string };

export type ManyToSettle = Many &
  Pick<Bulk, 'dealId' | 'collabId'> & {
    readonly decision: DoubtDecision;
    /** A filter without relative times, or entries that a person picked. */
    readonly entries: DoubtFilter | { readonly entryIds: readonly string[] };
  };

/** Freezes the entries in doubt that a decision would apply to. @returns null if there is no such entry. */
export async function previewSettlement(
  trx: DatabaseTransaction,
  { entries, dealId, collabId, ...many }: ManyToSettle,
): Promise<Previewed | null> {
  // Marks entries of dead processes as in doubt, because no run may have done so yet.
  await reapLost(trx);
  const { decision } = many;
  const effectsThatNameDeals = Object.values(effects).flatMap(({ effect, namesDeal }) =>
    namesDeal ? [effect] : [],
  );
  const chosen = selectToSettle(entries);
  return preview(trx, {
    ...{ ...many, dealId, collabId },
    filter: 'entryIds' in entries ? null : entries,
    judged: judgeDoubts({ decision, dealId, collabId, chosen, effectsThatNameDeals }),
  });
}

/** Freezes the double credits that a person has corrected in the service. @returns null if there are none. */
export function previewAcknowledgement(
  trx: DatabaseTransaction,
  {
    entries,
    ...many
  }: Many & { readonly entries: { readonly job: string | null } | { readonly entryIds: readonly string[] } },
): Promise<Previewed | null> {
  return preview(trx, {
    ...{ ...many, decision: 'acknowledge', dealId: null, collabId: null },
    filter: 'entryIds' in entries ? null : entries,
    judged: judgeDoubleCredits(selectToAcknowledge(entries)),
  });
}

/** Freezes the files that a decision would apply to. @returns null if there are none. */
export function previewFiles(
  trx: DatabaseTransaction,
  {
    files,
    ...many
  }: Many & {
    readonly decision: FileDecision;
    readonly files: FileFilter | { readonly fileIds: readonly string[] };
  },
): Promise<Previewed | null> {
  return preview(trx, {
    ...{ ...many, dealId: null, collabId: null },
    filter: 'fileIds' in files ? null : files,
    judged: judgeFiles(many.decision, selectToDecide(files)),
  });
}

async function preview(
  trx: DatabaseTransaction,
  { actor, audit, ...bulk }: Many & Pick<ToFreeze, 'decision' | 'dealId' | 'collabId' | 'filter' | 'judged'>,
): Promise<Previewed | null> {
  const { bulkId, entries, ineligible, amounts } = await freezeBulk(trx, {
    ...bulk,
    createdBy: actor,
    validMs: PREVIEW_VALID_MS,
  });
  if (entries + ineligible === 0) return null;
  const { chosen, decision, filter, reason } = bulk;
  const auditId = await audit({
    action: 'preview_bulk',
    subjectKind: 'bulk',
    subject: bulkId,
    summary: `This is the preview of bulk action ${bulkId}. Nothing has changed yet.`,
    reason,
    filter,
    after: { chosen, decision, entries, ineligible, amounts },
  });
  return { bulkId, auditId };
}

export type BulkChange =
  | { readonly kind: 'changed'; readonly auditId: string }
  | { readonly kind: 'unknown' }
  /** Nothing was changed, because the bulk action is in another state. */
  | { readonly kind: 'does_not_apply'; readonly bulk: Bulk };

type BulkToChange = Deciding & { readonly bulkId: string };

/** Starts to carry out a preview, once and exactly as it was frozen. */
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

/** Aborts a running bulk action. The entries that it has settled stay settled. */
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
    summary: `Bulk action ${bulkId} is aborted. ${isAboutFiles(bulk.decision) ? 'Files' : 'Entries'} that it has settled stay settled.`,
    reason,
    before: { state: 'running' },
    after: { state: 'aborted' },
  });
  return { kind: 'changed', auditId };
}

/** Describes the filter in a sentence. Uses no relative times, because the sentence is read later. */
export function describeFilter({ job, reason: words, dealId, sinceBefore }: DoubtFilter): string {
  const parts = [
    ...(job ? [`of job ${job}`] : []),
    ...(dealId ? [`for deal ${dealId}`] : []),
    ...(sinceBefore ? [`in doubt since ${formatInstant(sinceBefore)} UTC or longer`] : []),
    ...(words ? [`because ${words}`] : []),
  ];
  return parts.length === 0 ? 'All entries in doubt' : `Entries in doubt ${parts.join(', ')}`;
}
