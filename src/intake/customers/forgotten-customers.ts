import type { CustomerHash } from '../../core/customer.ts';
import { anyOf, toUuidArrayParameter } from '../../db/array-parameters.ts';
import { databaseClock } from '../../db/clock.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { countOf, type Database, execute, rowsOf } from '../../db/statement.ts';
import { membersOfBatch, takeOutGone } from './waiting-batches.ts';

/** A customer to be forgotten, identified by digests only. */
export type ForgottenCustomer = {
  /** Digest of the address that is the same for all brands. */
  readonly tombstone: CustomerHash;
  /** One hash of the customer for each brand. */
  readonly hashes: readonly CustomerHash[];
  /** Fingerprint of the key that the tombstone was made with. */
  readonly fingerprint: string;
};

/** Number of deleted rows by table. */
export type DeletedRows = Readonly<Record<string, number>>;

/**
 * Reads the tombstones of all forgotten customers. There are some hundreds a year, so they fit into memory.
 *
 * @param options.isSearched returns only customers for whom the search of all tables has finished.
 */
export async function readTombstones(
  db: Database,
  { isSearched = false }: { isSearched?: boolean } = {},
): Promise<ReadonlySet<CustomerHash>> {
  const rows = await rowsOf<{ tombstone: CustomerHash }>(db)`
    select encode(uuid_send(tombstone), 'hex') as tombstone from intake.forgotten_customers
    where searched_at is not null or not ${isSearched}::boolean`;
  return new Set(rows.map(({ tombstone }) => tombstone));
}

/**
 * Returns the brands with customers in the database. If orders have customer keys, includes the brands of
 * orders.
 */
export async function readCustomerBrands(db: Database): Promise<readonly string[]> {
  const rows = await rowsOf<{ brand_id: string }>(db)`
    select brand_id from intake.customers union select brand_id from intake.waiting_batches
    union select brand_id from intake.lookups
    union select brand_id from intake.attributions
      where brand_id is not null and exists (select from intake.orders where customer_key is not null)
    order by 1`;
  return rows.map(({ brand_id }) => brand_id);
}

/**
 * Deletes a customer by digest: the row for each brand, the results of look-ups, the address in waiting
 * batches, and the link from orders to the customer. Stores a tombstone. Call it while no run reads or sends
 * customers.
 */
export async function forgetCustomer(
  trx: DatabaseTransaction,
  { tombstone, hashes, fingerprint }: ForgottenCustomer,
): Promise<DeletedRows> {
  const waiting = await takeOutOfBatches(trx, hashes);
  const lookups = await trx
    .deleteFrom('intake.lookups')
    .where('customer_hash', '=', anyOf(hashes))
    .executeTakeFirst();
  const customers = await trx
    .deleteFrom('intake.customers')
    .where('customer_hash', '=', anyOf(hashes))
    .executeTakeFirst();
  const keys = await trx
    .updateTable('intake.orders')
    .set({ customer_key: null, customer_key_no: null })
    .where('customer_key', '=', anyOf(hashes))
    .executeTakeFirst();
  await execute(trx)`
    insert into intake.forgotten_customers (tombstone, key_fingerprint)
    values (${tombstone}::uuid, ${fingerprint})
    on conflict (tombstone) do update set searched_at = null`;
  return {
    'intake.customers': Number(customers.numDeletedRows),
    'intake.lookups': Number(lookups.numDeletedRows),
    'intake.waiting_batches': waiting,
    'intake.orders.customer_key': Number(keys.numUpdatedRows),
  };
}

/** Records that the search of all tables for the address has finished. */
export async function noteSearched(trx: DatabaseTransaction, tombstone: CustomerHash): Promise<void> {
  await trx
    .updateTable('intake.forgotten_customers')
    .set({ searched_at: databaseClock })
    .where('tombstone', '=', tombstone)
    .execute();
}

/** Removes the customer's address from waiting batches. @returns the number of batches that contained it. */
async function takeOutOfBatches(trx: DatabaseTransaction, hashes: readonly CustomerHash[]): Promise<number> {
  return countOf(trx)`
    with members as (
      select b.batch_id, m.address, m.hash, m.place,
        m.hash = any (${toUuidArrayParameter(hashes)}::uuid[]) as is_gone
      from intake.waiting_batches b cross join ${membersOfBatch}
      where b.customer_hashes && ${toUuidArrayParameter(hashes)}::uuid[]
    ),
    ${takeOutGone}
    select count(*) as batches from rebuilt`;
}
