import { sql } from 'kysely';
import { canCopy, type Database } from '../../db/connect.ts';
import { isUniqueViolation } from '../../db/server/is-unique-violation.ts';
import { type FileRead, fenceOf, NOT_AWAITING_DISK } from '../files/fence.ts';
import { type BatchedCustomer, toCustomerRows } from './batched-customer.ts';
import { copyNewCustomers } from './copy-customers.ts';
import { CURRENT_KEY_NO } from './rekey-customers.ts';

export type AddCustomersOptions = FileRead & {
  readonly brandId: string;
  /** Each customer occurs once. */
  readonly placed: readonly BatchedCustomer[];
  /**
   * A hint that none of the customers is in the database yet. Looking them up is then skipped, unless
   * inserting fails.
   */
  readonly areLikelyNew: boolean;
};

/**
 * Inserts the customers who are not in intake.customers yet, with the batch that they belong to.
 *
 * @returns the customers who were already there. Null if another reader has taken over the file; then nothing
 * was inserted.
 */
export async function addCustomers(
  db: Database,
  options: AddCustomersOptions,
): Promise<readonly BatchedCustomer[] | null> {
  try {
    return await (options.areLikelyNew && canCopy(db) ? copyNewCustomers : add)(db, options);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    if (options.areLikelyNew) return addCustomers(db, { ...options, areLikelyNew: false });
    // A reader whose lease had expired, but which is still running, has inserted one of them meanwhile. Its
    // row is now visible.
    return add(db, options);
  }
}

/**
 * Looking each customer up before the insert costs less than `on conflict`, which does a look-up too and in
 * addition writes to the WAL. `limit 1` makes the planner use the unique index for each look-up, as in
 * stage-orders.ts.
 */
const UNKNOWN = sql`
  left join lateral (select c.customer_hash from intake.customers c where c.customer_hash = g.hash limit 1) c on true
  where c.customer_hash is null`;

/** Inserts in the order of the keys, so that neighbours use the same page of the index. */
async function add(
  db: Database,
  { brandId, placed, areLikelyNew, ...read }: AddCustomersOptions,
): Promise<readonly BatchedCustomer[] | null> {
  const { rows: answer } = await sql<{ fenced: string; added: string; hashes: string | null }>`
    with fence as materialized (${fenceOf(read)}),
    added as (
      insert into intake.customers
        (customer_hash, brand_id, is_unsubscribed, source, staged_file_id, batch_id, orders_count, spent, currency, bought_with_code, said_yes,
         consented_at, refused_at, key_no)
      select g.hash, ${brandId}, g.is_out, f.source, case when not g.is_out then f.source_file_id end, case when not g.is_out then g.batch_id end,
        g.orders_count, g.spent, g.currency, g.with_code, g.said_yes, g.consented_at, g.refused_at, ${CURRENT_KEY_NO}
      from fence f
      cross join (
        select hash, coalesce(is_out, false) as is_out, batch_id, orders_count, spent, currency, with_code, said_yes, consented_at, refused_at
        from ${toCustomerRows(placed)} order by hash
      ) g
      ${areLikelyNew ? sql`` : UNKNOWN}
      returning customer_hash
    )
    select (select count(*) from fence) as fenced, count(*) as added, ${NOT_AWAITING_DISK},
      case when count(*) < ${placed.length}::integer
        then (select string_agg(encode(uuid_send(customer_hash), 'hex'), ',') from added) end as hashes
    from added`.execute(db);
  const [row] = answer;
  if (row?.fenced !== '1') return null;
  if (Number(row.added) === placed.length) return [];
  const added = new Set(row.hashes?.split(','));
  return placed.filter(({ customer }) => !added.has(customer.hash));
}
