import { type RawBuilder, sql } from 'kysely';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import { minorDigits } from '../model/money.ts';
import type { StatementRules } from './statement.ts';

/**
 * Common table expressions about accepted orders; the last, `earnings`, has what each earned. Statements and returns add up the same.
 *
 * An order earns when the service has accepted it. Its revenue is the one that was sent, or the one that the last adjustment says since: nothing
 * where it was cancelled. Its rate is that of the terms of the code that it carries, else of its deal, on the day of the order; else the
 * service's own for the collaboration, as it was then. It counts from the day on which its return window is over.
 *
 * @param entries ids of some entries; null: all.
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
        coalesce("validFrom", '-infinity')::date as valid_from, coalesce("validTo", 'infinity')::date as valid_to
      from jsonb_to_recordset(${toJsonParameter(terms)}::jsonb) as t (line integer, "dealId" text, "codeFolded" text, "ratePercent" numeric,
        "fixedFee" numeric, currency text, "validFrom" text, "validTo" text)
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
      -- Without an attempt it was credited by somebody else, whose statement it is in.
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
        -- The version of that day; of a day before the first one was read, the first.
        order by v.valid_from > a.ordered_at, case when v.valid_from > a.ordered_at then v.valid_from end,
          v.valid_from desc limit 1) by_service on by_code.rate is null and by_deal.rate is null
    ),
    earnings as (
      select 'order:' || r.entry_id as subject, r.*,
        -- Nothing of nothing, whatever the rate: of an order that was cancelled since, nobody says any more which code it was credited by.
        case when r.net_amount = 0 then 0
          else round(r.net_amount * r.rate_percent / 100, coalesce((${toJsonParameter(DIGITS)}::jsonb ->> r.currency)::integer, 2)) end as earned_amount
      from rated r
    )`;
}

/** Currencies whose amounts do not have two decimals. */
const DIGITS = Object.fromEntries(
  Intl.supportedValuesOf('currency')
    .map((currency) => [currency, minorDigits(currency)] as const)
    .filter(([, digits]) => digits !== 2),
);
