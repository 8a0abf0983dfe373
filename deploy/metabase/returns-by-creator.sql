-- Title: Which creators pay off?
-- Description: Net revenue and cost by creator and currency, of this month and the three before; the 2,000 with the highest revenue. A blank cost is unknown for at least one month.
-- View: bi.returns_monthly
select influencer_handle, currency, sum(orders) as orders,
  case when bool_and(net_amount is not null) then sum(net_amount) end as net_amount,
  case when bool_and(cost_amount is not null) then sum(cost_amount) end as cost_amount,
  case when bool_and(profit_amount is not null) then sum(profit_amount) end as profit_amount, sum(new_customers) as new_customers,
  sum(returning_orders) as returning_orders, sum(unknown_orders) as unknown_orders
from bi.returns_monthly
where month_utc >= date_trunc('month', current_date) - interval '3 months'
group by influencer_handle, currency
order by net_amount desc nulls last, influencer_handle, currency
limit 2000;
