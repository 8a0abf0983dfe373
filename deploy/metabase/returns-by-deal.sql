-- Title: What did each deal bring and cost?
-- Description: Net revenue, cost and return by month, deal and currency. A blank cost or return is unknown: the last column says why. This month and the three before, 2,000 rows at most.
-- View: bi.returns_monthly
select month_utc as month, deal_id, influencer_handle, currency, orders, net_amount, cost_amount, profit_amount, roi_percent,
  unknown
from bi.returns_monthly
where month_utc >= date_trunc('month', current_date) - interval '3 months'
order by month_utc desc, net_amount desc nulls last, deal_id, currency
limit 2000;
