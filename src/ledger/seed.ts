import { sql, type Transaction } from 'kysely';
import type { Seeded, SeedRow } from '../core/backfill.ts';
import { similarId } from '../core/text/order-key.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { type Database, execute, rowOf, rowsOf, toJsonParameter } from '../db/statement.ts';
import type { DB } from '../db/tables.ts';
import { isAbout, isAboutOrder } from './evidence/apply-evidence.ts';
import { enterAsWriter } from './evidence/evidence-writers.ts';
import { neverSent } from './propose.ts';

export type Seed = {
  /** File name without its folder. */
  readonly fileName: string;
  readonly fileSha256: string;
  /** The person's reason, in their own words. */
  readonly reason: string;
  /** Login name of the person. */
  readonly seededBy: string;
  readonly rows: readonly SeedRow[];
};

export type ListedSeed = {
  readonly seedId: string;
  readonly fileName: string;
  readonly orders: number;
  readonly reason: string;
  readonly seededBy: string;
  readonly seededAt: Date;
  readonly undoneBy: string | null;
  readonly undoneAt: Date | null;
};

const BATCH_ROWS = 5_000;
const SHOWN = 3;

/**
 * Records orders that were credited elsewhere, in one transaction, so that they are never posted. Entries that
 * wait to be posted are held. Entries that may have been processed do not change and are returned as
 * `untouched`. The caller must call `decideAgain` in the same transaction.
 *
 * A file with the same content that was seeded before and not undone is returned as it is, with `isKnown`.
 */
export function seedLedger(db: Database, seed: Seed): Promise<Seeded> {
  const { fileName, fileSha256, reason, seededBy, rows } = seed;
  return inTransaction(db, async (trx) => {
    const before = await rowOf<{ seedId: string; orders: number }>(trx)`
      select s.seed_id as "seedId", s.orders::float8 from ledger.seeds s where s.file_sha256 = ${fileSha256}
        and not exists (select from ledger.seed_undos u where u.seed_id = s.seed_id)`;
    if (before !== undefined) {
      const untouched = await readUntouched(trx, before.seedId);
      return { ...before, isKnown: true, heldBack: 0, untouched };
    }
    await enterAsWriter(trx);
    const { seed_id: seedId } = await trx
      .insertInto('ledger.seeds')
      .values({
        file_name: fileName,
        file_sha256: fileSha256,
        orders: rows.length,
        reason,
        seeded_by: seededBy,
      })
      .returning('seed_id')
      .executeTakeFirstOrThrow();
    for (let from = 0; from < rows.length; from += BATCH_ROWS)
      await storeRows(trx, seedId, rows.slice(from, from + BATCH_ROWS));
    const heldBack = await execute(trx)`
      update ledger.entries e
      set state = 'held', state_reason = 'credited_elsewhere', state_changed_at = clock_timestamp()
      from ledger.evidence v
      where v.seed_id = ${seedId}::bigint and ${isAbout} and ${neverSent} and e.state = 'ready'`;
    return {
      seedId,
      isKnown: false,
      orders: rows.length,
      heldBack,
      untouched: await readUntouched(trx, seedId),
    };
  });
}

export type Undone =
  | { readonly kind: 'undone'; readonly orders: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'undone_before' };

/**
 * Undoes a seed. The next run decides again about the orders that it held, and may post them unless another
 * reason forbids it. The caller must call `decideAgain` in the same transaction.
 */
export function undoSeed(
  db: Database,
  { seedId, reason, undoneBy }: { seedId: string; reason: string; undoneBy: string },
): Promise<Undone> {
  return inTransaction(db, async (trx) => {
    const seed = await trx
      .selectFrom('ledger.seeds')
      .select('orders')
      .where('seed_id', '=', seedId)
      .executeTakeFirst();
    if (seed === undefined) return { kind: 'unknown' };
    const { numInsertedOrUpdatedRows: isNew } = await trx
      .insertInto('ledger.seed_undos')
      .values({ seed_id: seedId, reason, undone_by: undoneBy })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    if (Number(isNew) === 0) return { kind: 'undone_before' };
    // Mark the entry as withdrawn. If its order is still attributed, deciding again makes it ready.
    await execute(trx)`
      update ledger.entries e set state_reason = 'no_longer_attributed', state_changed_at = clock_timestamp()
      from ledger.evidence v
      where v.seed_id = ${seedId}::bigint and ${isAbout} and ${neverSent} and e.state = 'held'
        and e.state_reason = 'credited_elsewhere'
        and not exists (
          select from ledger.seeded_orders v where ${isAboutOrder})`;
    return { kind: 'undone', orders: Number(seed.orders) };
  });
}

/**
 * Creates the temporary table `seeded_spellings` (id, loose, order_platform): the loose forms of seeded orders whose ids are
 * not their own loose form. The ids themselves have an index in the evidence.
 *
 * @param seedId only this seed, also if it was undone; null: all that count.
 */
export async function spellSeeds(trx: Transaction<DB>, seedId: string | null): Promise<void> {
  const counts =
    seedId === null
      ? sql`not exists (select from ledger.seed_undos u where u.seed_id = v.seed_id)`
      : sql`v.seed_id = ${seedId}::bigint`;
  const seeded = await rowsOf<{ id: string; platform: string }>(trx)`
    select ledger.fold_order_id(v.order_id) as id, v.order_platform as platform
    from ledger.evidence v
    where v.seed_id is not null and v.order_id !~ '^[1-9][0-9]*$' and ${counts}`;
  await execute(trx)`drop table if exists pg_temp.seeded_spellings`;
  await execute(trx)`
    create temporary table seeded_spellings (id text, loose text, order_platform text) on commit drop`;
  for (let from = 0; from < seeded.length; from += BATCH_ROWS) {
    const rows = seeded.slice(from, from + BATCH_ROWS).map((row) => ({ ...row, loose: similarId(row.id) }));
    await execute(trx)`
      insert into seeded_spellings
      select s.id, s.loose, s.platform
      from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb) as s(id text, loose text, platform text)
      where s.loose is not null`;
  }
  await execute(trx)`create index on seeded_spellings (loose)`;
}

/** Lists all seeds, newest first. */
export async function listSeeds(db: Database): Promise<readonly ListedSeed[]> {
  return rowsOf<ListedSeed>(db)`
    select s.seed_id as "seedId", s.file_name as "fileName", s.orders::float8, s.reason,
      s.seeded_by as "seededBy", s.seeded_at as "seededAt",
      u.undone_by as "undoneBy", u.undone_at as "undoneAt"
    from ledger.seeds s left join ledger.seed_undos u using (seed_id) order by s.seed_id desc`;
}

/**
 * Stores the rows of a seed as evidence. The digest includes the seed's number, because the same order in
 * another seed is separate evidence.
 */
async function storeRows(trx: Transaction<DB>, seedId: string, rows: readonly SeedRow[]): Promise<void> {
  await execute(trx)`
    insert into ledger.evidence (kind, seed_id, order_platform, order_id, entry_id, deal_id, collab_id,
      amount, currency, reason, body_sha256)
    select 'seeded', ${seedId}::bigint, v.order_platform, v.order_id,
      (select e.entry_id from ledger.entries e where ${isAbout} order by e.entry_id limit 1),
      v.deal_id, v.collab_id, v.amount::numeric, v.currency, v.reason,
      encode(sha256(convert_to(jsonb_build_array('seed', ${seedId}::bigint, v.order_platform,
              v.order_id)::text,
            'UTF8')),
        'hex')
    from (
      select s."orderPlatform" as order_platform, s."orderId" as order_id, s."dealId" as deal_id,
        s."collabId" as collab_id, s.amount, s.currency, s.reason
      from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb) as s(
        "orderPlatform" text, "orderId" text, amount text, currency text, "dealId" text, "collabId" text,
        reason text)
    ) v`;
}

async function readUntouched(trx: Transaction<DB>, seedId: string): Promise<Seeded['untouched']> {
  return rowsOf<Seeded['untouched'][number]>(trx)`
    select e.state, count(*)::float8 as orders,
      (array_agg(e.order_id order by e.entry_id))[1:${sql.lit(SHOWN)}] as examples
    from ledger.evidence v join ledger.entries e on ${isAbout}
    where v.seed_id = ${seedId}::bigint and not ${neverSent}
    group by e.state order by e.state`;
}
