import { sql } from 'kysely';
import type { CustomerHash } from '../../core/customer.ts';
import { toUuidArrayParameter } from '../../db/array-parameters.ts';
import type { Database } from '../../db/connect.ts';
import { type FileRead, fenceOf, NOT_AWAITING_DISK } from '../files/fence.ts';
import { CURRENT_KEY_NO } from './rekey-customers.ts';

/** A batch to be stored, with plain addresses. */
export type CustomersToStore = {
  readonly purpose: 'submit' | 'lookup';
  /** The batch that its customers refer to. Null if it gets a new number. */
  readonly batchId: string | null;
  readonly addresses: readonly string[];
  readonly hashes: readonly CustomerHash[];
};

/** Reserves batch numbers. @returns the numbers in ascending order. */
export async function reserveBatches(db: Database, count: number): Promise<readonly string[]> {
  if (count === 0) return [];
  const { rows } = await sql<{ batch_id: string }>`
    select nextval('intake.waiting_batches_batch_id_seq') as batch_id from generate_series(1, ${count}::integer)`.execute(
    db,
  );
  return rows.map(({ batch_id }) => batch_id);
}

/**
 * Stores batches until they are sent. @returns false if another reader has taken over the file; then nothing
 * was stored.
 */
export async function storeCustomerBatches(
  db: Database,
  options: FileRead & {
    readonly job: string;
    readonly brandId: string;
    readonly batches: readonly CustomersToStore[];
  },
): Promise<boolean> {
  const { job, brandId, batches } = options;
  const rows = batches.map(
    ({ purpose, batchId, addresses, hashes }) =>
      sql`(${purpose}::text, ${batchId}::bigint, ${JSON.stringify(addresses)}::text, ${toUuidArrayParameter(hashes)}::uuid[])`,
  );
  const { rows: answer } = await sql<{ fenced: string }>`
    with fence as materialized (${fenceOf(options)}),
    inserted as (
      insert into intake.waiting_batches (batch_id, job, brand_id, source_file_id, purpose, influencer_list, customer_hashes, key_no)
      overriding system value
      select coalesce(g.batch_id, nextval('intake.waiting_batches_batch_id_seq')), ${job}, ${brandId}, f.source_file_id, g.purpose,
        g.influencer_list, g.customer_hashes, ${CURRENT_KEY_NO}
      from fence f cross join (values ${sql.join(rows)}) as g(purpose, batch_id, influencer_list, customer_hashes)
    )
    select (select count(*) from fence) as fenced, ${NOT_AWAITING_DISK}`.execute(db);
  return answer[0]?.fenced === '1';
}
