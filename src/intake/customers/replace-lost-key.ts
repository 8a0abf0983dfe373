import { type CustomerHash, mergeConsent, type StatedCustomer } from '../../core/customer.ts';
import { refusal } from '../../core/known-error.ts';
import { toUuidArrayParameter } from '../../db/array-parameters.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { type Database, execute, rowsOf } from '../../db/statement.ts';
import { toCustomerRows } from './batched-customer.ts';
import { CURRENT_KEY_NO, type RekeyAddress, rekeyBatch } from './rekey-customers.ts';

/*
 * Recovery from a lost hash key. Old hashes can no longer be matched to customers, but the exports that were
 * read may still exist. Customers in these exports count as submitted and are not sent again. Their rows are
 * first inserted under the new key, while no run can use it. One transaction then activates the key. If it is
 * interrupted before that, the operator starts it again.
 */

/**
 * Checks that the key in use really is another one: refuses the key that is in force, and refuses if no key
 * was bound yet.
 *
 * @throws KnownError `customer_key_not_lost` (exit 2).
 */
export async function requireLostKey(db: Database, fingerprint: string): Promise<void> {
  const bound = await db.selectFrom('intake.customer_key').select('fingerprint').executeTakeFirst();
  if (bound !== undefined && bound.fingerprint !== fingerprint) return;
  throw refusal({
    code: 'customer_key_not_lost',
    message:
      bound === undefined
        ? 'No customer was hashed yet.'
        : 'The customers of this database are hashed with this key.',
    where: 'customers.hash_key',
    help: 'If the key is lost, set a new one, and run this again.',
  });
}

/** A file that was read completely for its customers. */
export type SealedFile = { readonly uri: string; readonly version: string };

/** Lists the files of a source that were sealed for their customers. */
export async function listSealedFiles(db: Database, source: string): Promise<readonly SealedFile[]> {
  return db
    .selectFrom('intake.source_files')
    .distinct()
    .select(['uri', 'version'])
    .where((eb) => eb.and({ source, read_for: 'customers', state: 'sealed' }))
    .execute();
}

/**
 * Inserts the customers of such a file under the new key, as submitted. A customer who occurs in several
 * files is inserted once.
 */
export async function restoreCustomers(
  db: Database,
  { customers, brandId, source }: { customers: readonly StatedCustomer[]; brandId: string; source: string },
): Promise<void> {
  const byHash = new Map<CustomerHash, StatedCustomer>();
  for (const customer of customers) {
    const before = byHash.get(customer.hash) ?? customer;
    byHash.set(customer.hash, { ...customer, ...mergeConsent(before, customer) });
  }
  const once = [...byHash.values()];
  if (once.length === 0) return;
  const from = toCustomerRows(once.map((customer) => ({ customer, batchId: '0' })));
  await execute(db)`
    insert into intake.customers (customer_hash, brand_id, source, is_unsubscribed, said_yes, consented_at,
      refused_at,
      orders_count, spent, currency, bought_with_code, earlier_submissions, earlier_submitted_at, key_no)
    select g.hash, ${brandId}, ${source}, coalesce(g.is_out, false), g.said_yes, g.consented_at, g.refused_at,
      g.orders_count, g.spent, g.currency, g.with_code, 1, clock_timestamp(), ${CURRENT_KEY_NO} + 1
    from ${from}
    on conflict (customer_hash) do update
    set said_yes = customers.said_yes
      or excluded.said_yes, consented_at = greatest(customers.consented_at, excluded.consented_at),
      refused_at = greatest(customers.refused_at, excluded.refused_at),
      is_unsubscribed = greatest(customers.refused_at, excluded.refused_at) is not null
        and (greatest(customers.consented_at, excluded.consented_at) > greatest(customers.refused_at,
            excluded.refused_at)) is not true`;
}

/** What was lost with the key. */
export type LostDigests = {
  /** Customers that were known under the old key, including those that were restored. */
  readonly customers: number;
  readonly restored: number;
  /** Tombstones. They can no longer be matched, so these customers must be forgotten again. */
  readonly forgotten: number;
};

/** Activates the new key, and deletes what was known under the lost one. Waiting customers keep waiting. */
export async function replaceLostKey(
  trx: DatabaseTransaction,
  { fingerprint, rekey }: { fingerprint: string; rekey: RekeyAddress },
): Promise<LostDigests> {
  const rows = await rowsOf<LostDigests>(trx)`
    select count(*) filter (where c.key_no = ${CURRENT_KEY_NO})::integer as customers,
      count(*) filter (where c.key_no > ${CURRENT_KEY_NO})::integer as restored,
      (select count(*) from intake.forgotten_customers)::integer as forgotten
    from intake.customers c`;
  await execute(trx)`
    update intake.customer_key
    set fingerprint = ${fingerprint}, previous_fingerprint = null, key_no = key_no + 1,
      rotated_at = clock_timestamp()`;
  await keepWaiting(trx, rekey);
  await trx.deleteFrom('intake.customers').where('key_no', '<', CURRENT_KEY_NO).execute();
  await execute(trx)`
    delete from intake.lookups l
    where not exists (select from intake.customers c where c.customer_hash = l.customer_hash)`;
  await trx.deleteFrom('intake.forgotten_customers').execute();
  await trx
    .updateTable('intake.orders')
    .set({ customer_key: null, customer_key_no: null })
    .where('customer_key', 'is not', null)
    .execute();
  return rows[0] ?? { customers: 0, restored: 0, forgotten: 0 };
}

/**
 * Moves waiting customers to the new key. Their files were read for the restoration too, but these customers
 * have not been submitted yet.
 */
async function keepWaiting(trx: DatabaseTransaction, rekey: RekeyAddress): Promise<void> {
  const rows = await rowsOf<{ batchId: string; brandId: string; influencerList: string; hashes: string }>(
    trx,
  )`
    select batch_id as "batchId", brand_id as "brandId", influencer_list as "influencerList",
      (select string_agg(encode(uuid_send(h), 'hex'), ',' order by place)
        from unnest(customer_hashes) with ordinality as u(h, place)) as hashes
    from intake.waiting_batches where key_no < ${CURRENT_KEY_NO} order by batch_id`;
  for (const { batchId, brandId, influencerList, hashes } of rows) {
    const previous = hashes.split(',');
    const addresses = JSON.parse(influencerList) as string[];
    const pairs = addresses.map((address, place) => ({
      previous: previous[place] ?? '',
      current: rekey(brandId, address).current,
    }));
    const current = toUuidArrayParameter(pairs.map((pair) => pair.current));
    // Delete the restored row, which wrongly says that the customer was submitted, and keep the old row.
    await execute(trx)`
      delete from intake.customers n
      using rows
      from (unnest(${toUuidArrayParameter(previous)}::uuid[]), unnest(${current}::uuid[])) as p(previous,
        current), intake.customers o
      where n.customer_hash = p.current and o.customer_hash = p.previous`;
    await rekeyBatch(trx, batchId, pairs);
  }
}
