import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';

/*
 * `reporting.deal_totals` contains the accepted orders of `reporting.deal_days`, added up over all days. Its
 * rows change by the difference between a day's old and new sums, so a refresh reads only the days that it
 * recalculates.
 */

/** Keeps the current sums of some days in a temporary table, before they are recalculated. */
export async function noteDealsBefore(trx: Transaction<DB>, deals: RawBuilder<unknown>): Promise<void> {
  await sql`
    create temporary table if not exists deal_days_before (target text, currency text, orders bigint, amount numeric) on commit drop`.execute(
    trx,
  );
  await sql`truncate pg_temp.deal_days_before`.execute(trx);
  await sql`
    insert into pg_temp.deal_days_before (target, currency, orders, amount)
    select target, currency, accepted_orders, accepted_amount from ${deals} where accepted_orders > 0`.execute(
    trx,
  );
}

/** Adds the differences between the sums that `noteDealsBefore` has kept and the current ones. */
export async function addToDealTotals(trx: Transaction<DB>, deals: RawBuilder<unknown>): Promise<void> {
  await sql`
    insert into reporting.deal_totals as t (target, currency, deal_id, influencer_handle, orders, amount)
    select target, currency, max(deal_id), max(influencer_handle), sum(orders), sum(amount)
    from (
      select target, currency, deal_id, influencer_handle, accepted_orders as orders, accepted_amount as amount
      from ${deals} where accepted_orders > 0
      union all
      select target, currency, null, null, -orders, -amount from pg_temp.deal_days_before
    ) d
    group by target, currency having sum(orders) <> 0 or sum(amount) <> 0 order by target, currency
    on conflict (target, currency) do update set orders = t.orders + excluded.orders, amount = t.amount + excluded.amount,
      deal_id = coalesce(excluded.deal_id, t.deal_id), influencer_handle = coalesce(excluded.influencer_handle, t.influencer_handle)`.execute(
    trx,
  );
}

/** Adds up all days again. */
export async function rebuildDealTotals(trx: Transaction<DB>): Promise<void> {
  await sql`delete from reporting.deal_totals`.execute(trx);
  await sql`
    insert into reporting.deal_totals (target, currency, deal_id, influencer_handle, orders, amount)
    select target, currency, max(deal_id), max(influencer_handle), sum(accepted_orders), sum(accepted_amount)
    from reporting.deal_days where accepted_orders > 0 group by target, currency`.execute(trx);
}
