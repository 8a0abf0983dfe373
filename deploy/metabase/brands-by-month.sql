-- Title: How does each brand perform month by month?
-- Description: Credited orders and revenue of the last twelve months.
-- View: bi.brand_performance_daily
select date_trunc('month', day_utc)::date as month_utc, brand_id, max(brand_name) as brand_name, currency,
  sum(accepted_orders) as accepted_orders, sum(accepted_amount) as accepted_amount
from bi.brand_performance_daily
where day_utc >= date_trunc('month', now() at time zone 'UTC')::date - interval '11 months'
group by 1, brand_id, currency
order by 1, brand_id, currency;
