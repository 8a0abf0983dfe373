-- Title: What has each deal earned, and what was paid out?
-- Description: Closed statements, added up by deal and currency, and the total of payouts that the service reports in the currency of the account. Empty: unknown. The largest differences first; a difference is not an error.
-- View: bi.statement_deals
with earned as (
  select deal_id, currency, sum(paid_amount) as earned_amount
  from bi.statement_deals
  where deal_id is not null
  group by deal_id, currency
),
paid_out as (
  select deal_id, (select max(account_currency) from bi.reconciliation) as currency, total_payouts_in_account_currency as paid_out_amount
  from bi.deals
),
compared as (
  select coalesce(e.deal_id, p.deal_id) as deal_id, coalesce(e.currency, p.currency) as currency, coalesce(e.earned_amount, 0) as earned_amount,
    p.paid_out_amount, count(*) over (partition by coalesce(e.deal_id, p.deal_id)) as currencies
  from earned e
  full join paid_out p on p.deal_id = e.deal_id and p.currency = e.currency
  where e.deal_id is not null or p.paid_out_amount <> 0
),
largest as (
  select deal_id, currency, earned_amount, paid_out_amount,
    case when currencies = 1 and currency is not null then earned_amount - paid_out_amount end as difference_amount
  from compared
  order by abs(case when currencies = 1 and currency is not null then earned_amount - paid_out_amount end) desc nulls last, deal_id, currency
  limit 100
)
select l.deal_id, d.influencer_handle, l.currency, l.earned_amount, l.paid_out_amount, l.difference_amount
from largest l
left join bi.deals d using (deal_id)
order by abs(l.difference_amount) desc nulls last, l.deal_id, l.currency;
