-- Title: What does the shop say about one order?
-- Description: The last stated version of one order. Replace the source and the order id.
-- View: bi.orders
select source, order_id, order_name, status, ordered_at, currency, total_amount, refunded_amount, discount_codes, exclusion_reason
from bi.orders
where source = 'shop-orders' and order_id = '1001';
