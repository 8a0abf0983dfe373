-- Title: For which deals does the service count more or fewer orders than were posted?
-- Description: Deals with orders or amounts that doubts, other channels, currency and time do not explain; the 2,000 with the largest differences.
-- View: bi.reconciliation
select deal_id, influencer_handle, counted_orders, posted_orders, other_orders, possible_orders, unexplained_orders,
  unexplained_in_account_currency, account_currency
from bi.reconciliation
where unexplained_orders <> 0 or unexplained_in_account_currency <> 0
order by abs(unexplained_orders) desc nulls last, deal_id
limit 2000;
