-- Title: Which differences must be settled with influencers?
-- Description: The latest adjustments of orders that changed after they were sent, recorded in the last 30 days, by deal and currency.
-- View: bi.adjustments
select coalesce(deal_id, influencer_handle) as influencer, currency, count(*) as orders, sum(difference_amount) as difference_amount,
  count(*) filter (where kind = 'held' and not is_elsewhere) as unknown_orders
from bi.adjustments
where is_latest and noted_at >= now() - interval '30 days'
group by 1, currency
order by sum(difference_amount), 1, currency;
