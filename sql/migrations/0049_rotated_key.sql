-- The key of customers' hashes can be replaced: for a time two keys count, and each customer moves to the new one when an export shows the address.

alter table intake.customer_key
  add column key_no smallint not null default 1 check (key_no > 0),
  add column previous_fingerprint text,
  add column rotated_at timestamptz,
  add constraint two_keys_differ check (previous_fingerprint <> fingerprint);
comment on column intake.customer_key.fingerprint is 'Tells keys apart and says nothing of them: an HMAC of a fixed text. Of the key in force.';
comment on column intake.customer_key.key_no is 'Number of the key in force: 1 for the first one.';
comment on column intake.customer_key.previous_fingerprint is 'Of the key before, while customers are still known under it; null once it is retired.';
comment on column intake.customer_key.rotated_at is 'When the key in force took its place; null: it is the first one.';

alter table intake.customers add column key_no smallint not null default 1;
comment on column intake.customers.key_no is 'Key that customer_hash was made with, as in intake.customer_key.';
alter table intake.waiting_batches add column key_no smallint not null default 1;
comment on column intake.waiting_batches.key_no is 'Key that customer_hashes were made with, as in intake.customer_key.';
