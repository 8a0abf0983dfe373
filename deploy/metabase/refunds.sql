-- Title: How much was refunded?
-- Description: Refunds of orders of the last 90 days by shop and currency.
-- View: bi.orders
select source, currency, count(*) as refunded_orders, sum(refunded_amount) as refunded_amount
from bi.orders
where ordered_at >= now() - interval '90 days' and is_refunded
group by source, currency
order by source, currency;
