import { type RawBuilder, sql } from 'kysely';
import {
  type Bulk,
  type DoubtDecision,
  describeBulk,
  type FileDecision,
  isAboutFiles,
} from '../core/bulk.ts';
import { formatInstant } from '../core/text/format-instant.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import { clockAfter, databaseClock } from '../db/clock.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { rowOf, toJsonParameter } from '../db/statement.ts';
import { effects } from '../ledger/effects/index.ts';
import { reapLost } from '../ledger/reap.ts';
import type { ActorlessRecord, DecidedWhy } from '../ops/record-audit.ts';
import { findBulk } from '../reports/bulk/read-bulk.ts';
import { type DoubtFilter, selectToAcknowledge, selectToSettle } from '../reports/doubts/list-doubts.ts';
import { type FileFilter, selectToDecide } from '../reports/files/list-files.ts';

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

type Many = DecidedWhy & {
  /** Describes the selection in a sentence. */
  readonly chosen: string;
  readonly via: Bulk['via'];
};

export type ManyToSettle = Many &
  Pick<Bulk, 'dealId' | 'collabId'> & {
    readonly decision: DoubtDecision;
    /** A filter without relative times, or entries that a person picked. */
    readonly entries: DoubtFilter | { readonly entryIds: readonly string[] };
  };

/** Freezes the entries in doubt that a decision would apply to. @returns the id of the bulk action; null if there is none. */
export async function previewSettlement(
  trx: DatabaseTransaction,
  { entries, dealId, collabId, ...many }: ManyToSettle,
): Promise<string | null> {
  // Marks entries of dead processes as in doubt, because no run may have done so yet.
  await reapLost(trx);
  const { decision } = many;
  const effectsThatNameDeals = Object.values(effects).flatMap(({ effect, namesDeal }) =>
    namesDeal ? [effect] : [],
  );
  const chosen = selectToSettle(entries);
  return preview(trx, {
    ...many,
    dealId,
    collabId,
    filter: 'entryIds' in entries ? null : entries,
    judged: judgeDoubts({ decision, dealId, collabId, chosen, effectsThatNameDeals }),
  });
}

/** Freezes the double credits that a person has corrected in the service. @returns as `previewSettlement`. */
export function previewAcknowledgement(
  trx: DatabaseTransaction,
  {
    entries,
    ...many
  }: Many & { readonly entries: { readonly job: string | null } | { readonly entryIds: readonly string[] } },
): Promise<string | null> {
  return preview(trx, {
    ...many,
    decision: 'acknowledge',
    dealId: null,
    collabId: null,
    filter: 'entryIds' in entries ? null : entries,
    judged: judgeDoubleCredits(selectToAcknowledge(entries)),
  });
}

/** Freezes the files that a decision would apply to. @returns as `previewSettlement`. */
export function previewFiles(
  trx: DatabaseTransaction,
  {
    files,
    ...many
  }: Many & {
    readonly decision: FileDecision;
    readonly files: FileFilter | { readonly fileIds: readonly string[] };
  },
): Promise<string | null> {
  return preview(trx, {
    ...many,
    dealId: null,
    collabId: null,
    filter: 'fileIds' in files ? null : files,
    judged: judgeFiles(many.decision, selectToDecide(files)),
  });
}

async function preview(
  trx: DatabaseTransaction,
  {
    decidedBy,
    audit,
    ...bulk
  }: Many & Pick<ToFreeze, 'decision' | 'dealId' | 'collabId' | 'filter' | 'judged'>,
): Promise<string | null> {
  const { bulkId, entries, ineligible, amounts } = await freezeBulk(trx, {
    ...bulk,
    createdBy: decidedBy,
    validMs: PREVIEW_VALID_MS,
  });
  if (entries + ineligible === 0) return null;
  const { chosen, decision, filter, reason } = bulk;
  await audit({
    action: 'preview_bulk',
    subjectKind: 'bulk',
    subject: bulkId,
    summary: `This is the preview of bulk action ${bulkId}. Nothing has changed yet.`,
    reason,
    filter,
    after: { chosen, decision, entries, ineligible, amounts },
  });
  return bulkId;
}

export type BulkChange =
  | { readonly kind: 'changed' }
  | { readonly kind: 'unknown' }
  /** Nothing was changed, because the bulk action is in another state. */
  | { readonly kind: 'does_not_apply'; readonly bulk: Bulk };

type BulkToChange = DecidedWhy & { readonly bulkId: string };

/**
 * Starts to carry out a preview, once and exactly as it was frozen. Does not apply if its time is over, or nothing in
 * it can be settled. The reason is stored with each entry.
 */
export async function confirmSettlement(
  trx: DatabaseTransaction,
  { decidedBy, ...change }: BulkToChange,
): Promise<BulkChange> {
  const by = { confirmed_by: maskAddresses(decidedBy), confirmed_at: databaseClock };
  const confirmed = await trx
    .updateTable('ops.bulk_actions')
    .set({ ...by, state: 'running', reason: maskAddresses(change.reason) })
    .where((eb) => eb.and({ bulk_id: change.bulkId, state: 'preview' }))
    .where('expires_at', '>', databaseClock)
    .where('entries', '>', 0)
    .executeTakeFirst();
  return recordChange(trx, change, confirmed.numUpdatedRows > 0, (bulk) => ({
    action: 'confirm_bulk',
    summary: `Bulk action ${bulk.bulkId} begins. ${describeBulk(bulk)}.`,
    before: { state: 'preview' },
    after: { state: 'running', entries: bulk.entries, amounts: bulk.amounts },
  }));
}

/**
 * Aborts a running bulk action. Once this is committed, no further entry of it is settled. The entries that it has
 * settled stay settled.
 */
export async function abortSettlement(
  trx: DatabaseTransaction,
  { decidedBy, ...change }: BulkToChange,
): Promise<BulkChange> {
  const aborted = await trx
    .updateTable('ops.bulk_actions')
    .set({ state: 'aborted', aborted_by: maskAddresses(decidedBy), aborted_at: databaseClock })
    .where((eb) => eb.and({ bulk_id: change.bulkId, state: 'running' }))
    .executeTakeFirst();
  return recordChange(trx, change, aborted.numUpdatedRows > 0, (bulk) => ({
    action: 'abort_bulk',
    summary: `Bulk action ${bulk.bulkId} is aborted. ${isAboutFiles(bulk.decision) ? 'Files' : 'Entries'} that it has settled stay settled.`,
    before: { state: 'running' },
    after: { state: 'aborted' },
  }));
}

async function recordChange(
  trx: DatabaseTransaction,
  { bulkId, reason, audit }: Omit<BulkToChange, 'decidedBy'>,
  isChanged: boolean,
  describe: (bulk: Bulk) => Pick<ActorlessRecord, 'action' | 'summary' | 'before' | 'after'>,
): Promise<BulkChange> {
  const bulk = await findBulk(trx, bulkId);
  if (bulk === null) return { kind: 'unknown' };
  if (!isChanged) return { kind: 'does_not_apply', bulk };
  await audit({ ...describe(bulk), subjectKind: 'bulk', subject: bulkId, reason });
  return { kind: 'changed' };
}

/** Describes the filter in a sentence. Uses no relative times, because the sentence is read later. */
export function describeFilter({ job, reason: words, dealId, sinceBefore }: DoubtFilter): string {
  const parts = [
    ...(job ? [`of job ${job}`] : []),
    ...(dealId ? [`for deal ${dealId}`] : []),
    ...(sinceBefore ? [`in doubt since ${formatInstant(sinceBefore)} UTC or longer`] : []),
    ...(words ? [`because ${[words].flat().join(', or ')}`] : []),
  ];
  return parts.length === 0 ? 'All entries in doubt' : `Entries in doubt ${parts.join(', ')}`;
}

export type ToFreeze = Pick<
  Bulk,
  'decision' | 'dealId' | 'collabId' | 'chosen' | 'reason' | 'createdBy' | 'via'
> & {
  /** The filter that selected them. Null if a person selected each one. */
  readonly filter: object | null;
  /** SQL for the selection, as returned by `judgeDoubts`, `judgeDoubleCredits` or `judgeFiles`. */
  readonly judged: RawBuilder<unknown>;
  /** How long the preview can be confirmed, in milliseconds. */
  readonly validMs: number;
};

export type Frozen = Pick<Bulk, 'bulkId' | 'entries' | 'ineligible' | 'amounts'>;

/**
 * Freezes the entries or files of a decision with their current state. From then on the bulk action concerns
 * only these, whatever matches its filter later. It is one statement, however many there are, and changes
 * none of them.
 */
async function freezeBulk(trx: DatabaseTransaction, bulk: ToFreeze): Promise<Frozen> {
  const { decision, dealId, collabId, chosen, filter, judged, reason, createdBy, via, validMs } = bulk;
  await suitLargeStatements(trx);
  const { bulk_id: bulkId } = await trx
    .insertInto('ops.bulk_actions')
    .values({
      decision,
      via,
      deal_id: dealId,
      collab_id: collabId,
      filter: filter === null ? null : toJsonParameter(filter),
      chosen: maskAddresses(chosen),
      reason: maskAddresses(reason),
      created_by: maskAddresses(createdBy),
      expires_at: clockAfter(validMs),
    })
    .returning('bulk_id')
    .executeTakeFirstOrThrow();
  const sums = await rowOf<Frozen>(trx)`
    with items as (
      insert into ops.bulk_items
        (bulk_id, subject_id, job, state, attempt, credits, amount, currency, deal_id, collab_id, is_eligible,
          outcome)
      select ${bulkId}::bigint, subject_id, job, state, attempt, credits, amount, currency, deal_id,
        collab_id, exclusion_reason is null, exclusion_reason
      from (${judged}) judged
      returning is_eligible, currency, amount
    )
    update ops.bulk_actions b
    set entries = (select count(*) from items where is_eligible),
        ineligible = (select count(*) from items where not is_eligible),
        amounts = coalesce((
          select jsonb_agg(jsonb_build_object('currency', s.currency, 'amount', s.amount::text)
            order by s.currency)
          from (select currency, sum(amount) as amount from items where is_eligible and amount is not null
            group by currency) s),
            '[]')
    where b.bulk_id = ${bulkId}::bigint
    returning b.bulk_id as "bulkId", b.entries, b.ineligible, b.amounts`;
  if (sums === undefined) throw new Error('a bulk action was not stored');
  return sums;
}

/**
 * SQL for doubts, each with the reason why the decision cannot be applied to it, and with the deal for the
 * decision.
 *
 * @param options.chosen SQL for rows with entry_id, job, effect, state, attempt, amount, currency, deal_id,
 * collab_id and has_evidence.
 * @param options.effectsThatNameDeals effects for which an accepted entry must name a deal or a
 * collaboration.
 */
function judgeDoubts({
  decision,
  dealId,
  collabId,
  chosen,
  effectsThatNameDeals,
}: {
  decision: DoubtDecision;
  dealId: string | null;
  collabId: string | null;
  chosen: RawBuilder<unknown>;
  effectsThatNameDeals: readonly string[];
}): RawBuilder<unknown> {
  if (decision !== 'accepted')
    // If there is evidence that an order was credited, a person must review it separately before writing it
    // off or sending it again.
    return sql`
      select c.entry_id as subject_id, c.job, c.state, c.attempt, null::integer as credits, c.amount,
        c.currency, null::text as deal_id, null::text as collab_id,
        case when c.state <> 'in_doubt' then 'not_in_doubt'
          when c.has_evidence then 'has_evidence' end as exclusion_reason
      from (${chosen}) c`;
  return sql`
    select n.entry_id as subject_id, n.job, n.state, n.attempt, null::integer as credits, n.amount,
      n.currency, n.deal_id, n.collab_id,
      case when n.state <> 'in_doubt' then 'not_in_doubt'
        when n.lacks_deal and n.deal_id is null
          and n.collab_id is null then 'deal_unknown' end as exclusion_reason
    from (
      select c.entry_id, c.job, c.state, c.attempt, c.amount, c.currency, l.lacks_deal,
        case when l.lacks_deal then ${dealId}::text else c.deal_id end as deal_id,
        case when l.lacks_deal then ${collabId}::text else c.collab_id end as collab_id
      from (${chosen}) c
      cross join lateral (
        select c.deal_id is null and c.collab_id is null
          and c.effect = any(${[...effectsThatNameDeals]}::text[]) as lacks_deal) l) n`;
}

/**
 * SQL for double credits. @param chosen SQL for rows with entry_id, job, state, attempt, amount, currency,
 * and credits, which is null for entries that are not double credits.
 */
function judgeDoubleCredits(chosen: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select c.entry_id as subject_id, c.job, c.state, c.attempt, c.credits,
      c.amount * (c.credits - 1) as amount, c.currency, null::text as deal_id, null::text as collab_id,
      case when c.credits is null then 'not_credited_twice' end as exclusion_reason
    from (${chosen}) c`;
}

/**
 * SQL for files. @param chosen SQL for rows with source_file_id, state, and is_last, which is true for the
 * latest reading of the file.
 */
function judgeFiles(decision: FileDecision, chosen: RawBuilder<unknown>): RawBuilder<unknown> {
  const exclusionReason =
    decision === 'release'
      ? sql`case when c.state <> 'held' or not c.is_last then 'not_held' end`
      : sql`case when c.state = 'reading' or not c.is_last then 'being_read' end`;
  return sql`
    select c.source_file_id as subject_id, null::text as job, c.state, null::integer as attempt,
      null::integer as credits,
      null::numeric as amount, null::text as currency, null::text as deal_id, null::text as collab_id,
      ${exclusionReason} as exclusion_reason
    from (${chosen}) c`;
}
