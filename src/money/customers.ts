import { type RawBuilder, sql } from 'kysely';
import { toJsonParameter } from '../db/statement.ts';
import type { StatementRules } from './statement.ts';

/** Returns count a customer as new after so many days with known customers, if nobody says since when all are known. */
export const ESTIMATED_HISTORY_DAYS = 90;

/** The time of the order for version `o`, written as in the indexes of `intake.orders`. */
export const orderedAt = (o: string) =>
  sql`coalesce(${sql.ref(`${o}.placed_at`)}, ${sql.ref(`${o}.paid_at`)}, ${sql.ref(`${o}.first_seen_at`)})`;

/**
 * SQL: since when, and until when, the first orders of customers are known, by source: a query with `source`, `since`
 * and `until` (null: still).
 *
 * Only a person can say since when the exports have every order (`customersSince`). Exports contradict it with a month in
 * which most orders have no customer, or in which there is no order at all: from then on, an older order may be missing.
 *
 * @param options.isEstimated true: a source of which nobody says it is known 90 days after its first known customer.
 * Good enough for a report, and not for what is paid.
 */
export function customerHistory(
  { customersSince, timeZone }: Pick<StatementRules, 'customersSince' | 'timeZone'>,
  { isEstimated }: { isEstimated: boolean },
): RawBuilder<unknown> {
  const estimates = sql`
    union all
    select f.source, h.since, null from (select distinct source from intake.source_files) f
    cross join lateral (
      select ${orderedAt('o')} + ${ESTIMATED_HISTORY_DAYS} * interval '1 day' as since from intake.orders o
      where o.source = f.source and o.customer_key is not null order by ${orderedAt('o')} limit 1) h
    where f.source not in (select source from declared)`;
  return sql`
    with declared as materialized (
      select d.key as source, d.value::timestamp at time zone ${timeZone} as since
      from jsonb_each_text(${toJsonParameter(customersSince)}::jsonb) as d
    ),
    known as (
      select o.source, date_trunc('month', ${orderedAt('o')} at time zone ${timeZone}) as month,
        count(*) as orders, count(o.customer_key) as keyed
      from intake.orders o join declared d on d.source = o.source and ${orderedAt('o')} >= d.since
      where o.is_current group by 1, 2
    ),
    gap as (
      select min(greatest(m.month at time zone ${timeZone}, d.since)) as until
      from declared d
      left join (select source, max(month) as month from known group by 1) l on l.source = d.source
      cross join lateral generate_series(
        date_trunc('month', d.since at time zone ${timeZone}),
        coalesce(l.month, date_trunc('month', d.since at time zone ${timeZone})),
        interval '1 month') as m(month)
      left join known k on k.source = d.source and k.month = m.month
      where coalesce(k.keyed, 0) * 2 <= coalesce(k.orders, 0)
    )
    select d.source, d.since, g.until from declared d cross join gap g
    ${isEstimated ? estimates : sql``}`;
}

/**
 * SQL: whether version `o` is the first order of its customer (`new`) or not (`returning`), over all orders that were
 * neither cancelled nor a test. Null if that is unknown: without a customer key or a time, or if no earlier order is
 * known and the history `h` does not cover the order, so that there may be one.
 *
 * The same id of the same customer in another source is the same order, read twice. If that source states an earlier
 * time, it may be an order of another shop, so it is unknown.
 */
export function customerOf(o: string, h: string): RawBuilder<unknown> {
  const earlier = sql`
        select from intake.orders p
        where p.customer_key = ${sql.ref(`${o}.customer_key`)} and p.is_current and ${isSealed('p')}
          and not ${isNoOrder('p')}`;
  const isSameId = sql`ledger.fold_order_id(p.order_id) = ledger.fold_order_id(${sql.ref(`${o}.order_id`)})`;
  return sql`
    case
      when ${sql.ref(`${o}.customer_key`)} is null
        or coalesce(${sql.ref(`${o}.placed_at`)}, ${sql.ref(`${o}.paid_at`)}) is null then null
      when exists (${earlier}
          and (${orderedAt('p')}, p.source, p.order_id) < (${orderedAt(o)}, ${sql.ref(`${o}.source`)},
            ${sql.ref(`${o}.order_id`)})
          and not ${isSameId})
        then 'returning'
      when exists (${earlier}
          and ${orderedAt('p')} < ${orderedAt(o)} and p.source <> ${sql.ref(`${o}.source`)} and ${isSameId})
            then null
      when ${orderedAt(o)} >= ${sql.ref(`${h}.since`)}
        and ${orderedAt(o)} < coalesce(${sql.ref(`${h}.until`)}, 'infinity') then 'new' end`;
}

/** Condition: the file of version `o` was read to its end. */
export function isSealed(o: string) {
  return sql`(select f.state from intake.source_files f where f.source_file_id = ${sql.ref(`${o}.source_file_id`)}) = 'sealed'`;
}

/**
 * Condition: version `o` is not an order that the customer keeps, because it was cancelled or is a test. A
 * draft or a renewal of a subscription may be an order; its job decides.
 */
export function isNoOrder(o: string) {
  return sql`(coalesce(${sql.ref(`${o}.exclusion`)}, 'draft') not in ('draft', 'renewal') or ${sql.ref(`${o}.cancelled_at`)} is not null)`;
}
