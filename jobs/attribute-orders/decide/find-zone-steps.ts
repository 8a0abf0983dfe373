import { sql, type Transaction } from 'kysely';
import { ZONE_HOURS, ZONE_MINUTES } from '../../../src/core/order.ts';
import { rowsOf } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import { minutesBetween, statedAmount } from '../../../src/intake/orders/order-columns.ts';
import { type AttributionRules, placesOf } from './decisions.ts';

/**
 * Orders of a source that are compared with other sources, the files that they are taken from, days before the first order
 * that is decided, and how many prove a step.
 */
const [COMPARED, COMPARED_FILES, COMPARED_DAYS, PROOF] = [300, 30, 31, 10];

/**
 * Finds other sources that seem to state the same orders in another time zone: their orders have the codes, amount and
 * currency of recent ones of a source, and differ in time by one step of time zones. Two shops of a brand sell the same
 * things under the same codes, too, but at any time. So it is a step if half of the orders have such a counterpart, or
 * `PROOF` of them; if they are spread over the day, unlike the payments of subscriptions; if far fewer differ by some minutes
 * more or less; and by other steps, apart from one for summer and one for winter. A step of one season is one of
 * the other, an hour beside it.
 *
 * @returns steps by which orders of `source` are later than those of `other`, in both directions.
 */
export async function findZoneSteps(
  trx: Transaction<DB>,
  { sources, since }: Pick<AttributionRules, 'sources'> & { readonly since: Date },
) {
  const minutes = minutesBetween('a', 'b');
  const hours = sql.lit(ZONE_HOURS + 1);
  const step = sql.lit(ZONE_MINUTES);
  const what = sql`${statedAmount('o')} as amount, o.currency, o.codes_folded`;
  const orderedAt = sql`coalesce(o.placed_at, o.paid_at, o.first_seen_at)`;
  const bucket = sql`floor(extract(epoch from o.placed_at) / 3600 / ${hours})`;
  return rowsOf<{ source: string; other: string; step: number }>(trx)`
    with recent as materialized (
      select o.*, count(*) over (partition by o.source) as compared
      from ${placesOf(sources)}
      cross join lateral (
        select o.*
        from (
          select f.source_file_id
          from intake.source_files f
          where f.source = p.source and f.state = 'sealed' and f.read_for = 'orders'
          order by f.source_file_id desc limit ${sql.lit(COMPARED_FILES)}) f
        cross join lateral (
          select o.order_version_id, o.source, o.order_id, o.placed_at, ${what}, ${bucket} as bucket
          from intake.orders o
          where o.source_file_id = f.source_file_id and o.is_current
            and o.placed_at >= ${since}::timestamptz - make_interval(days => ${sql.lit(COMPARED_DAYS)})
          -- By the index of the file. New orders have the highest ids, as a rule.
          order by o.order_id collate "C" desc
          limit ${sql.lit(COMPARED)}) o
        order by f.source_file_id desc, o.order_id collate "C" desc
        limit ${sql.lit(COMPARED)}) o
    ),
    others as materialized (
      select o.source, o.placed_at, ${what}, ${bucket} as bucket
      from intake.orders o
      where o.is_current and ${orderedAt} between
        (select min(placed_at) from recent) - make_interval(hours => ${hours})
        and (select max(placed_at) from recent) + make_interval(hours => ${hours})
    ),
    apart as (
      select a.source, b.source as other, a.compared, a.order_version_id,
        date_trunc('minute', a.placed_at at time zone 'UTC')::time as time_of_day,
        round(${minutes} / ${step})::integer as step,
        abs(${minutes} - round(${minutes} / ${step}) * ${step}) as minutes_beside
      from (
        select a.*, a.bucket + d.bucket as in_bucket
        from recent a cross join (values (-1), (0), (1)) d(bucket)) a
      join others b on b.bucket = a.in_bucket and b.amount = a.amount and b.currency = a.currency
        and b.codes_folded = a.codes_folded and b.source <> a.source
    ),
    counted as (
      select source, other, step, max(compared) as compared,
        count(distinct order_version_id) filter (where minutes_beside < 1) as same,
        count(distinct time_of_day) filter (where minutes_beside < 1) as times,
        count(distinct order_version_id) filter (where minutes_beside >= 2) as beside
      from apart
      where step <> 0 and abs(step) <= ${sql.lit((ZONE_HOURS * 60) / ZONE_MINUTES)}
      group by source, other, step
    ),
    ranked as (
      select *, coalesce(nth_value(same, 3) over (partition by source, other order by same desc
        rows between unbounded preceding and unbounded following), 0) as third
      from counted
    ),
    found as (
      select source, other, step
      from ranked
      where times >= 3 and same >= least(greatest(3, compared / 2.0), ${sql.lit(PROOF)})
        and same > 2 * beside and same > 2 * third
    )
    select distinct f.source, f.other, f.step + season as step
    from (
      select source, other, step from found
      union all
      select other, source, -step from found) f
    cross join (values (0), (-60 / ${step}), (60 / ${step})) s(season)
    where f.step + season <> 0`;
}
