-- Title: What did each deal bring and cost?
-- Description: Net revenue, cost and return by month, deal and currency. A blank cost or return is unknown: the last column says why.
-- View: bi.returns_monthly
select month_utc as month, deal_id, influencer_handle, currency, orders, net_amount, cost_amount, profit_amount, roi_percent,
  unknown
from bi.returns_monthly
order by month_utc desc, net_amount desc, deal_id, currency;
