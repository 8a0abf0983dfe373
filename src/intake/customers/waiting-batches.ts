import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';

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

/**
 * Yields the waiting batches of a brand, oldest first. Batches created after the call started are not
 * included.
 */
export async function* waitingBatches(db: Database, brandId: string): AsyncGenerator<WaitingBatch> {
  const { rows: ends } = await sql<{ end: string | null }>`
    select max(batch_id) as end from intake.waiting_batches`.execute(db);
  const end = ends[0]?.end ?? '0';

  async function readAfter(batchId: string): Promise<readonly WaitingBatch[]> {
    const { rows } = await sql<WaitingBatch>`
      select b.batch_id as "batchId", b.brand_id as "brandId", b.influencer_list as "influencerList",
        b.customers
      from intake.waiting_batches b join intake.source_files f on f.source_file_id = b.source_file_id and f.state = 'sealed'
      where b.brand_id = ${brandId} and b.purpose = 'submit' and b.batch_id > ${batchId}::bigint and b.batch_id <= ${end}::bigint
      order by b.batch_id limit ${PAGE_BATCHES}`.execute(db);
    return rows;
  }

  let page = await readAfter('0');
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    // Read the next page while this one is sent.
    const next = readAfter(last.batchId);
    // The error is reported when `next` is awaited. If the caller stops iterating, it does not matter.
    next.catch(() => {});
    yield* page;
    page = await next;
  }
}

/**
 * Counts the customers of sealed files who wait to be submitted, the calls that this takes, and the customers
 * who wait to be looked up.
 */
export async function countWaiting(
  db: Database,
  brandId: string,
): Promise<{ readonly customers: number; readonly calls: number; readonly lookups: number }> {
  const { rows } = await sql<{ customers: string; calls: string; lookups: string }>`
    select coalesce(sum(b.customers) filter (where b.purpose = 'submit'), 0) as customers,
      count(*) filter (where b.purpose = 'submit') as calls,
      coalesce(sum(b.customers) filter (where b.purpose = 'lookup'), 0) as lookups
    from intake.waiting_batches b join intake.source_files f on f.source_file_id = b.source_file_id and f.state = 'sealed'
    where b.brand_id = ${brandId}`.execute(db);
  const [row] = rows;
  return {
    customers: Number(row?.customers ?? 0),
    calls: Number(row?.calls ?? 0),
    lookups: Number(row?.lookups ?? 0),
  };
}
