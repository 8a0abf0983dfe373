import { type RawBuilder, sql } from 'kysely';
import { isMore } from '../core/money.ts';
import { toJsonParameter } from '../db/statement.ts';
import { customerHistory, customerOf } from './customers.ts';
import type { StatementRules, Terms } from './statement.ts';

/*
 * Rows of terms.csv with conditions. A row applies to an order, does not, or it is unknown: each condition is an SQL
 * condition that is true, false, or null if a fact is unknown, and `and` has all three answers. Of the rows for an order,
 * those of its code come before those of its deal, and a lower line before a higher one. The first that applies counts.
 * If it is unknown whether one before it applies, it is unknown what the order earns.
 */

/** Whether a row says what orders earn. */
export function statesRate({ ratePercent, flat }: Terms): boolean {
  return ratePercent !== null || flat !== null;
}

/** Whether a row applies only to some orders of its days, or to some of their products. */
export function isConditional({ customer, firstDays, tier, onlySkus }: Terms): boolean {
  return customer !== null || firstDays !== null || tier !== null || onlySkus.length > 0;
}

/** Whether `chosenRows` decides about a row, or its products. The currency of a flat amount is a condition, too. */
export function isChosen(row: Terms): boolean {
  return row.flat !== null || isConditional(row);
}

/** Whether every order to which a row applies on a day meets the conditions of another one, too. */
export function includes(wide: Terms, narrow: Terms): boolean {
  return (
    (wide.customer ?? narrow.customer) === narrow.customer &&
    (wide.onlySkus.length === 0 ||
      (narrow.onlySkus.length > 0 &&
        narrow.onlySkus.every((sku) => wide.onlySkus.some((one) => includesSku(one, sku))))) &&
    (wide.firstDays === null || (narrow.firstDays !== null && narrow.firstDays <= wide.firstDays)) &&
    // Of the orders of a month, there are no more than in all.
    (wide.tier === null || wide.tier === narrow.tier || (wide.tier === 'all' && narrow.tier === 'month')) &&
    // Flat amounts in two currencies are for different orders.
    (wide.flat === null || narrow.flat === null || wide.currency === narrow.currency) &&
    (wide.fromOrders ?? 0) <= (narrow.fromOrders ?? 0) &&
    (wide.fromRevenue === null ||
      (narrow.fromRevenue !== null &&
        wide.currency === narrow.currency &&
        !isMore(wide.fromRevenue, narrow.fromRevenue)))
  );
}

/** Whether a SKU of the terms stands for another one, too: `gift-*` for `gift-1` and `gift-1*`. */
function includesSku(wide: string, narrow: string): boolean {
  return wide.endsWith('*') ? narrow.startsWith(wide.slice(0, -1)) : wide === narrow;
}

/** Whether what an order earns depends on the other orders of its deal: by a tier or a cap. */
export function isOfDeal({ tier, cap }: Terms): boolean {
  return tier !== null || cap !== null;
}

/**
 * SQL: ids of entries, and of all others that may earn something else if these do: those of their deals, if the terms of
 * the deal have tiers or a cap.
 */
export function withWholeDeals({ terms }: StatementRules, entries: RawBuilder<unknown>): RawBuilder<unknown> {
  const rows = terms.filter(isOfDeal);
  if (rows.length === 0) return entries;
  const deals = rows.flatMap(({ dealId }) => dealId ?? []);
  return sql`
    ${entries}
    union
    select e.entry_id
    from (
      select l.deal_id from ledger.entries l where l.entry_id in (${entries})
      union select k.deal_id from reporting.order_earnings k where k.entry_id in (${entries})) d
    join ledger.entries e on e.deal_id = d.deal_id and e.effect = 'referral' and e.state = 'accepted'
    where ${rows.length > deals.length} or d.deal_id = any (${deals}::text[])`;
}

/** A row of terms for SQL: its line, its deal, and the days on which it is valid. */
export function scopeOf(row: Terms): Readonly<Record<string, string | number | null>> {
  return {
    line: row.line,
    deal_id: row.dealId,
    valid_from: row.validFrom ?? '-infinity',
    valid_to: row.validTo ?? 'infinity',
  };
}

/**
 * SQL: common table expressions, the last of which, `chosen_terms`, has for each order of `accepted` the row with
 * conditions that applies, if there is one: `entry_id, line, rate, flat, currency, by_code`, and `why` if it is unknown
 * which one does.
 *
 * Needs `accepted`, and `coded` with the orders whose code has a rate without conditions: it comes before rows of the deal.
 */
export function chosenRows(rules: StatementRules): RawBuilder<unknown> {
  const ofOrders = rules.terms.filter((row) => isChosen(row) && row.onlySkus.length === 0);
  const rows = ofOrders.map((row) => ({
    ...scopeOf(row),
    code: row.codeFolded,
    rate: row.ratePercent,
    flat: row.flat,
    currency: row.currency,
    customer: row.customer,
    first_days: row.firstDays,
    from_orders: row.fromOrders,
    from_revenue: row.fromRevenue,
    tier: row.tier,
  }));
  return sql`
    conditional as materialized (
      select *
      from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb) as r (line integer, deal_id text, code text,
        rate numeric, flat numeric,
        currency text, customer text, first_days integer, from_orders integer, from_revenue numeric,
        tier text, valid_from date, valid_to date)
    ),
    candidates as materialized (
      select a.entry_id, true as by_code, r.*
      from (select entry_id, ordered_on, unnest(codes) as code from accepted) a
      join conditional r on r.code = a.code and a.ordered_on between r.valid_from and r.valid_to
      union all
      select a.entry_id, false, r.* from accepted a
      join conditional r on r.deal_id = a.deal_id and a.ordered_on between r.valid_from and r.valid_to
      where a.entry_id not in (select entry_id from coded)
    ),
    customers_known as materialized (${customerHistory(rules, { isEstimated: false })}),
    customers as (
      select a.entry_id, v.customer
      from (select distinct entry_id from candidates where customer is not null) c
      join accepted a using (entry_id)
      cross join lateral (
        select ${customerOf('o', 'h')} as customer
        from intake.orders o left join customers_known h using (source)
        where o.order_version_id = a.order_version_id limit 1) v
    ),
    starts as (${dealStarts(rules)}),
    ranked as (${ordersBefore(rules)}),
    chosen_terms as (
      select distinct on (c.entry_id) c.entry_id, c.line, c.rate, c.flat, c.by_code,
        case
          when w.applies
            then case when c.flat is not null and c.currency <> a.currency then 'unknown_currency' end
          when w.customer is null then 'unknown_customer' when w.first_days is null then 'unknown_start'
          else 'unknown_tier' end as why
      from candidates c
      join accepted a using (entry_id)
      left join customers k using (entry_id)
      left join starts s on s.deal_id = a.deal_id
      left join ranked r on r.entry_id = c.entry_id and r.tier = c.tier
      cross join lateral (
        select c.customer is null or k.customer = c.customer as customer,
          c.first_days is null or case
            when not a.is_timed then null
            when s.began_on is not null then a.ordered_on >= s.began_on
              and a.ordered_on < s.began_on + c.first_days
            when a.ordered_on >= s.read_on + c.first_days then false end as first_days,
          c.from_orders is null or case
            when not a.is_timed then null
            when r.orders >= c.from_orders - 1 then true
            when r.orders + r.uncertain < c.from_orders - 1 then false end as from_orders,
          c.from_revenue is null or case
            when not a.is_timed or c.currency <> a.currency then null
            when r.revenue >= c.from_revenue then true
            when r.uncertain = 0 then false end as from_revenue
      ) f
      cross join lateral (select f.*, f.customer and f.first_days and f.from_orders
        and f.from_revenue as applies) w
      where w.applies is distinct from false
        -- With the same conditions, there is an amount in the currency of the order.
        and not (c.flat is not null and c.currency <> a.currency and exists (
          select from candidates o
          where o.entry_id = c.entry_id and o.by_code = c.by_code and o.flat is not null
            and o.currency = a.currency
            and (o.customer, o.first_days, o.from_orders, o.from_revenue, o.tier)
              is not distinct from (c.customer, c.first_days, c.from_orders, c.from_revenue, c.tier)))
      order by c.entry_id, c.by_code desc, c.line desc
    )`;
}

/**
 * SQL: when deals began, by deal. The service does not say. `began_on` is the day on which this tool created the deal,
 * `read_on` a day on which it existed, because the mirror read it; each is null if unknown.
 */
function dealStarts({ timeZone }: StatementRules): RawBuilder<unknown> {
  const dayOf = (at: RawBuilder<unknown>) => sql`(${at} at time zone ${timeZone})::date`;
  return sql`
    select c.deal_id, ${dayOf(sql`b.at`)} as began_on, ${dayOf(sql`m.at`)} as read_on
    from (
      select distinct a.deal_id
      from candidates x join accepted a using (entry_id)
      where x.first_days is not null and a.deal_id is not null) c
    left join lateral (
      -- The time of an answer that came later, when a doubt was settled, is not that of the deal.
      select min(e.state_changed_at) as at from ledger.entries e
      where e.effect = 'create_deal' and e.state = 'accepted' and e.doubtful_attempt is null
        and e.deal_id = c.deal_id) b
        on true
    left join lateral (select min(d.first_seen_at) as at from mirror.deal_versions d
      where d.deal_id = c.deal_id) m
      on true`;
}

/**
 * SQL: text that is another one whenever a fact may have changed without a change of the orders that it is about: an
 * order that was read, a deal that was first read or created, if conditions of the terms depend on that.
 */
export function stateOfFacts({ terms }: StatementRules): RawBuilder<string> {
  const orders = sql`(select concat(count(customer_key), ' ', max(order_version_id)) from intake.orders)`;
  const deals = sql`(select concat(count(*), ' ', (select count(*) from ledger.entries where effect = 'create_deal' and state = 'accepted')) from mirror.deal_versions)`;
  return sql`concat_ws(' ', ${terms.some(({ customer }) => customer !== null) ? orders : null}::text, ${terms.some(({ firstDays }) => firstDays !== null) ? deals : null}::text)`;
}

/** SQL: the order of the orders of a deal. */
export const IN_TURN = sql`ordered_at, order_platform, order_id collate "C", entry_id rows between unbounded preceding and 1 preceding`;

/**
 * SQL: for orders of deals with tiers, the orders of the deal before it that have a net revenue, and this revenue in its
 * currency: `entry_id, tier, orders, revenue`. `uncertain` orders may have come before it, too: their net revenue or their
 * time is unknown, or another tool credited them.
 */
function ordersBefore({ returnWindowDays }: StatementRules): RawBuilder<unknown> {
  const counted = (tier: 'month' | 'all') => {
    const of = tier === 'month' ? sql`partition by deal_id, month` : sql`partition by deal_id`;
    return sql`
      select entry_id, ${tier} as tier,
        count(*) filter (where net_amount > 0 and is_timed) over (${of} order by ${IN_TURN}) as orders,
        coalesce(sum(net_amount) filter (where is_timed) over (${of}, currency order by ${IN_TURN}),
          0) as revenue,
        count(*) filter (where net_amount is null and is_timed) over (${of} order by ${IN_TURN})
          + count(*) filter (where not is_timed and net_amount is distinct from 0) over (partition by deal_id)
            + seeded as uncertain
      from of_deals`;
  };
  return sql`
    with of_deals as materialized (
      select a.*, date_trunc('month', a.ordered_on + ${returnWindowDays}::integer) as month, d.seeded
      from (
        select t.deal_id, (
          select count(*)
          from ledger.entries e
          where e.deal_id = t.deal_id and e.effect = 'referral' and e.state = 'accepted'
            and e.attempt = 0) as seeded
        from (select distinct a.deal_id from candidates c join accepted a using (entry_id)
          where c.tier is not null) t) d
      join accepted a using (deal_id)
    )
    ${counted('month')} union all ${counted('all')}`;
}
