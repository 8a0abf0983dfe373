-- Title: How did one deal perform day by day?
-- Description: Orders and revenue of one deal in the last year. Replace the deal id.
-- View: bi.deal_performance_daily
select day_utc, currency, attributed_orders, accepted_orders, accepted_amount
from bi.deal_performance_daily
where deal_id = 'D1' and day_utc >= (now() at time zone 'UTC')::date - 365
order by day_utc, currency;
