import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import { countOf } from '../../src/db/statement.ts';

/** Newest orders of a source that are compared. */
const COMPARED = 5_000;

/**
 * Counts the credited orders of a source that equal one of other sources in code, amount and day, if all of its orders are
 * dated at midnight.
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
