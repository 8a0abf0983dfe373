-- Title: What is still to be settled?
-- Description: Orders whose standing is not final, by standing and reason.
-- View: bi.orders_attributed
select standing, standing_reason, currency, count(*) as orders, sum(amount) as amount, min(standing_at) as oldest_at
from bi.orders_attributed
where is_open
group by standing, standing_reason, currency
order by standing, orders desc, currency;
