import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';

/**
 * Adds the orders of `changed_days` up anew, whatever was there: a sum that is made from its parts cannot drift away from them.
 *
 * @returns how many days.
 */
export async function addUpDays(trx: Transaction<DB>): Promise<number> {
  for (const table of ['funnel_days', 'deal_days', 'brand_days', 'code_days'])
    await sql`delete from ${sql.table(`reporting.${table}`)} where day_utc in (select day_utc from changed_days)`.execute(
      trx,
    );
  await sql`
    insert into reporting.funnel_days (day_utc, job, source, currency, standing, standing_reason, orders, amount)
    select day_utc, job, source, currency, standing, standing_reason, count(*), sum(amount)
    from reporting.order_standings where day_utc in (select day_utc from changed_days)
    group by 1, 2, 3, 4, 5, 6 order by 1`.execute(trx);
  await addUpDeals(trx);
  await addUpCodes(trx);
  const { rows } = await sql<{ days: string }>`select count(*) as days from changed_days`.execute(trx);
  return Number(rows[0]?.days ?? 0);
}

async function addUpDeals(trx: Transaction<DB>): Promise<void> {
  await sql`
    insert into reporting.deal_days (day_utc, target, brand_id, deal_id, collab_id, influencer_handle, currency, attributed_orders,
      accepted_orders, ready_orders, in_doubt_orders, held_orders, rejected_orders, attributed_amount, accepted_amount, in_doubt_amount)
    select day_utc, target, brand_id, max(deal_id), max(collab_id), max(influencer_handle), currency, count(*),
      count(*) filter (where standing = 'accepted'), count(*) filter (where standing = 'ready'),
      count(*) filter (where standing = 'in_doubt'), count(*) filter (where standing = 'held'),
      count(*) filter (where standing = 'rejected'), sum(amount), coalesce(sum(amount) filter (where standing = 'accepted'), 0),
      coalesce(sum(amount) filter (where standing = 'in_doubt'), 0)
    from reporting.order_standings
    where day_utc in (select day_utc from changed_days) and target is not null
    group by day_utc, target, brand_id, currency order by day_utc`.execute(trx);
  await sql`
    insert into reporting.brand_days (day_utc, brand_id, currency, deals, attributed_orders, accepted_orders, ready_orders,
      in_doubt_orders, held_orders, rejected_orders, attributed_amount, accepted_amount, in_doubt_amount)
    select day_utc, brand_id, currency, count(*), sum(attributed_orders), sum(accepted_orders), sum(ready_orders),
      sum(in_doubt_orders), sum(held_orders), sum(rejected_orders), sum(attributed_amount), sum(accepted_amount), sum(in_doubt_amount)
    from reporting.deal_days
    where day_utc in (select day_utc from changed_days) and brand_id is not null
    group by 1, 2, 3 order by 1`.execute(trx);
}

/** Of an order without a code its links stand in, and without those the deal or handle that the export names. */
async function addUpCodes(trx: Transaction<DB>): Promise<void> {
  await sql`
    insert into reporting.code_days (day_utc, job, source, code_folded, code, carried_as, currency, orders, amount)
    select s.day_utc, s.job, s.source, c.folded, min(c.code), max(c.carried_as), s.currency, count(*), sum(s.amount)
    from reporting.order_standings s
    join intake.orders o on o.order_version_id = s.order_version_id
    cross join lateral (
      select upper(regexp_replace(code, '\\s', '', 'g')) as folded, min(code) as code,
        case when cardinality(o.codes) > 0 then 'code' when cardinality(o.links) > 0 then 'link' else 'explicit' end as carried_as
      from (
        select reporting.without_addresses(carried) as code from unnest(case
          when cardinality(o.codes) > 0 then o.codes
          when cardinality(o.links) > 0 then o.links
          else array_remove(array[coalesce(o.influencer_handle, o.deal_id, o.collab_id)], null)
        end) as carried
      ) masked
      group by 1
    ) c
    where s.day_utc in (select day_utc from changed_days) and s.standing = 'unattributed'
    group by s.day_utc, s.job, s.source, c.folded, s.currency order by s.day_utc`.execute(trx);
}
