import type { DealPayout } from '../../core/money/reconciliation.ts';
import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';
import { accountCurrencyOf, isAmount } from './reconcile-deals.ts';

/**
 * Compares what closed statements say that deals earned with what the service says was paid out, in each currency.
 *
 * The specification of the service has no operation for payouts and no event of a payment. What is left: the total of
 * payouts of a deal, if `get_deal_details` contains one, and events of payout requests. A total names neither payouts
 * nor months, is in the currency of the account, and includes payouts from before the mirror first read it.
 *
 * @param options.limit lists only so many, the largest differences first. Without it, all are listed by deal.
 */
export function listPayouts(
  db: Database,
  {
    accountCurrency,
    dealId = null,
    limit = null,
  }: { accountCurrency: string | null; dealId?: string | null; limit?: number | null },
) {
  return rowsOf<DealPayout>(db)`
    with account as materialized (select ${accountCurrencyOf(accountCurrency)} as currency),
    earned as (
      select deal_id, currency, sum(paid_amount) as amount from reporting.statement_deals
      where deal_id <> '' and (${dealId}::text is null or deal_id = ${dealId}) group by 1, 2
    ),
    requested as (
      select deal_id, upper(body ->> 'payout_currency') as currency,
        sum((body ->> 'payout_amount')::numeric) as amount
      from ops.webhook_events
      where kind = 'new_payout_request' and deal_id is not null
        and (${dealId}::text is null or deal_id = ${dealId})
        and body ->> 'payout_currency' ~ '^[A-Za-z]{3}$' and body ->> 'payout_amount' ~ ${isAmount}
      group by 1, 2
    ),
    paid as (
      select l.deal_id, coalesce(account.currency, '') as currency, l.total_payouts as amount,
        f.total_payouts as before
      from mirror.deal_versions l cross join account
      left join lateral (
        select v.total_payouts
        from mirror.deal_versions v
        where v.deal_id = l.deal_id and v.total_payouts is not null
        order by v.valid_from limit 1) f on true
      where l.is_latest and l.total_payouts is not null and (${dealId}::text is null or l.deal_id = ${dealId})
    ),
    keys as (
      select deal_id, currency from earned union select deal_id, currency from requested
      union select deal_id, currency from paid where amount <> 0
    ),
    compared as (
      select deal_id, currency, coalesce(e.amount, 0)::numeric(24,4) as earned,
        r.amount::numeric(24,4) as requested,
        p.amount::numeric(24,4) as paid, p.before::numeric(24,4) as paid_before,
        -- The total has the payouts in other currencies too, so it is compared if the deal earned in no other.
        case when currency <> '' and count(e.amount) over (partition by deal_id) = num_nonnulls(e.amount)
          then (coalesce(e.amount, 0) - p.amount)::numeric(24,4) end as difference
      from keys k
      left join earned e using (deal_id, currency)
      left join requested r using (deal_id, currency)
      left join paid p using (deal_id, currency)
    )
    select c.deal_id as "dealId", reporting.without_addresses(d.influencer_handle) as "influencerHandle",
      nullif(c.currency, '') as currency,
      c.earned::text as "earnedAmount", c.requested::text as "requestedAmount", c.paid::text as "paidAmount",
      c.paid_before::text as "paidBeforeAmount", c.difference::text as "differenceAmount"
    from (
      select * from compared
      order by case when ${limit !== null} then -abs(difference) end nulls last, deal_id, currency
      limit ${limit}::bigint) c
    left join mirror.deal_versions d on d.deal_id = c.deal_id and d.is_latest
    order by case when ${limit !== null} then -abs(c.difference) end nulls last, c.deal_id, c.currency`;
}
