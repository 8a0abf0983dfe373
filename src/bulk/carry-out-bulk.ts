import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import type { BulkOutcome } from '../model/bulk.ts';
import { maskAddresses } from '../model/text/mask-addresses.ts';

/**
 * Lets a preview be carried out.
 *
 * @param options.reason what whoever confirms it gives as the reason: it is kept with each entry.
 * @returns false where it is no preview any more, its time is over, or nothing in it can be settled.
 */
export async function confirmBulk(
  trx: DatabaseTransaction,
  {
    bulkId,
    confirmedBy,
    reason,
  }: { readonly bulkId: string; readonly confirmedBy: string; readonly reason: string },
): Promise<boolean> {
  const { rows } = await sql`
    update ops.bulk_actions
    set state = 'running', confirmed_by = ${maskAddresses(confirmedBy)}, confirmed_at = clock_timestamp(), reason = ${maskAddresses(reason)}
    where bulk_id = ${bulkId}::bigint and state = 'preview' and expires_at > clock_timestamp() and entries > 0
    returning 1`.execute(trx);
  return rows.length > 0;
}

/** Ends one that is running: once this is committed, no other entry of it is settled. @returns false where it is not running. */
export async function abortBulk(
  trx: DatabaseTransaction,
  { bulkId, abortedBy }: { readonly bulkId: string; readonly abortedBy: string },
): Promise<boolean> {
  const { rows } = await sql`
    update ops.bulk_actions set state = 'aborted', aborted_by = ${maskAddresses(abortedBy)}, aborted_at = clock_timestamp()
    where bulk_id = ${bulkId}::bigint and state = 'running' returning 1`.execute(trx);
  return rows.length > 0;
}

/** Marks previews whose time is over, and deletes what they froze: their sums stay. */
export async function expirePreviews(db: Database): Promise<void> {
  await sql`
    with expired as (
      update ops.bulk_actions set state = 'expired'
      where ended_at is null and state = 'preview' and expires_at <= clock_timestamp() returning bulk_id
    )
    delete from ops.bulk_items where bulk_id = any(array(select bulk_id from expired))`.execute(db);
}

/** Bulk actions for which something is to be done, oldest first. */
export async function listOpenBulks(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select bulk_id as id from ops.bulk_actions
    where ended_at is null and state in ('running', 'aborted') order by bulk_id`.execute(db);
  return rows.map(({ id }) => id);
}

/** An entry or a file of a bulk action, as it was frozen. */
export type BulkItem = {
  readonly subjectId: string;
  /** Of an entry an `EntryState`. */
  readonly state: string;
  /** Null for a file. */
  readonly attempt: number | null;
  /** Of a double credit. */
  readonly credits: number | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
};

/** The next that nobody has dealt with, behind one of them. */
export async function listOpenItems(
  db: Database,
  { bulkId, after, limit }: { readonly bulkId: string; readonly after: string; readonly limit: number },
): Promise<readonly BulkItem[]> {
  const { rows } = await sql<BulkItem>`
    select subject_id as "subjectId", state, attempt, credits, deal_id as "dealId", collab_id as "collabId" from ops.bulk_items
    where bulk_id = ${bulkId}::bigint and outcome is null and subject_id > ${after}::bigint
    order by subject_id limit ${limit}`.execute(db);
  return rows;
}

type ItemKey = { readonly bulkId: string; readonly subjectId: string };

/**
 * Reserves one of them for this transaction. Whoever aborts the bulk action waits until the transaction ends, and another process that tried the
 * same entry would find it dealt with.
 *
 * @returns false where the bulk action is not running any more, or somebody has dealt with the entry.
 */
export async function lockOpenItem(
  trx: DatabaseTransaction,
  { bulkId, subjectId }: ItemKey,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ops.bulk_actions b join ops.bulk_items i using (bulk_id)
    where b.bulk_id = ${bulkId}::bigint and b.state = 'running' and i.subject_id = ${subjectId}::bigint and i.outcome is null
    for share of b for update of i`.execute(trx);
  return rows.length > 0;
}

/** Writes down what became of an entry, in the transaction that settles it. */
export async function recordOutcome(
  trx: DatabaseTransaction,
  { bulkId, subjectId, outcome }: ItemKey & { readonly outcome: BulkOutcome },
): Promise<void> {
  await sql`
    update ops.bulk_items set outcome = ${outcome}, outcome_at = clock_timestamp()
    where bulk_id = ${bulkId}::bigint and subject_id = ${subjectId}::bigint and outcome is null`.execute(trx);
}

/** Jobs of which it has settled something. */
export async function listTouchedJobs(db: Database, bulkId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ job: string }>`
    select distinct job from ops.bulk_items where bulk_id = ${bulkId}::bigint and outcome = 'settled' and job is not null order by job`.execute(
    db,
  );
  return rows.map(({ job }) => job);
}

/** Writes down what it came to. One that is running must have dealt with each of its entries. */
export async function endBulk(db: Database, bulkId: string): Promise<void> {
  await sql`
    update ops.bulk_actions b
    set state = case b.state when 'running' then 'finished' else b.state end, ended_at = clock_timestamp(),
        settled = c.settled, changed = c.changed, failed = c.failed
    from (
      select count(*) filter (where outcome = 'settled') as settled, count(*) filter (where outcome = 'changed') as changed,
        count(*) filter (where outcome = 'failed') as failed, count(*) filter (where outcome is null) as open
      from ops.bulk_items where bulk_id = ${bulkId}::bigint) c
    where b.bulk_id = ${bulkId}::bigint and b.ended_at is null and (b.state = 'aborted' or (b.state = 'running' and c.open = 0))`.execute(
    db,
  );
}
