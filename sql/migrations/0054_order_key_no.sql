-- While the key of customers' hashes is replaced: which orders still have the hash that was made with the previous one.

alter table intake.orders add column customer_key_no smallint check (customer_key_no > 1);
comment on column intake.orders.customer_key_no is 'Key that customer_key was made with, as in intake.customer_key; null: the first one, or no customer_key.';
