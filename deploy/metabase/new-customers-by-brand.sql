-- Title: What does a new customer cost for each brand?
-- Description: Cost and new customers by month, brand and currency. A blank is unknown: a rate, or some of the customers. This month and the five before.
-- View: bi.returns_monthly
select month_utc as month, brand_name, currency, sum(new_customers) as new_customers, sum(unknown_orders) as unknown_orders,
  case when bool_and(cost_amount is not null) and sum(unknown_orders) = 0
    then round(sum(cost_amount) / nullif(sum(new_customers), 0), 2) end as cost_per_new_customer
from bi.returns_monthly
where month_utc >= date_trunc('month', current_date) - interval '5 months'
group by month_utc, brand_name, currency
order by month_utc desc, brand_name, currency;
