import { sql } from 'kysely';
import { toUuidArrayParameter } from '../../db/array-parameters.ts';
import type { Database } from '../../db/connect.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import type { StatedCustomer } from '../../model/customer.ts';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import { toCustomerRows } from './placed-customer.ts';
import { CURRENT_KEY_NO, type RekeyAddress, rekeyCustomers } from './rekey-customers.ts';

/*
 * The way out when the key of the hashes is lost: nobody can be recognised by the old hashes any more, but the exports that were read may still be
 * there. Whoever stands in them counts as submitted, without being sent. So the rows are made under the new key first, while no run can begin
 * with it; then one commit puts it in force. When it is cut short before that, it is begun again.
 */

/**
 * Refuses a key that is in force, and one that is nobody's.
 *
 * @throws KnownError `customer_key_not_lost` (exit 2).
 */
export async function requireLostKey(db: Database, fingerprint: string): Promise<void> {
  const bound = await db.selectFrom('intake.customer_key').select('fingerprint').executeTakeFirst();
  if (bound !== undefined && bound.fingerprint !== fingerprint) return;
  throw new KnownError({
    code: 'customer_key_not_lost',
    message:
      bound === undefined
        ? 'No customer was hashed yet.'
        : 'The customers of this database are hashed with this key.',
    where: 'customers.hash_key',
    help: 'If the key is lost, set a new one, and run this again.',
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}

/** A file that was read for its customers to the end. */
export type SealedFile = { readonly uri: string; readonly version: string };

/** Files of a source whose customers were taken. */
export async function listSealedFiles(db: Database, source: string): Promise<readonly SealedFile[]> {
  const { rows } = await sql<SealedFile>`
    select distinct uri, version from intake.source_files
    where source = ${source} and read_for = 'customers' and state = 'sealed'`.execute(db);
  return rows;
}

/** Notes customers of such a file under the new key, as submitted: each once, however many files name them. */
export async function restoreCustomers(
  db: Database,
  {
    customers,
    brandId,
    source,
  }: {
    readonly customers: readonly StatedCustomer[];
    readonly brandId: string;
    readonly source: string;
  },
): Promise<void> {
  const once = [...new Map(customers.map((customer) => [customer.hash, customer])).values()];
  if (once.length === 0) return;
  const unsubscribed = customers.filter(({ isUnsubscribed }) => isUnsubscribed).map(({ hash }) => hash);
  const { from } = toCustomerRows(once.map((customer) => ({ customer, batchId: '0' })));
  await sql`
    insert into intake.customers (customer_hash, brand_id, source, is_unsubscribed, orders_count, spent, currency, bought_with_code,
      earlier_submissions, earlier_submitted_at, key_no)
    select g.hash, ${brandId}, ${source}, g.hash = any (${toUuidArrayParameter(unsubscribed)}::uuid[]), g.orders_count, g.spent, g.currency,
      g.with_code, 1, clock_timestamp(), ${CURRENT_KEY_NO} + 1
    from ${from}
    on conflict (customer_hash) do update set is_unsubscribed = customers.is_unsubscribed or excluded.is_unsubscribed`.execute(
    db,
  );
}

/** What is gone with the lost key. */
export type LostDigests = {
  /** Customers under the old key; those who were restored are among them. */
  readonly customers: number;
  readonly restored: number;
  /** Nobody knows who they were: they must be forgotten again. */
  readonly forgotten: number;
};

/** Puts the new key in force, and deletes what was known under the lost one. Who waits goes on waiting. */
export async function replaceLostKey(
  trx: DatabaseTransaction,
  { fingerprint, rekey }: { readonly fingerprint: string; readonly rekey: RekeyAddress },
): Promise<LostDigests> {
  const { rows } = await sql<LostDigests>`
    select count(*) filter (where c.key_no = ${CURRENT_KEY_NO})::integer as customers,
      count(*) filter (where c.key_no > ${CURRENT_KEY_NO})::integer as restored,
      (select count(*) from intake.forgotten_customers)::integer as forgotten
    from intake.customers c`.execute(trx);
  await sql`
    update intake.customer_key set fingerprint = ${fingerprint}, previous_fingerprint = null, key_no = key_no + 1,
      rotated_at = clock_timestamp()`.execute(trx);
  await keepWaiting(trx, rekey);
  await sql`delete from intake.customers where key_no < ${CURRENT_KEY_NO}`.execute(trx);
  await sql`
    delete from intake.lookups l
    where not exists (select from intake.customers c where c.customer_hash = l.customer_hash)`.execute(trx);
  await sql`delete from intake.forgotten_customers`.execute(trx);
  await sql`update intake.orders set customer_key = null, customer_key_no = null where customer_key is not null`.execute(
    trx,
  );
  return rows[0] ?? { customers: 0, restored: 0, forgotten: 0 };
}

/** Their files were read, too, but they were not submitted. */
async function keepWaiting(trx: DatabaseTransaction, rekey: RekeyAddress): Promise<void> {
  const { rows } = await sql<{ batchId: string; brandId: string; influencerList: string; hashes: string }>`
    select batch_id as "batchId", brand_id as "brandId", influencer_list as "influencerList",
      (select string_agg(encode(uuid_send(h), 'hex'), ',' order by place) from unnest(customer_hashes) with ordinality as u(h, place)) as hashes
    from intake.waiting_batches where key_no < ${CURRENT_KEY_NO} order by batch_id`.execute(trx);
  for (const { batchId, brandId, influencerList, hashes } of rows) {
    const previous = hashes.split(',');
    const addresses = JSON.parse(influencerList) as string[];
    const pairs = addresses.map((address, place) => ({
      previous: previous[place] ?? '',
      current: rekey(brandId, address).current,
    }));
    const current = toUuidArrayParameter(pairs.map((pair) => pair.current));
    // What the old row says is true, and what was restored from the file is not: they were not submitted.
    await sql`
      delete from intake.customers n
      using rows from (unnest(${toUuidArrayParameter(previous)}::uuid[]), unnest(${current}::uuid[])) as p(previous, current),
        intake.customers o
      where n.customer_hash = p.current and o.customer_hash = p.previous`.execute(trx);
    await rekeyCustomers(trx, pairs);
    await sql`
      update intake.waiting_batches set customer_hashes = ${current}::uuid[], key_no = ${CURRENT_KEY_NO} where batch_id = ${batchId}::bigint`.execute(
      trx,
    );
  }
}
