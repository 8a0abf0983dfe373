-- Title: How much did each deal sell within a month, by the service's own count?
-- Description: Growth of the service's count in the last 30 days. Compare it with bi.deal_performance_daily.
-- View: bi.deal_history
select deal_id, n.influencer_handle, n.total_referrals - coalesce(b.total_referrals, 0) as referrals,
  n.total_sales_in_account_currency - coalesce(b.total_sales_in_account_currency, 0) as sales_in_account_currency
from bi.deal_history n
left join bi.deals_as_of(now() - interval '30 days') b using (deal_id)
where n.is_current and n.total_referrals > coalesce(b.total_referrals, 0)
order by sales_in_account_currency desc nulls last, deal_id
limit 100;
