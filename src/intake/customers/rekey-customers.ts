import { type RawBuilder, sql } from 'kysely';
import type { RekeyedHash } from '../../core/customer.ts';
import { toUuidArrayParameter } from '../../db/array-parameters.ts';
import { type DatabaseTransaction, inTransaction } from '../../db/in-transaction.ts';
import { type Database, execute, rowsOf } from '../../db/statement.ts';

/*
 * Moves customers from the previous hash key to the current one. A new hash needs the address, and the
 * database only has the addresses of customers who wait to be sent. These move when a run begins. All other
 * customers move when an export contains them, and until then both keys are needed. Each statement moves
 * whole customers, so a run that is killed has moved some of them and the next run moves the rest.
 */

/** SQL for the number of the current key, for inserted rows; 1 if no key was bound yet. */
export const CURRENT_KEY_NO: RawBuilder<number> = sql`coalesce((select key_no from intake.customer_key), 1)`;

/** The same for orders, with null instead of 1: nearly all orders have the first key or no key. */
export const ORDER_KEY_NO: RawBuilder<number | null> = sql`nullif(${CURRENT_KEY_NO}, 1)`;

/**
 * Moves customers and the results of their look-ups to the current key. Hashes that are not known under the
 * previous key are ignored.
 *
 * @returns the number of customers moved.
 */
export async function rekeyCustomers(db: Database, hashes: readonly RekeyedHash[]): Promise<number> {
  if (hashes.length === 0) return 0;
  const previous = toUuidArrayParameter(hashes.map((hash) => hash.previous));
  const current = toUuidArrayParameter(hashes.map((hash) => hash.current));
  const pairs = sql`rows from (unnest(${previous}::uuid[]), unnest(${current}::uuid[])) as p(previous, current)`;
  return inTransaction(db, async (trx) => {
    await uniteDoubles(trx, pairs, previous);
    await execute(trx)`
      update intake.lookups l set customer_hash = p.current from ${pairs}
      where l.customer_hash = p.previous and l.customer_hash = any (${previous}::uuid[])
        and not exists (select from intake.lookups n where n.customer_hash = p.current)`;
    return execute(trx)`
      update intake.customers c set customer_hash = p.current, key_no = ${CURRENT_KEY_NO} from ${pairs}
      where c.customer_hash = p.previous and c.customer_hash = any (${previous}::uuid[])`;
  });
}

/**
 * Merges customers who are known under both keys, which happens if the previous key was in use again for a
 * while. A merged customer has unsubscribed if either one has, and keeps the higher number and the later time
 * of submissions.
 */
async function uniteDoubles(trx: DatabaseTransaction, pairs: RawBuilder<unknown>, previous: Buffer) {
  const rows = await rowsOf<{ previous: string }>(trx)`
    update intake.customers n
    set is_unsubscribed = n.is_unsubscribed or o.is_unsubscribed, said_yes = n.said_yes or o.said_yes,
        consented_at = greatest(n.consented_at, o.consented_at),
        refused_at = greatest(n.refused_at, o.refused_at),
        earlier_submissions = greatest(n.earlier_submissions, o.earlier_submissions,
          (b.state = 'accepted')::integer),
        earlier_submitted_at = greatest(n.earlier_submitted_at, o.earlier_submitted_at,
          case when b.state = 'accepted' then b.settled_at end)
    from ${pairs}
    join intake.customers o on o.customer_hash = p.previous
    left join intake.identify_batches b on b.batch_id = o.batch_id
    where n.customer_hash = p.current and o.customer_hash = any (${previous}::uuid[])
    returning encode(uuid_send(o.customer_hash), 'hex') as previous`;
  if (rows.length === 0) return;
  const doubles = toUuidArrayParameter(rows.map((row) => row.previous));
  await execute(trx)`delete from intake.customers where customer_hash = any (${doubles}::uuid[])`;
}

/**
 * Moves the customer keys of a source's orders. A customer who orders again under the new key is then
 * recognised as a returning customer. No batch of the source may be on its way to the database.
 */
export async function rekeyOrders(
  db: Database,
  { source, hashes }: { source: string; hashes: readonly RekeyedHash[] },
): Promise<void> {
  const previous = toUuidArrayParameter(hashes.map((hash) => hash.previous));
  const current = toUuidArrayParameter(hashes.map((hash) => hash.current));
  await execute(db)`
    update intake.orders o set customer_key = p.current, customer_key_no = ${ORDER_KEY_NO}
    from rows from (unnest(${previous}::uuid[]), unnest(${current}::uuid[])) as p(previous, current)
    where o.customer_key = p.previous and o.customer_key = any (${previous}::uuid[]) and o.source = ${source}`;
}

/** Moves tombstones, so that customers who were forgotten under the previous key stay forgotten. */
export async function rekeyTombstones(
  db: Database,
  { hashes, fingerprint }: { hashes: readonly RekeyedHash[]; fingerprint: string },
): Promise<void> {
  for (const { previous, current } of hashes)
    await execute(db)`
      with moved as (delete from intake.forgotten_customers where tombstone = ${previous}::uuid returning *)
      insert into intake.forgotten_customers (tombstone, key_fingerprint, forgotten_at, searched_at)
      select ${current}::uuid, ${fingerprint}, forgotten_at, searched_at from moved on conflict do nothing`;
}

/** Computes the hashes of an address for a brand, under both keys. */
export type RekeyAddress = (brandId: string, address: string) => RekeyedHash;

/**
 * Moves the customers of waiting batches, whose addresses are in the database. Each batch is one transaction.
 */
export async function rekeyWaiting(db: Database, rekey: RekeyAddress): Promise<void> {
  for (;;) {
    const batch = await db
      .selectFrom('intake.waiting_batches')
      .select(['batch_id as batchId', 'brand_id as brandId', 'influencer_list as influencerList'])
      .where('key_no', '<', CURRENT_KEY_NO)
      .orderBy('batch_id')
      .limit(1)
      .executeTakeFirst();
    if (batch === undefined) return;
    const addresses = JSON.parse(batch.influencerList) as string[];
    const hashes = addresses.map((address) => rekey(batch.brandId, address));
    await inTransaction(db, (trx) => rekeyBatch(trx, batch.batchId, hashes));
  }
}

/** Moves a waiting batch and its customers to the current key. @param hashes those of all its addresses, in order. */
export async function rekeyBatch(
  trx: DatabaseTransaction,
  batchId: string,
  hashes: readonly RekeyedHash[],
): Promise<void> {
  await rekeyCustomers(trx, hashes);
  await trx
    .updateTable('intake.waiting_batches')
    .set({ customer_hashes: hashes.map(({ current }) => current), key_no: CURRENT_KEY_NO })
    .where('batch_id', '=', batchId)
    .execute();
}

/** What is known only under the previous key. */
export type PreviousKey = {
  /** Null if there is no previous key. */
  readonly fingerprint: string | null;
  readonly rotatedAt: Date | null;
  readonly customers: number;
  readonly customersInAll: number;
  readonly forgotten: number;
  /** Number of orders whose customer_key was made with it. */
  readonly orders: number;
};

/**
 * Counts what would be lost with the previous key. Reads all customers and, if there is a previous key, all
 * orders.
 */
export async function readPreviousKey(db: Database): Promise<PreviousKey> {
  const rows = await rowsOf<PreviousKey>(db)`
    select k.previous_fingerprint as fingerprint, k.rotated_at as "rotatedAt",
      (select count(*) from intake.customers c where c.key_no < k.key_no)::integer as customers,
      (select count(*) from intake.customers)::integer as "customersInAll",
      (select count(*) from intake.forgotten_customers f
        where f.key_fingerprint <> k.fingerprint)::integer as forgotten,
      case when k.previous_fingerprint is null then 0 else (
        select count(*) from intake.orders o
        where o.is_current and o.customer_key is not null
          and coalesce(o.customer_key_no, 1) < k.key_no) end::integer as orders
    from intake.customer_key k`;
  return (
    rows[0] ?? {
      fingerprint: null,
      rotatedAt: null,
      customers: 0,
      customersInAll: 0,
      forgotten: 0,
      orders: 0,
    }
  );
}

/**
 * Retires the previous key, and deletes customers and tombstones that are known only under it, because their
 * digests could no longer be matched.
 */
export async function retirePreviousKey(trx: DatabaseTransaction): Promise<void> {
  await execute(trx)`
    delete from intake.lookups l using intake.customers c, intake.customer_key k
    where c.customer_hash = l.customer_hash and c.key_no < k.key_no`;
  await execute(trx)`delete from intake.customers c using intake.customer_key k where c.key_no < k.key_no`;
  await execute(trx)`
    delete from intake.forgotten_customers f using intake.customer_key k
    where f.key_fingerprint <> k.fingerprint`;
  await forgetPreviousKey(trx);
}

/** Ends the rotation of the key: no digest is made with the previous one any more. */
export async function forgetPreviousKey(db: Database): Promise<void> {
  await db.updateTable('intake.customer_key').set({ previous_fingerprint: null }).execute();
}
