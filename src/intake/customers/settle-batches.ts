import { sql } from 'kysely';
import { clockAfter } from '../../db/clock.ts';
import { type Database, execute, finds, rowsOf } from '../../db/statement.ts';
import type { WaitingBatch } from './waiting-batches.ts';

/** The run that sent a batch, and the label it used. */
export type BatchCall = { readonly runId: string; readonly sourceType: string | null };

export type Refusal = { readonly httpStatus: number; readonly message: string };

/** The service's final answer to a batch. */
export type BatchAnswer = {
  readonly batch: WaitingBatch;
  readonly state: 'accepted' | 'refused';
  readonly httpStatus: number;
  /** Why the batch was refused, with addresses masked. Null if it was accepted. */
  readonly message: string | null;
};

/**
 * Records the service's answers to batches, and deletes the batches with their addresses in the same
 * statement. A refused batch contains a single customer, who is not sent again.
 */
export async function settleBatches(
  db: Database,
  answers: readonly BatchAnswer[],
  call: BatchCall,
): Promise<readonly null[]> {
  const rows = answers.map(
    ({ batch, state, httpStatus, message }) =>
      sql`(${batch.batchId}::bigint, ${state}::text, ${httpStatus}::integer, ${message}::text)`,
  );
  await execute(db)`
    with answers (batch_id, state, http_status, message) as (values ${sql.join(rows)}),
    taken as (
      delete from intake.waiting_batches
      where batch_id = any (array(select batch_id from answers))
      returning *
    )
    insert into intake.identify_batches
      (batch_id, split_from, job, brand_id, source_type, state, customers, http_status, message, run_id,
        staged_at)
    select t.batch_id, t.split_from, t.job, t.brand_id, ${call.sourceType}, a.state, t.customers,
      a.http_status, a.message, ${call.runId}::bigint, t.created_at
    from taken t join answers a using (batch_id)`;
  return answers.map(() => null);
}

/**
 * Splits a batch in two. Each half then waits separately.
 *
 * @param options.at number of customers in the first half.
 * @param options.refusal the answer, if the service refused the whole batch; null if the batch was not sent.
 * @returns the halves; empty if the batch no longer exists.
 */
export async function splitBatch(
  db: Database,
  batch: WaitingBatch,
  options: { readonly at: number; readonly refusal: Refusal | null; readonly call: BatchCall },
): Promise<readonly WaitingBatch[]> {
  const { at, refusal, call } = options;
  const addresses = JSON.parse(batch.influencerList) as string[];
  const lists = [addresses.slice(0, at), addresses.slice(at)].map((half) => JSON.stringify(half));
  return rowsOf<WaitingBatch>(db)`
    with taken as (
      delete from intake.waiting_batches where batch_id = ${batch.batchId}::bigint returning *
    ),
    logged as (
      insert into intake.identify_batches
        (batch_id, split_from, job, brand_id, source_type, state, customers, http_status, message, run_id,
          staged_at)
      select batch_id, split_from, job, brand_id, ${call.sourceType}, 'split', customers,
        ${refusal?.httpStatus ?? null}::integer, ${refusal?.message ?? null}, ${call.runId}::bigint,
        created_at
      from taken where ${refusal !== null}
    ),
    halves as (
      insert into intake.waiting_batches
        (job, brand_id, source_file_id, purpose, influencer_list, customer_hashes, split_from, created_at,
          key_no)
      select t.job, t.brand_id, t.source_file_id, t.purpose, h.list, h.hashes,
        case when ${refusal !== null} then t.batch_id else t.split_from end, t.created_at, t.key_no
      from taken t cross join lateral (values
        (1, ${lists[0]}::text, t.customer_hashes[:${at}::integer]),
        (2, ${lists[1]}::text, t.customer_hashes[${at + 1}::integer:])
      ) as h(place, list, hashes)
      order by h.place
      returning batch_id, brand_id, influencer_list, customer_hashes, customers
    ),
    -- An array, which makes each customer a look-up in the index: a join the planner would rather make by reading the whole table.
    moved as (
      update intake.customers c
      set batch_id = (select h.batch_id from halves h where c.customer_hash = any (h.customer_hashes))
      where c.customer_hash = any (array(select unnest(customer_hashes) from taken))
        and c.batch_id = ${batch.batchId}::bigint
    )
    select batch_id as "batchId", brand_id as "brandId", influencer_list as "influencerList",
      customers
    from halves order by batch_id`;
}

/**
 * True if the service has accepted a batch of this brand with this label. A refusal then concerns the address
 * and not the settings.
 *
 * @param options.since the batch was sent by this run and accepted after this time (`readClock`). Null: any
 * batch that was ever sent.
 */
export async function wasAccepted(
  db: Database,
  options: BatchCall & { readonly brandId: string; readonly since: string | null },
): Promise<boolean> {
  const { brandId, sourceType, runId, since } = options;
  const isRecent =
    since === null ? sql`true` : sql`run_id = ${runId}::bigint and settled_at > ${since}::timestamptz`;
  return finds(db)`
    select from intake.identify_batches
    where brand_id = ${brandId} and source_type is not distinct from ${sourceType} and state = 'accepted'
      and ${isRecent}
    limit 1`;
}

/** The time by the clock of the database, plus a number of milliseconds. */
export async function readClock(db: Database, { plusMs }: { plusMs: number }): Promise<string> {
  const at = sql<string>`(${clockAfter(plusMs)})::text`;
  return (await db.selectNoFrom(at.as('at')).executeTakeFirstOrThrow()).at;
}
