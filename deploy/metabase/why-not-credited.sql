-- Title: Why was an order not credited?
-- Description: What each job decided about one order. Replace the job, the source and the order id.
-- View: bi.orders_attributed
select job, source, order_id, disposition, disposition_reason, matched_value, deal_id, influencer_handle, amount, currency
from bi.orders_attributed
where job = 'attribute-orders' and source = 'shop-orders' and order_id = '1004';
