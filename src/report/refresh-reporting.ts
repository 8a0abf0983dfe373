import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import type { DB } from '../db/tables.ts';
import { addUpDays } from './add-up-days.ts';
import { standingOfOrders } from './standing.ts';

export type Refreshed = {
  /** Orders that stand otherwise than before. */
  readonly orders: number;
  /** Days whose sums were made anew. */
  readonly days: number;
};

/** From so many changed orders on the planner is told; below, what it knows is good enough. */
const MANY_ORDERS = 10_000;

/**
 * Brings `reporting` up to date with what one job has decided and what the ledger has recorded: in one commit, so that a reader never sees
 * half of it, and one refresh at a time.
 *
 * It asks no clock what has changed but compares: files whose decisions are others than those it has counted, and orders that were
 * open when it last looked. So it makes no difference where the run before was killed.
 */
export function refreshReporting(db: Database, options: { readonly job: string }): Promise<Refreshed> {
  return inTransaction(db, async (trx) => {
    await sql`select set_config('jit', 'off', true), set_config('work_mem', '64MB', true)`.execute(trx);
    await sql`update reporting.refresh set refreshed_at = clock_timestamp()`.execute(trx);
    await sql`drop table if exists pg_temp.changed_files, pg_temp.changed_orders, pg_temp.new_standings, pg_temp.changed_days`.execute(
      trx,
    );
    await gatherChangedOrders(trx, options.job);
    const orders = await gatherNewStandings(trx, options.job);
    if (orders > 0) await replaceStandings(trx);
    const days = orders > 0 ? await addUpDays(trx) : 0;
    await sql`
      insert into reporting.counted_files (job, source_file_id, attributed_at)
      select ${options.job}, source_file_id, attributed_at from changed_files
      on conflict (job, source_file_id) do update set attributed_at = excluded.attributed_at`.execute(trx);
    if (orders >= MANY_ORDERS) await analyze(trx);
    return { orders, days };
  });
}

/** `changed_files` and `changed_orders`. By the index of their file, whatever the planner believes (`offset 0`). */
async function gatherChangedOrders(trx: Transaction<DB>, job: string): Promise<void> {
  await sql`
    create temporary table changed_files on commit drop as
    select d.source_file_id, d.attributed_at
    from intake.attributed_files d
    left join reporting.counted_files c on c.job = d.job and c.source_file_id = d.source_file_id
    where d.job = ${job} and c.attributed_at is distinct from d.attributed_at`.execute(trx);
  await sql`
    create temporary table changed_orders on commit drop as
    select o.source, o.order_id, o.order_version_id
    from changed_files f
    cross join lateral (
      select v.source, v.order_id, v.order_version_id, v.is_current from intake.orders v
      where v.source_file_id = f.source_file_id offset 0) o
    where o.is_current
    union
    select o.source, o.order_id, o.order_version_id
    from reporting.order_standings s
    join intake.orders o on o.source = s.source and o.order_id = s.order_id and o.is_current
    where s.job = ${job} and s.is_open`.execute(trx);
  await sql`analyze changed_orders`.execute(trx);
}

/** `new_standings`: those of them that stand otherwise than `order_standings` says, and `changed_days`: their days, before and now. */
async function gatherNewStandings(trx: Transaction<DB>, job: string): Promise<number> {
  await sql`
    create temporary table new_standings on commit drop as
    select n.*, s.job is null as is_new from (${standingOfOrders({ job, orders: sql`changed_orders` })}) n
    left join reporting.order_standings s on s.job = n.job and s.source = n.source and s.order_id = n.order_id
    where s.job is null or row(n.*) is distinct from row(s.*)`.execute(trx);
  await sql`analyze new_standings`.execute(trx);
  await sql`
    create temporary table changed_days on commit drop as
    select day_utc from new_standings
    union
    select s.day_utc from new_standings n
    join reporting.order_standings s on s.job = n.job and s.source = n.source and s.order_id = n.order_id`.execute(
    trx,
  );
  await sql`analyze changed_days`.execute(trx);
  const { rows } = await sql<{ orders: string }>`select count(*) as orders from new_standings`.execute(trx);
  return Number(rows[0]?.orders ?? 0);
}

/** Nobody else writes here meanwhile, so a plain insert does, which takes half the time of one that looks for conflicts. */
async function replaceStandings(trx: Transaction<DB>): Promise<void> {
  await sql`
    update reporting.order_standings s
    set order_version_id = n.order_version_id, entry_id = n.entry_id, ordered_at = n.ordered_at, day_utc = n.day_utc,
        standing = n.standing, standing_reason = n.standing_reason, standing_at = n.standing_at, is_open = n.is_open,
        matched_by = n.matched_by, matched_value = n.matched_value, target = n.target, brand_id = n.brand_id, deal_id = n.deal_id,
        collab_id = n.collab_id, influencer_handle = n.influencer_handle, currency = n.currency, amount = n.amount
    from new_standings n
    where not n.is_new and s.job = n.job and s.source = n.source and s.order_id = n.order_id`.execute(trx);
  await sql`
    insert into reporting.order_standings (job, source, order_id, order_version_id, entry_id, ordered_at, day_utc, standing,
      standing_reason, standing_at, is_open, matched_by, matched_value, target, brand_id, deal_id, collab_id, influencer_handle, currency,
      amount)
    select job, source, order_id, order_version_id, entry_id, ordered_at, day_utc, standing, standing_reason, standing_at, is_open,
      matched_by, matched_value, target, brand_id, deal_id, collab_id, influencer_handle, currency, amount
    from new_standings where is_new order by day_utc, order_version_id`.execute(trx);
}

/** The embedded database has nobody else who does it. Where the role may not, the server says so and goes on: its autovacuum does it. */
async function analyze(trx: Transaction<DB>): Promise<void> {
  await sql`analyze reporting.order_standings, reporting.funnel_days, reporting.deal_days, reporting.brand_days, reporting.code_days`.execute(
    trx,
  );
}
