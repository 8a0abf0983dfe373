-- Who ordered, as a key that says nothing of the person. Only where a source asks for it.

alter table intake.orders add column customer_key uuid;
comment on column intake.orders.customer_key is 'HMAC of brand and e-mail address, as intake.customers.customer_hash has it; null where the source does not ask for it (customer_key), the order was read before it did, or the export names nobody. No part of content_hash.';
