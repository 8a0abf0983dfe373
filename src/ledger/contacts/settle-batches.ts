import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import type { WaitingBatch } from './waiting-batches.ts';

/** Who sent a batch, and how. */
export type BatchCall = { readonly runId: string; readonly sourceType: string | null };

export type Refusal = { readonly httpStatus: number; readonly message: string };

/** Records that the service took a batch: its customers are submitted, and their addresses are gone, in one commit. */
export async function acceptBatch(
  db: Database,
  batch: WaitingBatch,
  { httpStatus, call }: { readonly httpStatus: number; readonly call: BatchCall },
): Promise<void> {
  await settle(db, batch, { state: 'accepted', httpStatus, message: null, call });
}

/** Records that the service does not take one customer's address. It is not sent again, and its address is gone. */
export async function refuseContact(
  db: Database,
  batch: WaitingBatch,
  { refusal, call }: { readonly refusal: Refusal; readonly call: BatchCall },
): Promise<void> {
  await settle(db, batch, { state: 'refused', ...refusal, call });
}

/** Deletes a batch, its addresses with it, and logs what became of it: so it became of its customers. */
async function settle(
  db: Database,
  { batchId }: WaitingBatch,
  log: {
    readonly state: 'accepted' | 'refused';
    readonly httpStatus: number;
    readonly message: string | null;
    readonly call: BatchCall;
  },
): Promise<void> {
  const { state, httpStatus, message, call } = log;
  await sql`
    with taken as (
      delete from intake.contacts where batch_id = ${batchId}::bigint returning *
    )
    insert into ledger.identify_batches
      (batch_id, split_from, job, brand_id, source_type, state, contacts, http_status, message, run_id, staged_at)
    select batch_id, split_from, job, brand_id, ${call.sourceType}, ${state}, cardinality(contact_hashes),
      ${httpStatus}::integer, ${message}, ${call.runId}::bigint, created_at
    from taken`.execute(db);
}

/**
 * Cuts a batch in two, so that each half waits by itself.
 *
 * @param at how many customers the first one has.
 * @param refusal why, where the service refused the whole; null: no call was made for it.
 * @returns the halves; none when the batch is gone.
 */
export async function splitBatch(
  db: Database,
  batch: WaitingBatch,
  options: { readonly at: number; readonly refusal: Refusal | null; readonly call: BatchCall },
): Promise<readonly WaitingBatch[]> {
  const { at, refusal, call } = options;
  const addresses = JSON.parse(batch.influencerList) as string[];
  const lists = [addresses.slice(0, at), addresses.slice(at)].map((half) => JSON.stringify(half));
  const { rows } = await sql<WaitingBatch>`
    with taken as (
      delete from intake.contacts where batch_id = ${batch.batchId}::bigint returning *
    ),
    logged as (
      insert into ledger.identify_batches
        (batch_id, split_from, job, brand_id, source_type, state, contacts, http_status, message, run_id, staged_at)
      select batch_id, split_from, job, brand_id, ${call.sourceType}, 'split', cardinality(contact_hashes),
        ${refusal?.httpStatus ?? null}::integer, ${refusal?.message ?? null}, ${call.runId}::bigint, created_at
      from taken where ${refusal !== null}
    ),
    halves as (
      insert into intake.contacts
        (job, brand_id, source_file_id, purpose, influencer_list, contact_hashes, split_from, created_at)
      select t.job, t.brand_id, t.source_file_id, t.purpose, h.list, h.hashes,
        case when ${refusal !== null} then t.batch_id else t.split_from end, t.created_at
      from taken t cross join lateral (values
        (1, ${lists[0]}::text, t.contact_hashes[:${at}::integer]), (2, ${lists[1]}::text, t.contact_hashes[${at + 1}::integer:])
      ) as h(place, list, hashes)
      order by h.place
      returning batch_id, brand_id, influencer_list, contact_hashes
    ),
    -- An array, which makes each customer a look-up in the index: a join the planner would rather make by reading the whole table.
    moved as (
      update ledger.contacts c
      set batch_id = (select h.batch_id from halves h where c.contact_hash = any (h.contact_hashes))
      where c.contact_hash = any (array(select unnest(contact_hashes) from taken)) and c.batch_id = ${batch.batchId}::bigint
    )
    select batch_id as "batchId", brand_id as "brandId", influencer_list as "influencerList",
      cardinality(contact_hashes) as contacts
    from halves order by batch_id`.execute(db);
  return rows;
}

/** Whether the service has ever taken a batch of this brand with this label: then a refusal is about the address. */
export async function wasEverAccepted(
  db: Database,
  { brandId, sourceType }: { readonly brandId: string; readonly sourceType: string | null },
): Promise<boolean> {
  const { rows } = await sql`
    select from ledger.identify_batches
    where brand_id = ${brandId} and source_type is not distinct from ${sourceType} and state = 'accepted' limit 1`.execute(
    db,
  );
  return rows.length > 0;
}
