import type { BulkOutcome } from '../core/bulk.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import { databaseClock } from '../db/clock.ts';
import type { Database } from '../db/connect.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { execute, finds } from '../db/statement.ts';

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
  const by = { confirmed_by: maskAddresses(confirmedBy), confirmed_at: databaseClock };
  const confirmed = await trx
    .updateTable('ops.bulk_actions')
    .set({ ...by, state: 'running', reason: maskAddresses(reason) })
    .where((eb) => eb.and({ bulk_id: bulkId, state: 'preview' }))
    .where('expires_at', '>', databaseClock)
    .where('entries', '>', 0)
    .executeTakeFirst();
  return confirmed.numUpdatedRows > 0;
}

/**
 * Aborts a running bulk action. Once this is committed, no further entry of it is settled. @returns false if
 * it is not running.
 */
export async function abortBulk(
  trx: DatabaseTransaction,
  { bulkId, abortedBy }: { readonly bulkId: string; readonly abortedBy: string },
): Promise<boolean> {
  const aborted = await trx
    .updateTable('ops.bulk_actions')
    .set({ state: 'aborted', aborted_by: maskAddresses(abortedBy), aborted_at: databaseClock })
    .where((eb) => eb.and({ bulk_id: bulkId, state: 'running' }))
    .executeTakeFirst();
  return aborted.numUpdatedRows > 0;
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
  const rows = await db
    .selectFrom('ops.bulk_actions')
    .select('bulk_id')
    .where('ended_at', 'is', null)
    .where('state', 'in', ['running', 'aborted'])
    .orderBy('bulk_id')
    .execute();
  return rows.map((row) => row.bulk_id);
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
  return db
    .selectFrom('ops.bulk_items')
    .select(['subject_id as subjectId', 'state', 'attempt', 'credits'])
    .select(['deal_id as dealId', 'collab_id as collabId'])
    .where((eb) => eb.and({ bulk_id: bulkId, outcome: null }))
    .where('subject_id', '>', after)
    .orderBy('subject_id')
    .limit(limit)
    .execute();
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
  await trx
    .updateTable('ops.bulk_items')
    .set({ outcome, outcome_at: databaseClock })
    .where((eb) => eb.and({ bulk_id: bulkId, subject_id: subjectId, outcome: null }))
    .execute();
}

/** Lists the jobs whose entries the bulk action has settled. */
export async function listTouchedJobs(db: Database, bulkId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('ops.bulk_items')
    .select('job')
    .distinct()
    .where((eb) => eb.and({ bulk_id: bulkId, outcome: 'settled' }))
    .orderBy('job')
    .execute();
  return rows.flatMap(({ job }) => job ?? []);
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
