import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';
import { addToDealTotals, noteDealsBefore } from './deal-totals.ts';

/**
 * Recalculates all sums of some days from their orders. A sum that is always recalculated from its parts
 * cannot drift away from them.
 *
 * @param dates days in UTC, YYYY-MM-DD.
 */
export async function addUpDays(trx: Transaction<DB>, dates: readonly string[]): Promise<void> {
  const days = sql`unnest(string_to_array(${dates.join(',')}::text, ',')::date[])`;
  const deals = ofDays('reporting.deal_days', days);
  await noteDealsBefore(trx, deals);
  for (const table of ['funnel_days', 'deal_days', 'brand_days', 'code_days', 'code_use_days'])
    await sql`delete from ${sql.table(`reporting.${table}`)} where day_utc = any (array(select ${days}))`.execute(
      trx,
    );
  const orders = ofDays('reporting.order_dispositions', days);
  // Forces the index on days, even if the planner expects each day to contain many of the orders.
  await sql`select set_config('enable_seqscan', 'off', true)`.execute(trx);
  await sql`
    insert into reporting.funnel_days (day_utc, job, source, currency, disposition, disposition_reason, orders, amount)
    select day_utc, job, source, currency, disposition, disposition_reason, count(*), sum(amount)
    from ${orders}
    group by 1, 2, 3, 4, 5, 6 order by 1`.execute(trx);
  await addUpDeals(trx, orders);
  await addUpBrands(trx, deals);
  await addUpCodes(trx, orders);
  // Last, because the other partition may wait for these rows until this step ends.
  await addToDealTotals(trx, deals);
  await sql`select set_config('enable_seqscan', 'on', true)`.execute(trx);
}

/**
 * Rows `s` of a table, read day by day. Without the lateral join, the planner might read the whole table in
 * the order of the grouping.
 */
function ofDays(table: string, days: RawBuilder<unknown>): Rows {
  return sql`${days} as d(day) cross join lateral (select s.* from ${sql.table(table)} s where s.day_utc = d.day offset 0) s`;
}

type Rows = RawBuilder<unknown>;

async function addUpDeals(trx: Transaction<DB>, orders: Rows): Promise<void> {
  await sql`
    insert into reporting.deal_days (day_utc, target, brand_id, deal_id, collab_id, influencer_handle, currency, attributed_orders,
      accepted_orders, ready_orders, in_doubt_orders, held_orders, rejected_orders, attributed_amount, accepted_amount, in_doubt_amount)
    select day_utc, target, brand_id, max(deal_id), max(collab_id), max(influencer_handle), currency, count(*),
      count(*) filter (where disposition = 'accepted'), count(*) filter (where disposition = 'ready'),
      count(*) filter (where disposition = 'in_doubt'), count(*) filter (where disposition = 'held'),
      count(*) filter (where disposition = 'rejected'), sum(amount), coalesce(sum(amount) filter (where disposition = 'accepted'), 0),
      coalesce(sum(amount) filter (where disposition = 'in_doubt'), 0)
    from ${orders}
    where target is not null
    group by day_utc, target, brand_id, currency order by day_utc`.execute(trx);
}

async function addUpBrands(trx: Transaction<DB>, deals: Rows): Promise<void> {
  await sql`
    insert into reporting.brand_days (day_utc, brand_id, currency, deals, attributed_orders, accepted_orders, ready_orders,
      in_doubt_orders, held_orders, rejected_orders, attributed_amount, accepted_amount, in_doubt_amount)
    select day_utc, brand_id, currency, count(*), sum(attributed_orders), sum(accepted_orders), sum(ready_orders),
      sum(in_doubt_orders), sum(held_orders), sum(rejected_orders), sum(attributed_amount), sum(accepted_amount), sum(in_doubt_amount)
    from ${deals}
    where brand_id is not null
    group by 1, 2, 3 order by 1`.execute(trx);
}

/**
 * Adds up the codes without an owner, and the use of all codes, with one look-up of each order. For an unattributed
 * order without a code, its links count, and without links the deal or handle in the export. The use of a code
 * counts an order once, even if several jobs decide about it or several sources state it.
 */
async function addUpCodes(trx: Transaction<DB>, orders: Rows): Promise<void> {
  await sql`
    with carrying as materialized (
      select s.day_utc, s.job, s.source, s.order_id, s.currency, s.amount, cardinality(o.links) > 0 as has_link,
        case when cardinality(o.codes) > 0 then 'code' when cardinality(o.links) > 0 then 'link' else 'explicit' end as carried_as,
        case when s.disposition <> 'unattributed' then null
          when cardinality(o.codes) > 0 then o.codes
          when cardinality(o.links) > 0 then o.links
          else array_remove(array[coalesce(o.influencer_handle, o.deal_id, o.collab_id)], null) end as unowned,
        case when o.exclusion is null and o.cancelled_at is null
          and s.disposition_reason is distinct from 'known_from_another_source' and s.disposition_reason is distinct from 'source_removed'
          then o.codes_folded end as used
      from ${orders}
      cross join lateral (select o.* from intake.orders o where o.order_version_id = s.order_version_id limit 1) o
      where s.disposition = 'unattributed' or cardinality(o.codes_folded) > 0
    ),
    noted as (
      insert into reporting.code_days (day_utc, job, source, code_folded, code, carried_as, currency, orders, amount)
      select k.day_utc, k.job, k.source, c.folded, min(c.code), max(k.carried_as), k.currency, sum(k.orders), sum(k.amount)
      from (
        select day_utc, job, source, currency, unowned, carried_as, count(*) as orders, sum(amount) as amount
        from carrying where cardinality(unowned) > 0 group by 1, 2, 3, 4, 5, 6) k
      cross join lateral (
        select upper(regexp_replace(code, '\\s', '', 'g')) as folded, min(code) as code
        from (select reporting.without_addresses(carried) as code from unnest(k.unowned) as carried) masked
        group by 1
      ) c
      group by k.day_utc, k.job, k.source, c.folded, k.currency order by k.day_utc
    )
    insert into reporting.code_use_days (day_utc, code_folded, orders, without_link)
    select day_utc, code, count(*), count(*) filter (where not has_link)
    from (
      select distinct k.day_utc, c.code, k.source, k.order_id, k.has_link
      from carrying k
      join (
        select u.used, c.code from (select distinct used from carrying where cardinality(used) > 0) u
        cross join lateral unnest(u.used) as c(code)
        where c.code = reporting.without_addresses(c.code)) c on c.used = k.used
    ) used
    group by 1, 2 order by 1`.execute(trx);
}
