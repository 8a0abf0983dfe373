-- Title: Do all orders add up?
-- Description: Days on which they do not add up. No row means that they do.
-- View: bi.attribution_funnel_daily
select day_utc, job, source, currency, orders, unaccounted_orders
from bi.attribution_funnel_daily
where unaccounted_orders > 0
  or orders <> excluded_orders + organic_orders + unattributed_orders + held_orders + ready_orders + rejected_orders + in_doubt_orders
    + accepted_orders
order by day_utc;
