-- Title: Which campaigns pay off?
-- Description: Net revenue and cost by dealflow and currency, of this month and the three before. A blank cost is unknown for at least one month.
-- View: bi.returns_monthly
select dealflow_name, currency, sum(orders) as orders,
  case when bool_and(net_amount is not null) then sum(net_amount) end as net_amount,
  case when bool_and(cost_amount is not null) then sum(cost_amount) end as cost_amount,
  case when bool_and(profit_amount is not null) then sum(profit_amount) end as profit_amount
from bi.returns_monthly
where month_utc >= date_trunc('month', current_date) - interval '3 months'
group by dealflow_name, currency
order by net_amount desc nulls last, dealflow_name, currency;
