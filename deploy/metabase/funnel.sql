-- Title: How many orders are credited, and why are the others not?
-- Description: All orders of the last 30 days, by job and currency.
-- View: bi.attribution_funnel_daily
select job, currency, sum(orders) as orders, sum(excluded_orders) as excluded, sum(organic_orders) as organic,
  sum(unattributed_orders) as unattributed, sum(held_orders) as held, sum(ready_orders) as ready, sum(rejected_orders) as rejected,
  sum(in_doubt_orders) as in_doubt, sum(accepted_orders) as accepted,
  round(100.0 * sum(accepted_orders) / sum(orders), 1) as accepted_percent, sum(accepted_amount) as accepted_amount
from bi.attribution_funnel_daily
where day_utc >= (now() at time zone 'UTC')::date - 30
group by job, currency
order by job, currency;
