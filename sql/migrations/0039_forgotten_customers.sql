-- Customers who asked to be forgotten: of each nothing is left but a digest, which keeps the next export from submitting them again.

create table intake.forgotten_customers (
  tombstone uuid primary key,
  key_fingerprint text not null,
  forgotten_at timestamptz not null default clock_timestamp(),
  searched_at timestamptz
);
comment on table intake.forgotten_customers is 'Customers who were forgotten on request. No export submits them again, for any brand, and nothing else is known of them.';
comment on column intake.forgotten_customers.tombstone is 'First half of HMAC-SHA256(address) under customers.hash_key, the same for all brands: tells whether an export names the customer, and cannot be turned back without the key.';
comment on column intake.forgotten_customers.key_fingerprint is 'Key that the tombstone was made with, as in intake.customer_key.';
comment on column intake.forgotten_customers.forgotten_at is 'When the customer was first forgotten.';
comment on column intake.forgotten_customers.searched_at is 'When all tables were last searched for the address to the end; null: a search was cut short, and forget must be repeated.';

comment on column intake.source_files.passed_over is 'Rows whose customer is not submitted, by reason: {"no_address": 3, "no_consent": 2, "unsubscribed": 1, "forgotten": 1}.';
comment on column ops.audit.subject_kind is 'What it was done to: entry, file, code, job, backfill, bulk, check, statement, customer, table.';
