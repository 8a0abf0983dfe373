-- Title: How much would each code earn if codes.csv named its owner?
-- Description: The 20 codes with the most revenue in the last 90 days, in each currency.
-- View: bi.unattributed_revenue
select currency, place, code, orders, amount, unvalued_orders
from (
  select currency, min(code) as code, sum(orders) as orders, sum(amount) as amount,
    sum(unvalued_orders) as unvalued_orders,
    row_number() over (partition by currency order by sum(amount) desc nulls last, code_folded) as place
  from bi.unattributed_revenue
  where day_utc >= (now() at time zone 'UTC')::date - 90
  group by currency, code_folded
) ranked
where place <= 20
order by currency, place;
