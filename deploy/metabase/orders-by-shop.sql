-- Title: How much was ordered in each shop?
-- Description: Orders of the last 30 days by shop and currency, without cancelled orders.
-- View: bi.orders
select source, currency, count(*) as orders, sum(total_amount) as total_amount,
  count(*) - count(total_amount) as unvalued_orders, round(avg(total_amount), 2) as average_amount
from bi.orders
where ordered_at >= now() - interval '30 days' and not is_cancelled
group by source, currency
order by orders desc, source, currency;
