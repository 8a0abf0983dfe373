import type { BulkOutcome } from '../core/bulk.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import type { Database } from '../db/connect.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { execute, finds, rowsOf } from '../db/statement.ts';

/**
 * Confirms a preview, so that it is carried out.
 *
 * @param options.reason the reason of the person who confirms it. It is stored with each entry.
 * @returns false if it is not a preview any more, its time is over, or nothing in it can be settled.
 */
export async function confirmBulk(
  trx: DatabaseTransaction,
  {
    bulkId,
    confirmedBy,
    reason,
  }: { readonly bulkId: string; readonly confirmedBy: string; readonly reason: string },
): Promise<boolean> {
  return finds(trx)`
    update ops.bulk_actions
    set state = 'running', confirmed_by = ${maskAddresses(confirmedBy)}, confirmed_at = clock_timestamp(), reason = ${maskAddresses(reason)}
    where bulk_id = ${bulkId}::bigint and state = 'preview' and expires_at > clock_timestamp() and entries > 0
    returning 1`;
}

/**
 * Aborts a running bulk action. Once this is committed, no further entry of it is settled. @returns false if
 * it is not running.
 */
export async function abortBulk(
  trx: DatabaseTransaction,
  { bulkId, abortedBy }: { readonly bulkId: string; readonly abortedBy: string },
): Promise<boolean> {
  return finds(trx)`
    update ops.bulk_actions set state = 'aborted', aborted_by = ${maskAddresses(abortedBy)}, aborted_at = clock_timestamp()
    where bulk_id = ${bulkId}::bigint and state = 'running' returning 1`;
}

/** Marks previews whose time is over as expired, and deletes their frozen items. Their totals are kept. */
export async function expirePreviews(db: Database): Promise<void> {
  await execute(db)`
    with expired as (
      update ops.bulk_actions set state = 'expired'
      where ended_at is null and state = 'preview' and expires_at <= clock_timestamp() returning bulk_id
    )
    delete from ops.bulk_items where bulk_id = any(array(select bulk_id from expired))`;
}

/** Lists the bulk actions that still need work, oldest first. */
export async function listOpenBulks(db: Database): Promise<readonly string[]> {
  const rows = await rowsOf<{ id: string }>(db)`
    select bulk_id as id from ops.bulk_actions
    where ended_at is null and state in ('running', 'aborted') order by bulk_id`;
  return rows.map(({ id }) => id);
}

/** An entry or a file of a bulk action, as it was frozen. */
export type BulkItem = {
  readonly subjectId: string;
  /** For an entry, its `EntryState`. */
  readonly state: string;
  /** Null for a file. */
  readonly attempt: number | null;
  /** Number of credits of a double credit. */
  readonly credits: number | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
};

/** Lists the next items without an outcome, after a given one. */
export async function listOpenItems(
  db: Database,
  { bulkId, after, limit }: { readonly bulkId: string; readonly after: string; readonly limit: number },
): Promise<readonly BulkItem[]> {
  return rowsOf<BulkItem>(db)`
    select subject_id as "subjectId", state, attempt, credits, deal_id as "dealId", collab_id as "collabId" from ops.bulk_items
    where bulk_id = ${bulkId}::bigint and outcome is null and subject_id > ${after}::bigint
    order by subject_id limit ${limit}`;
}

type ItemKey = { readonly bulkId: string; readonly subjectId: string };

/**
 * Reserves an item for this transaction. An abort waits until this transaction ends. Another process that
 * tries to reserve the same item finds that it has an outcome.
 *
 * @returns false if the bulk action is no longer running, or the item already has an outcome.
 */
export async function lockOpenItem(
  trx: DatabaseTransaction,
  { bulkId, subjectId }: ItemKey,
): Promise<boolean> {
  return finds(trx)`
    select 1 from ops.bulk_actions b join ops.bulk_items i using (bulk_id)
    where b.bulk_id = ${bulkId}::bigint and b.state = 'running' and i.subject_id = ${subjectId}::bigint and i.outcome is null
    for share of b for update of i`;
}

/** Records the outcome of an item, in the transaction that settles it. */
export async function recordOutcome(
  trx: DatabaseTransaction,
  { bulkId, subjectId, outcome }: ItemKey & { readonly outcome: BulkOutcome },
): Promise<void> {
  await execute(trx)`
    update ops.bulk_items set outcome = ${outcome}, outcome_at = clock_timestamp()
    where bulk_id = ${bulkId}::bigint and subject_id = ${subjectId}::bigint and outcome is null`;
}

/** Lists the jobs whose entries the bulk action has settled. */
export async function listTouchedJobs(db: Database, bulkId: string): Promise<readonly string[]> {
  const rows = await rowsOf<{ job: string }>(db)`
    select distinct job from ops.bulk_items where bulk_id = ${bulkId}::bigint and outcome = 'settled' and job is not null order by job`;
  return rows.map(({ job }) => job);
}

/** Ends a bulk action and stores its totals. A running one must have an outcome for each of its items. */
export async function endBulk(db: Database, bulkId: string): Promise<void> {
  await execute(db)`
    update ops.bulk_actions b
    set state = case b.state when 'running' then 'finished' else b.state end, ended_at = clock_timestamp(),
        settled = c.settled, changed = c.changed, failed = c.failed
    from (
      select count(*) filter (where outcome = 'settled') as settled, count(*) filter (where outcome = 'changed') as changed,
        count(*) filter (where outcome = 'failed') as failed, count(*) filter (where outcome is null) as open
      from ops.bulk_items where bulk_id = ${bulkId}::bigint) c
    where b.bulk_id = ${bulkId}::bigint and b.ended_at is null and (b.state = 'aborted' or (b.state = 'running' and c.open = 0))`;
}
