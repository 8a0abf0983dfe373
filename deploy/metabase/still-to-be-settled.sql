-- Title: Which orders are not final yet?
-- Description: Orders whose disposition is not final, by disposition and reason.
-- View: bi.orders_attributed
select disposition, disposition_reason, currency, count(*) as orders, sum(amount) as amount,
  count(*) - count(amount) as unvalued_orders, min(disposition_at) as oldest_at
from bi.orders_attributed
where is_open
group by disposition, disposition_reason, currency
order by disposition, orders desc, currency;
