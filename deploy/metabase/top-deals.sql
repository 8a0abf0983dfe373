-- Title: Which deals earn the most?
-- Description: The 20 deals with the most credited revenue in the last 30 days, in each currency.
-- View: bi.deal_performance_daily
select currency, place, influencer, orders, amount
from (
  select currency, coalesce(max(influencer_handle), target) as influencer, sum(accepted_orders) as orders,
    sum(accepted_amount) as amount, row_number() over (partition by currency order by sum(accepted_amount) desc, target) as place
  from bi.deal_performance_daily
  where day_utc >= (now() at time zone 'UTC')::date - 30
  group by currency, target
) ranked
where place <= 20 and amount > 0
order by currency, place;
