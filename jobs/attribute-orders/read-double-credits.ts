import { sql } from 'kysely';
import { countOf, type Database, rowOf } from '../../src/db/statement.ts';

/** Newest orders of a source that are compared. */
const COMPARED = 5_000;

/**
 * Counts the credited orders of a source that equal one of other sources in code, amount and day, if all of
 * its orders are dated at midnight.
 */
export function countAlike(
  db: Database,
  { source, others, timeZone }: { source: string; others: readonly string[]; timeZone: string },
): Promise<number> {
  const dayOf = (order: string) =>
    sql`(${sql.ref(`${order}.placed_at`)} at time zone ${timeZone}::text)::date`;
  return countOf(db)`
    with dated as materialized (
      select o.order_id, o.placed_at from intake.orders o
      where o.source = ${source} and o.is_current and o.placed_at is not null
      order by o.order_version_id desc limit ${sql.lit(COMPARED)}
    )
    select count(*)
    from dated d
    join intake.attributions a
      on a.source = ${source} and a.order_id = d.order_id and a.outcome = 'attributed'
    where (select bool_and((o.placed_at at time zone ${timeZone}::text)::time = '00:00') from dated o)
      and exists (
        select from intake.attributions b
        cross join lateral (select o.placed_at from intake.orders o
          where o.order_version_id = b.order_version_id limit 1) o
        where b.source = any(${[...others]}::text[]) and b.outcome = 'attributed' and b.brand_id = a.brand_id
          and b.amount = a.amount and b.currency = a.currency
          and lower(b.matched_value) = lower(a.matched_value) and ${dayOf('o')} = ${dayOf('d')})`;
}

/** Orders of a job's exports that someone else has credited, according to signed events of the service. */
export type OtherPosters = { readonly orders: number; readonly latestOrderId: string | null };

/** Older events tell more about the past than about the present. */
const EVENT_DAYS = 30;

/**
 * Finds orders of the job's exports with an event of the last 30 days, although no request of this project
 * for them may have been processed.
 *
 * @param platforms the `order_platform` of each of the job's sources.
 */
export async function findOtherPosters(
  db: Database,
  platforms: readonly { readonly source: string; readonly platform: string }[],
): Promise<OtherPosters> {
  const row = await rowOf<OtherPosters>(db)`
    select count(distinct v.order_id)::float8 as orders,
      (array_agg(v.order_id order by v.received_at desc))[1] as "latestOrderId"
    from jsonb_to_recordset(${JSON.stringify(platforms)}::jsonb) as p(source text, platform text)
    join intake.orders o on o.source = p.source and o.is_current
    join ledger.evidence v on ledger.fold_order_id(v.order_id) = ledger.fold_order_id(o.order_id)
      and v.kind = 'webhook_order'
      and ledger.is_platform(v.order_platform, p.platform)
      and v.received_at > now() - make_interval(days => ${EVENT_DAYS})
    where not exists (
      select from ledger.entries e
      where ledger.fold_order_id(e.order_id) = ledger.fold_order_id(o.order_id) and e.effect = 'referral'
        and ledger.is_platform(e.order_platform, p.platform) and e.attempt > e.not_sent)`;
  return row ?? { orders: 0, latestOrderId: null };
}
