import { type RawBuilder, sql } from 'kysely';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import { minorDigits } from '../model/money.ts';
import type { StatementRules } from './statement.ts';

/**
 * SQL: common table expressions about accepted orders. The last one, `earnings`, has what each order earned.
 * Statements and returns use the same expressions, so they agree.
 *
 * An order earns once the service has accepted it. Its net revenue is the amount that was sent, or the amount of
 * its last adjustment, which is zero if it was cancelled. Its rate comes from the terms of its code, otherwise of
 * its deal, on the day of the order, and otherwise from the service: the rate of the collaboration at that time.
 * It counts from the day on which its return window ends.
 *
 * Products that the terms of its code, of its deal or of everybody exclude earn nothing. Their share of the net
 * revenue is their share of the amounts of all lines, so that discounts, shipping, tax and refunds of the whole
 * order are distributed in proportion.
 *
 * @param entries ids of the entries to include. Null: all.
 */
export function ratedOrders(
  { terms, returnWindowDays, timeZone }: StatementRules,
  entries: RawBuilder<unknown> | null = null,
): RawBuilder<unknown> {
  const only = (column: RawBuilder<unknown>): RawBuilder<unknown> =>
    entries === null ? sql`` : sql`and ${column} = any (array(${entries}))`;
  return sql`
    terms as materialized (
      select line, "dealId" as deal_id, "codeFolded" as code, "ratePercent" as rate, "fixedFee" as fee, currency,
        coalesce("validFrom", '-infinity')::date as valid_from, coalesce("validTo", 'infinity')::date as valid_to,
        array(select jsonb_array_elements_text("excludedSkus")) as excluded_skus
      from jsonb_to_recordset(${toJsonParameter(terms)}::jsonb) as t (line integer, "dealId" text, "codeFolded" text, "ratePercent" numeric,
        "fixedFee" numeric, currency text, "validFrom" text, "validTo" text, "excludedSkus" jsonb)
    ),
    accepted as materialized (
      select e.entry_id, e.source, e.order_platform, e.order_id, o.ordered_at, (o.ordered_at at time zone ${timeZone})::date as ordered_on,
        e.deal_id, e.collab_id, e.brand_id, o.influencer_handle, e.currency, e.amount as sent_amount,
        case when a.entry_id is null then e.amount when a.kind = 'reattributed' then coalesce(a.new_amount, a.old_amount)
          else coalesce(a.new_amount, 0) end as net_amount,
        o.codes
      from ledger.entries e
      join (
        select t.entry_id, t.job, t.influencer_handle, v.ordered_at, case when t.matched_by = 'code' then v.codes_folded end as codes
        from intake.attributions t
        cross join lateral (
          select coalesce(v.placed_at, v.paid_at, v.first_seen_at) as ordered_at, v.codes_folded
          from intake.orders v where v.order_version_id = t.order_version_id limit 1) v
        where t.entry_id is not null ${only(sql`t.entry_id`)}
      ) o on o.entry_id = e.entry_id and o.job = e.job
      left join (
        select distinct on (entry_id) entry_id, kind, old_amount, new_amount from ledger.adjustments
        where true ${only(sql`entry_id`)} order by entry_id, adjustment_id desc
      ) a on a.entry_id = e.entry_id
      -- An entry without an attempt was credited by another tool, and is in the statements of that tool.
      where e.effect = 'referral' and e.state = 'accepted' and e.attempt > 0 ${only(sql`e.entry_id`)}
    ),
    rated as (
      select a.*, a.ordered_on + ${returnWindowDays}::integer as due_on,
        coalesce(by_code.rate, by_deal.rate, by_service.commission_perc) as rate_percent,
        case when by_code.rate is not null then 'code' when by_deal.rate is not null then 'deal'
          when by_service.commission_perc is not null then 'service' end as rate_from
      from accepted a
      left join lateral (
        select t.rate from terms t
        where t.code = any (a.codes) and t.rate is not null and a.ordered_on between t.valid_from and t.valid_to
        order by t.line limit 1) by_code on true
      left join lateral (
        select t.rate from terms t
        where t.deal_id = a.deal_id and t.rate is not null and a.ordered_on between t.valid_from and t.valid_to
        order by t.line limit 1) by_deal on true
      left join lateral (
        select v.commission_perc from mirror.collaboration_versions v
        where v.collab_id = a.collab_id and v.commission_perc is not null
        -- The version at the time of the order, or the first one if the order is older.
        order by v.valid_from > a.ordered_at, case when v.valid_from > a.ordered_at then v.valid_from end,
          v.valid_from desc limit 1) by_service on by_code.rate is null and by_deal.rate is null
    ),
    -- Each order searches these, and few of the terms exclude something.
    exclusions as materialized (select * from terms where cardinality(excluded_skus) > 0),
    lined as (
      select r.*, ${terms.some(({ excludedSkus }) => excludedSkus.length > 0) ? EXCLUDED : sql`0::numeric`} as excluded_amount from rated r
    ),
    earnings as (
      select 'order:' || r.entry_id as subject, r.*,
        -- Zero revenue earns zero at any rate. A cancelled order no longer tells which code it was credited for.
        case when r.net_amount = r.excluded_amount then 0
          else round((r.net_amount - r.excluded_amount) * r.rate_percent / 100, ${DIGITS_OF_ORDER}) end as earned_amount
      from lined r
    )`;
}

/** Number of decimals, for currencies that do not have two. */
const DIGITS = Object.fromEntries(
  Intl.supportedValuesOf('currency')
    .map((currency) => [currency, minorDigits(currency)] as const)
    .filter(([, digits]) => digits !== 2),
);

const DIGITS_OF_ORDER = sql`coalesce((${toJsonParameter(DIGITS)}::jsonb ->> r.currency)::integer, 2)`;

/**
 * The part of the net revenue of order `r` that earns nothing, rounded to the decimals of its currency. Null if
 * the lines of the order are unknown. If all lines have the amount zero (only shipping was paid), it is zero,
 * unless all of them are excluded. Uses the lines of the current version, because refunds do so too.
 */
const EXCLUDED = sql`(
  select case
      when r.net_amount = 0 or x.skus is null then 0
      when v.lines is null then null
      when l.has_only_excluded then r.net_amount
      when l.all_lines = 0 then 0
      else least(r.net_amount, round(r.net_amount * coalesce(l.excluded_lines, 0) / l.all_lines, ${DIGITS_OF_ORDER})) end
  from (
    select array_agg(sku) as skus from exclusions t cross join unnest(t.excluded_skus) as e(sku)
    where (t.code = any (r.codes) or t.deal_id = r.deal_id or (t.code is null and t.deal_id is null))
      and r.ordered_on between t.valid_from and t.valid_to) x
  left join lateral (
    select o.lines from intake.orders o
    where x.skus is not null and o.source = r.source and o.order_id = r.order_id and o.is_current limit 1) v on true
  left join lateral (
    select sum(amount) as all_lines, sum(amount) filter (where is_excluded) as excluded_lines, bool_and(is_excluded) as has_only_excluded
    from (
      select (line ->> 1)::numeric as amount, exists (
        select from unnest(x.skus) as e(sku)
        where line ->> 0 = e.sku or (right(e.sku, 1) = '*' and starts_with(line ->> 0, left(e.sku, -1)))) as is_excluded
      from jsonb_array_elements(v.lines) as line) lines) l on v.lines is not null)`;
