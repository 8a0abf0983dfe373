import { sql } from 'kysely';
import { countsOf, type Database, rowOf, rowsOf } from '../../db/statement.ts';

/**
 * A batch that waits to be submitted. Contains plain addresses: it must not reach any log, error or other
 * table.
 */
export type WaitingBatch = {
  readonly batchId: string;
  readonly brandId: string;
  /** Addresses as a JSON array, exactly as they will be sent. */
  readonly influencerList: string;
  readonly customers: number;
};

/**
 * Number of batches read at a time. A batch takes some hundred kilobytes, and two pages are in memory at
 * once.
 */
const PAGE_BATCHES = 16;

/** A range of batch ids; both ends are included. */
export type BatchRange = { readonly from: string; readonly to: string };

/** Divides the waiting batches of a brand into ranges of at most `size` batches, oldest first. */
export async function waitingRanges(
  db: Database,
  { brandId, size }: { brandId: string; size: number },
): Promise<readonly BatchRange[]> {
  return rowsOf<BatchRange>(db)`
    select min(batch_id) as "from", max(batch_id) as "to"
    from (
      select b.batch_id, (row_number() over (order by b.batch_id) - 1) / ${size}::bigint as share
      from intake.waiting_batches b
        join intake.source_files f on f.source_file_id = b.source_file_id and f.state = 'sealed'
      where b.brand_id = ${brandId} and b.purpose = 'submit') numbered
    group by share order by share`;
}

/**
 * Yields the waiting batches of a brand, oldest first. Batches created after the call started are not
 * included.
 *
 * @param range restricts the ids; all batches if omitted.
 */
export async function* waitingBatches(
  db: Database,
  brandId: string,
  range?: BatchRange,
): AsyncGenerator<WaitingBatch> {
  const { from, to: end } = range ?? { from: '1', to: await readLastId(db) };

  async function readAfter(batchId: string): Promise<readonly WaitingBatch[]> {
    return rowsOf<WaitingBatch>(db)`
      select b.batch_id as "batchId", b.brand_id as "brandId", b.influencer_list as "influencerList",
        b.customers
      from intake.waiting_batches b
        join intake.source_files f on f.source_file_id = b.source_file_id and f.state = 'sealed'
      where b.brand_id = ${brandId} and b.purpose = 'submit' and b.batch_id > ${batchId}::bigint
        and b.batch_id <= ${end}::bigint
      order by b.batch_id limit ${PAGE_BATCHES}`;
  }

  let page = await readAfter(String(BigInt(from) - 1n));
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    // Read the next page while this one is sent.
    const next = readAfter(last.batchId);
    // The error is reported when `next` is awaited. If the caller stops iterating, it does not matter.
    next.catch(() => {});
    yield* page;
    page = await next;
  }
}

async function readLastId(db: Database): Promise<string> {
  const newest = await rowOf<{ last: string | null }>(db)`
    select max(batch_id) as last from intake.waiting_batches`;
  return newest?.last ?? '0';
}

/**
 * Counts the customers of sealed files who wait to be submitted, the calls that this takes, and the customers
 * who wait to be looked up.
 */
export async function countWaiting(
  db: Database,
  brandId: string,
): Promise<{ readonly customers: number; readonly calls: number; readonly lookups: number }> {
  return countsOf<'customers' | 'calls' | 'lookups'>(db)`
    select coalesce(sum(b.customers) filter (where b.purpose = 'submit'), 0) as customers,
      count(*) filter (where b.purpose = 'submit') as calls,
      coalesce(sum(b.customers) filter (where b.purpose = 'lookup'), 0) as lookups
    from intake.waiting_batches b
      join intake.source_files f on f.source_file_id = b.source_file_id and f.state = 'sealed'
    where b.brand_id = ${brandId}`;
}

/** SQL for the members of batches `b`, as rows `m (address, hash, place)`. */
export const membersOfBatch = sql`
  rows
  from (jsonb_array_elements_text(b.influencer_list::jsonb),
    unnest(b.customer_hashes)) with ordinality as m(address, hash, place)`;

/**
 * SQL for the CTE `rebuilt`, with the batches of a CTE `members (batch_id, address, hash, place, is_gone)` that lose some,
 * and those that change them: a batch keeps the others, and is deleted if there are none.
 */
export const takeOutGone = sql`
  rebuilt as materialized (
    select batch_id, jsonb_agg(address order by place) filter (where not is_gone) as list,
      array_agg(hash order by place) filter (where not is_gone) as hashes
    from members group by batch_id having bool_or(is_gone)
  ),
  kept as (
    update intake.waiting_batches b set influencer_list = r.list::text, customer_hashes = r.hashes
    from rebuilt r where b.batch_id = r.batch_id and r.list is not null
  ),
  emptied as (
    delete from intake.waiting_batches b using rebuilt r where b.batch_id = r.batch_id and r.list is null
  )`;
