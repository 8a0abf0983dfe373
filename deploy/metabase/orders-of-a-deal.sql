-- Title: Which orders did a deal earn?
-- Description: The newest 100 orders of one deal, with their dispositions. Replace the deal id.
-- View: bi.orders_attributed
select day_utc, source, order_id, order_name, disposition, matched_by, matched_value, amount, currency
from bi.orders_attributed
where deal_id = 'D1'
order by ordered_at desc, order_id
limit 100;
