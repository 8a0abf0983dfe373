import { type RawBuilder, sql } from 'kysely';
import { minorDigits } from '../core/money.ts';
import { toJsonParameter } from '../db/statement.ts';
import { amountAfter, isInSentCurrency, isOwnAdjustment } from '../ledger/propose.ts';
import { postedTo } from '../rollups/disposition.ts';
import { chosenRows, IN_TURN, isChosen, scopeOf, statesRate } from './conditions.ts';
import { scheduleTerms } from './schedule-terms.ts';
import { servedRates } from './served-rates.ts';
import type { StatementRules, Terms } from './statement.ts';

/**
 * SQL: common table expressions about accepted orders. The last one, `earnings`, has what each order earned.
 * Statements and returns use the same expressions, so they agree.
 *
 * An order earns once the service has accepted it. Its net revenue is the amount that was sent, or that of its
 * last adjustment, less the refunds that this amount does not include. It is null, unknown, if a refund is negative
 * or larger than the order, or if no rule says whether the amount includes it. Its rate comes from the terms of the
 * code that won, otherwise of its deal, on the day of the order (conditions.ts), and otherwise from the service: the
 * rate of the collaboration at that time (served-rates.ts). It counts from the day on which its return window ends.
 *
 * Only the source that is responsible for the order changes what it earned. While the order is held, or states
 * another currency than was sent, it earns what it earned before, less refunds, unless nothing of it counts any more.
 *
 * Products that the terms of its code, of its deal or of everybody exclude earn nothing. Their share of the net
 * revenue is their share of the amounts of all lines, so that discounts, shipping, tax and refunds of the whole
 * order are distributed in proportion. Products with a rate of their own have their share in the same way.
 *
 * Terms are found by joins and binary search, so the time grows with the number of orders and not with the
 * number of terms. Run it in a transaction that has called `suitLargeStatements`.
 *
 * @param entries ids of the entries to include. Null: all.
 */
export function ratedOrders(
  rules: StatementRules,
  entries: RawBuilder<unknown> | null = null,
): RawBuilder<unknown> {
  const { terms, returnWindowDays, timeZone } = rules;
  const hasChosen = terms.some((row) => isChosen(row) && row.onlySkus.length === 0);
  const products = terms.filter(({ onlySkus }) => onlySkus.length > 0);
  const codesOfProducts = products.flatMap(({ codeFolded }) => codeFolded ?? []);
  const caps = terms.filter(({ cap }) => cap !== null);
  const only = (column: RawBuilder<unknown>): RawBuilder<unknown> =>
    entries === null ? sql`` : sql`and ${column} = any (array(${entries}))`;
  return sql`
    schedules as materialized (
      select "dealId" as deal_id, code, since, rates, lines, skus
      from jsonb_to_recordset(${toJsonParameter(scheduleTerms(terms))}::jsonb)
        as s ("dealId" text, code text, since date[], rates numeric[], lines integer[], skus jsonb)
    ),
    changes as (
      select d.* from ledger.adjustments d where ${isOwnAdjustment('d')} ${only(sql`d.entry_id`)}
    ),
    accepted as materialized (
      select e.entry_id, o.order_version_id, e.source, e.order_platform, e.order_id, o.ordered_at, o.is_timed,
        (o.ordered_at at time zone ${timeZone})::date as ordered_on,
        e.deal_id, e.collab_id, e.brand_id, ${postedTo('o')} as influencer_handle, e.currency, e.amount as sent_amount,
        -- The amount less the refunds that it does not include: none with total_less_refunds. Never below zero.
        case when m.amount = 0 or o.cancelled_at is not null then 0
          when o.currency = e.currency and (o.refunded < 0 or o.refunded > o.total) then null
          when o.revenue = 'total_less_refunds' then m.amount
          when o.revenue is null and m.refunded > 0 then null
          when m.amount > m.refunded then m.amount - m.refunded
          when m.amount <= m.refunded then 0 end as net_amount,
        -- Of a decision that names no winner any more, and where something else may win than was sent, the rate of a
        -- code is unknown. Of several codes that were sent, it is not kept which one won.
        case when o.winner is not null then o.codes_folded[o.winner:o.winner]
          when o.outcome = 'held' then o.codes_folded end as codes,
        case when o.matched_by = 'code' and o.winner is null then 'lost' when o.outcome = 'held' then 'held'
          when (a.kind = 'reattributed' or o.currency is distinct from e.currency)
            and coalesce(e.body::json ->> 'order_discount_codes_used', '')
              <> case o.matched_by when 'code' then o.matched_value else array_to_string(o.codes, ', ') end
              then 'lost'
          else 'known' end as code_is
      from ledger.entries e
      join (
        select t.entry_id, t.job, t.order_version_id, t.influencer_handle, t.target, t.outcome, t.matched_by,
          t.matched_value, coalesce(s.revenue, u.revenue) as revenue, v.ordered_at, v.is_timed, v.currency,
          v.total, v.refunded, v.cancelled_at, v.replaces, v.codes, v.codes_folded,
          case when t.matched_by = 'code' then array_position(v.codes, t.matched_value) end as winner
        from intake.attributions t
        ${entries === null ? EVERY_VERSION : VERSION_BY_KEY}
        left join intake.revenue_rules u on u.job = t.job and u.source = t.source
        left join intake.sent_revenue s on s.entry_id = t.entry_id
        where t.entry_id is not null ${only(sql`t.entry_id`)}
      ) o on o.entry_id = e.entry_id and o.job = e.job
      left join (
        select distinct on (entry_id) entry_id, adjustment_id, kind, old_amount, new_amount
        from changes
        where kind <> 'held' and ${isInSentCurrency('changes')}
        order by entry_id, adjustment_id desc
      ) a on a.entry_id = e.entry_id
      left join (
        select distinct on (entry_id) entry_id, adjustment_id, new_amount
        from changes
        where kind = 'held' and new_amount is not null
        order by entry_id, adjustment_id desc
      ) h on h.entry_id = e.entry_id and h.adjustment_id > coalesce(a.adjustment_id, 0)
      cross join lateral (select ${AMOUNT} as amount, ${REFUNDED} as refunded offset 0) m
      -- An entry without an attempt was credited by another tool, and is in the statements of that tool.
      where e.effect = 'referral' and e.state = 'accepted' and e.attempt > 0 ${only(sql`e.entry_id`)}
    ),
    coded as (
      select a.entry_id, (array_agg(s.rates[p.part] order by s.lines[p.part]))[1] as rate,
        min(s.lines[p.part]) as line
      from (select entry_id, ordered_on, unnest(codes) as code from accepted) a
      join schedules s on s.code = a.code
      cross join lateral (select width_bucket(a.ordered_on, s.since) as part) p
      where s.rates[p.part] is not null
      group by a.entry_id
    ),
    ${hasChosen ? sql`${chosenRows(rules)},` : sql``}
    ${servedRates({ areAll: entries === null })},
    rated as (
      select a.*, a.ordered_on + ${returnWindowDays}::integer as due_on, w.why,
        case when w.why is null then r.rate end as order_rate,
        case when w.why is null then x.flat end as flat,
        case when w.why is null then r.rate_from end as rate_from,
        case when w.why is null and r.line is not null then array[r.line] end as order_lines
      from accepted a
      left join coded c on c.entry_id = a.entry_id
      left join schedules d on d.deal_id = a.deal_id
      left join served s on s.collab_id = a.collab_id
      left join ${hasChosen ? sql`chosen_terms` : NOTHING_CHOSEN} x on x.entry_id = a.entry_id
      cross join lateral (
        select width_bucket(a.ordered_on, d.since) as part, s.rates[v.part] as by_service,
          true = any (s.unsure[v.first_part:v.last_part])
            or true = any (s.told[v.first_part + 1:v.last_part]) as is_unsure
        from (
          select b.part, case when a.is_timed then b.part else 1 end as first_part,
            case when not a.is_timed then cardinality(s.since)
              -- A day alone: the order was placed before or after a change of that day.
              when (a.ordered_at at time zone ${timeZone})::time = '00:00'
                then width_bucket(a.ordered_at + interval '1 day', s.since)
              else b.part end as last_part
          from (select width_bucket(a.ordered_at, s.since) as part) b) v) p
      cross join lateral (
        select case when x.entry_id is null then coalesce(c.rate, d.rates[p.part], p.by_service)
          else x.rate end as rate,
          case when x.by_code or x.entry_id is null and c.rate is not null then 'code'
            when x.entry_id is not null or d.rates[p.part] is not null then 'deal'
            when p.by_service is not null then 'service' end as rate_from,
          coalesce(x.line, c.line, d.lines[p.part]) as line) r
      cross join lateral (
        select case
          when a.code_is = 'lost'
            and ${terms.some((row) => row.codeFolded !== null && statesRate(row))} then 'unknown_rate'
          when a.code_is = 'held'
            and (c.rate is not null or x.by_code or a.codes && ${codesOfProducts}::text[]) then 'unknown_rate'
          when p.is_unsure and x.entry_id is null and c.rate is null
            and d.rates[p.part] is null then 'unknown_change'
          else x.why end as why) w
      -- What is computed here is used many times below: pulled up, it would make the statement grow to megabytes.
      offset 0
    ),
    ${products.length > 0 || terms.some(({ excludedSkus }) => excludedSkus.length > 0) ? linedOrders(products) : NOTHING_LINED},
    uncapped as (
      select r.*,
        -- Zero revenue earns zero at any rate. A cancelled order no longer tells which code it was credited for.
        case when r.net_amount = r.excluded_amount then 0
          when r.excluded_amount is null then null
          when r.flat is not null then r.flat
          else round((coalesce(r.rest_amount, r.net_amount - r.excluded_amount) * r.order_rate
              + r.product_rates) / 100,
            ${DIGITS_OF_ORDER}) end as uncapped_amount
      from lined r
      offset 0
    ),
    ${caps.length > 0 ? sql`${cappedOrders(caps)},` : sql``}
    earnings as (
      select 'order:' || entry_id as subject, r.*,
        ${caps.length > 0 ? sql`` : sql`uncapped_amount as earned_amount, rate_lines as terms_lines,`}
        coalesce(why, case when coalesce(order_rate, flat) is null then 'unknown_rate'
          when excluded_amount is null then 'unknown_lines' else 'unknown_currency' end) as unknown_why
      from ${caps.length > 0 ? sql`capped` : sql`uncapped`} r
    )`;
}

/**
 * SQL: `capped`, the orders of `uncapped` with what they earn in the end: those of a deal earn, one after the other, until
 * their month has reached the cap, which is one for the whole month in which they are due. It is unknown what an order
 * earns if its deal has a cap, but none in its currency.
 */
function cappedOrders(rows: readonly Terms[]): RawBuilder<unknown> {
  const caps = rows.map((row) => ({ ...scopeOf(row), currency: row.currency, cap: row.cap }));
  return sql`
    caps as materialized (
      select *
      from jsonb_to_recordset(${toJsonParameter(caps)}::jsonb) as c (line integer, deal_id text,
        currency text, cap numeric, valid_from date, valid_to date)
    ),
    capped as (
      select u.*, e.earned_amount,
        case
          when e.earned_amount < u.uncapped_amount
            and c.line <> all (coalesce(u.rate_lines, '{}')) then u.rate_lines || c.line
          else u.rate_lines end as terms_lines
      from (
        select u.*, coalesce(sum(uncapped_amount) over (
          partition by deal_id, currency, date_trunc('month', due_on) order by ${IN_TURN}),
          0) as earned_before
        from uncapped u) u
      left join caps c on c.deal_id = u.deal_id and c.currency = u.currency
        and u.due_on between c.valid_from and c.valid_to
      cross join lateral (
        -- least() passes over a null: what is unknown stays unknown.
        select case when u.uncapped_amount is null then null
          when u.uncapped_amount = 0
            or c.line is not null then least(u.uncapped_amount, greatest(0, c.cap - u.earned_before))
          when not exists (
            select from caps o where o.deal_id = u.deal_id and u.due_on between o.valid_from and o.valid_to)
              then u.uncapped_amount end as earned_amount) e
    )`;
}

const NOTHING_CHOSEN = sql`(
  select null::bigint as entry_id, null::integer as line, null::numeric as rate, null::numeric as flat,
    null::boolean as by_code, null::text as why
  where false)`;

/** Number of decimals, for currencies that do not have two. */
const DIGITS = Object.fromEntries(
  Intl.supportedValuesOf('currency')
    .map((currency) => [currency, minorDigits(currency)] as const)
    .filter(([, digits]) => digits !== 2),
);

const DIGITS_OF_ORDER = sql`coalesce((${toJsonParameter(DIGITS)}::jsonb ->> r.currency)::integer, 2)`;

/** The amount that was sent, or that of the last adjustment. While an order is held, it comes to no more than before. */
const AMOUNT = sql`least(
  case when a.entry_id is null then e.amount else ${amountAfter('a')} end,
  case when h.new_amount > 0 then h.new_amount end)`;

/**
 * What was refunded, according to the last version that states it in the currency of the order: under the name that its
 * source has now, otherwise under the one with which it was sent. Null: unknown.
 */
const REFUNDED = sql`
  case when o.currency = e.currency then coalesce(o.refunded, 0) else (
    with recursive earlier as (
      select v.currency, v.refunded, v.replaces, 1 as place
      from intake.orders v
      where v.order_version_id = o.replaces
      union all
      select v.currency, v.refunded, v.replaces, 2
      from intake.orders v
      where v.source = e.source and v.order_id = e.order_id and v.is_current
      union all
      select v.currency, v.refunded, v.replaces, x.place
      from earlier x join intake.orders v on v.order_version_id = x.replaces
      where x.currency <> e.currency
    )
    select coalesce(refunded, 0) from earlier where currency = e.currency order by place limit 1) end`;

const VERSION = sql`
  coalesce(v.placed_at, v.paid_at, v.first_seen_at) as ordered_at,
  coalesce(v.placed_at, v.paid_at) is not null as is_timed, v.currency, v.total, v.refunded, v.cancelled_at,
  v.replaces, v.codes, v.codes_folded`;

/** The version `v` of each order. A join reads them all in a third of the time of as many look-ups. */
const EVERY_VERSION = sql`
  join (select v.order_version_id, ${VERSION} from intake.orders v) v
    on v.order_version_id = t.order_version_id`;

/** The same for a few of the orders. */
const VERSION_BY_KEY = sql`cross join lateral (
  select ${VERSION} from intake.orders v where v.order_version_id = t.order_version_id limit 1) v`;

const NOTHING_LINED = sql`
  lined as (
    select r.*, 0::numeric as excluded_amount, null::numeric as rest_amount, 0::numeric as product_rates,
      order_rate as rate_percent,
      order_lines as rate_lines from rated r)`;

/** Condition: a SKU of the terms stands for the one of an order line. */
const isSku = (sku: RawBuilder<unknown>) =>
  sql`(line ->> 0 = ${sku} or (right(${sku}, 1) = '*' and starts_with(line ->> 0, left(${sku}, -1))))`;

/**
 * SQL: `lined`, the orders with what depends on their products.
 *
 * `excluded_amount` is the part of the net revenue of order `r` that earns nothing, rounded to the decimals of its
 * currency. Null if the lines of the order are unknown. If all lines have the amount zero (only shipping was paid), it
 * is zero, unless all of them are excluded. Uses the lines of the version that its job decided about last, because
 * refunds do so too.
 *
 * `product_rates` is the sum of the parts that have rates of their own, times these rates, and `rest_amount` what has
 * neither: null if it is all that is not excluded. Neither is rounded, so that they fit together. Of the
 * rows for a product, those of the code come before those of the deal, and a lower line before a higher one, also before the
 * row of the whole order. Of a line without a SKU it is unknown which one applies. Such an order has no single rate.
 */
function linedOrders(products: readonly Terms[]): RawBuilder<unknown> {
  const rows = products.map((row) => ({
    ...scopeOf(row),
    code: row.codeFolded,
    rate: row.ratePercent,
    skus: row.onlySkus,
  }));
  return sql`
  products as materialized (
    select *
    from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb) as p (line integer, deal_id text, code text,
      rate numeric, skus text[], valid_from date, valid_to date)
  ),
  product_rows as (
    select entry_id, jsonb_agg(jsonb_build_array(line, rate, skus) order by by_code desc, line desc) as rows
    from (
      select r.entry_id, true as by_code, p.line, p.rate, p.skus
      from (select r.*, unnest(codes) as code from rated r) r
      join products p on p.code = r.code and r.ordered_on between p.valid_from and p.valid_to
      where r.flat is null and (r.rate_from is distinct from 'code' or p.line > r.order_lines[1])
      union all
      select r.entry_id, false, p.line, p.rate, p.skus from rated r
      join products p on p.deal_id = r.deal_id and r.ordered_on between p.valid_from and p.valid_to
      where r.flat is null and r.rate_from is distinct from 'code'
        and p.line > coalesce(r.order_lines[1], 0)) p
    group by entry_id
  ),
  excluded as (
    select entry_id, array_agg(sku) as skus
    from (
      select a.entry_id, a.ordered_on, s.* from accepted a join schedules s on s.deal_id = a.deal_id
      union all
      select a.entry_id, a.ordered_on, s.*
      from (select entry_id, ordered_on, unnest(codes) as code from accepted) a
      join schedules s on s.code = a.code
      union all
      -- At most one row, for everybody.
      select a.entry_id, a.ordered_on, s.*
      from accepted a cross join schedules s
      where s.deal_id is null and s.code is null
    ) s
    cross join lateral jsonb_array_elements_text(s.skus -> (width_bucket(s.ordered_on, s.since) - 1)) as sku
    group by entry_id
  ),
  lined as (
    select r.*, case
        when r.net_amount = 0 or x.skus is null and p.rows is null then 0
        -- An order without a line is not one whose lines are zero.
        when l.all_lines is null or p.rows is not null and l.has_unnamed then null
        when l.has_only_excluded then r.net_amount
        when l.all_lines = 0 then 0
        else least(r.net_amount,
          round(r.net_amount * coalesce(l.excluded_lines, 0) / l.all_lines,
            ${DIGITS_OF_ORDER})) end as excluded_amount,
      case
        when l.product_rows is not null
          then r.net_amount * coalesce(l.rest_lines, 0) / nullif(l.all_lines, 0) end as rest_amount,
      coalesce(r.net_amount * l.product_rates / nullif(l.all_lines, 0), 0) as product_rates,
      case when l.product_rows is null then r.order_rate end as rate_percent,
      r.order_lines || l.product_rows as rate_lines
    from rated r
    left join excluded x on x.entry_id = r.entry_id
    left join product_rows p on p.entry_id = r.entry_id
    left join lateral (
      select o.lines from intake.orders o
      where (x.skus is not null or p.rows is not null) and o.order_version_id = r.order_version_id limit 1) v
        on true
    left join lateral (
      select sum(amount) as all_lines, sum(amount) filter (where is_excluded) as excluded_lines,
        bool_and(is_excluded) as has_only_excluded, bool_or(coalesce(sku, '') = '') as has_unnamed,
        sum(amount) filter (where product is null and not is_excluded) as rest_lines,
        sum(amount * (product ->> 1)::numeric) as product_rates,
        array_agg(distinct (product ->> 0)::integer) filter (where product is not null) as product_rows
      from (
        select e.*, case when not is_excluded then (
            select p.product from jsonb_array_elements(p.rows) with ordinality as p(product, place)
            where exists (select from jsonb_array_elements_text(p.product -> 2) as s(sku)
              where ${isSku(sql`s.sku`)})
            order by p.place limit 1) end as product
        from (
          select line, line ->> 0 as sku, (line ->> 1)::numeric as amount,
            exists (select from unnest(x.skus) as e(sku) where ${isSku(sql`e.sku`)}) as is_excluded
          from jsonb_array_elements(v.lines) as line) e) lines) l on v.lines is not null
  )`;
}
