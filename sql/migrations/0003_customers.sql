-- Customers: who was submitted to be identified, and what was found. Plain addresses live in intake.contacts alone, and only until the
-- service has taken their batch.

-- A file of orders may also be read for the customers in it: the two readings know nothing of each other.
alter table intake.source_files
  add column read_for text not null default 'orders' check (read_for in ('orders', 'contacts')),
  add column contact_rows bigint not null default 0,
  add column contacts_new bigint not null default 0,
  add column passed_over jsonb,
  drop constraint source_files_source_uri_version_key,
  add constraint source_files_identity unique (source, read_for, uri, version),
  drop constraint sealed_files_add_up,
  add constraint sealed_files_add_up
    check (state <> 'sealed' or (sealed_at is not null and rows_read = order_rows + contact_rows + rejected_rows));
comment on column intake.source_files.read_for is 'orders or contacts: the same file may be read for each.';
comment on column intake.source_files.contact_rows is 'Records that were read for their customer, those in passed_over included.';
comment on column intake.source_files.contacts_new is 'Customers first seen in this file.';
comment on column intake.source_files.passed_over is 'Rows whose customer is not submitted, by reason: {"no_address": 3, "no_consent": 2, "unsubscribed": 1}.';

create table intake.contacts (
  batch_id bigint generated always as identity primary key,
  job text not null,
  brand_id text not null,
  source_file_id bigint not null references intake.source_files,
  purpose text not null check (purpose in ('submit', 'lookup')),
  influencer_list text not null,
  contact_hashes uuid[] not null check (cardinality(contact_hashes) > 0),
  split_from bigint,
  created_at timestamptz not null default now()
) with (autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0);
-- Addresses do not get much shorter, and the time is better spent otherwise.
alter table intake.contacts alter column influencer_list set storage external, alter column contact_hashes set storage external;
create index contacts_waiting on intake.contacts (brand_id, purpose, batch_id);
create index contacts_file on intake.contacts (source_file_id);
comment on table intake.contacts is 'The only place of plain addresses: one row a batch that waits to be sent. Deleted as soon as the service has taken it.';
comment on column intake.contacts.batch_id is 'Counts up.';
comment on column intake.contacts.job is 'Job that read them.';
comment on column intake.contacts.brand_id is 'Brand that it is submitted for.';
comment on column intake.contacts.source_file_id is 'File that stated them. It counts once that file is sealed.';
comment on column intake.contacts.purpose is 'submit (to identify_influencers) or lookup (each to identify_influencers_real_time, within the budget of the run).';
comment on column intake.contacts.influencer_list is 'Addresses as a JSON array, exactly as they are sent.';
comment on column intake.contacts.contact_hashes is 'Each address'' contact_hash, in the same order.';
comment on column intake.contacts.split_from is 'Batch that was refused, of which this is a half.';
comment on column intake.contacts.created_at is 'When it was staged.';

create table ledger.contact_key (
  only_row boolean primary key default true check (only_row),
  fingerprint text not null,
  bound_at timestamptz not null default now()
);
comment on table ledger.contact_key is 'Which key contact_hash was made with. Another key would make every customer a new one, so it is refused.';
comment on column ledger.contact_key.only_row is 'Always true: the table has at most one row.';
comment on column ledger.contact_key.fingerprint is 'Tells keys apart and says nothing of them: an HMAC of a fixed text.';
comment on column ledger.contact_key.bound_at is 'When the first run bound this database to the key.';

create table ledger.contacts (
  contact_hash uuid primary key,
  brand_id text not null,
  state text not null check (state in ('staged', 'submitted', 'refused', 'unsubscribed')),
  state_reason text,
  source text not null,
  staged_file_id bigint,
  batch_id bigint,
  submissions integer not null default 0 check (submissions >= 0),
  submitted_at timestamptz,
  orders_count integer,
  spent numeric(18,4),
  currency text check (currency ~ '^[A-Z]{3}$'),
  bought_with_code boolean,
  first_seen_at timestamptz not null default now(),
  constraint staged_waits check (state <> 'staged' or staged_file_id is not null),
  constraint submitted_says_when check (state <> 'submitted' or (submitted_at is not null and submissions > 0)),
  constraint refused_says_why check (state <> 'refused' or state_reason is not null)
) with (fillfactor = 60);
comment on table ledger.contacts is 'One row a customer and brand, without the address: whether it was submitted. What the service made of it, it does not say (see ledger.lookups).';
comment on column ledger.contacts.contact_hash is 'First half of HMAC-SHA256(brand and address) under contacts.hash_key: tells customers apart, and cannot be turned back without the key.';
comment on column ledger.contacts.brand_id is 'Brand that it is submitted for.';
comment on column ledger.contacts.state is 'staged (waits; counts once its file is sealed), submitted (the service took it), refused (by the service), unsubscribed (not sent, or not again, whatever other exports say).';
comment on column ledger.contacts.state_reason is 'Why it was refused, in the service''s words, addresses masked.';
comment on column ledger.contacts.source is 'Source that stated it first; of an unsubscribed one, the source that said so.';
comment on column ledger.contacts.staged_file_id is 'File with which it waits to be submitted, for the first time or again; null when it does not wait.';
comment on column ledger.contacts.batch_id is 'Batch that it was last submitted or refused with.';
comment on column ledger.contacts.submissions is 'How often the service took it.';
comment on column ledger.contacts.submitted_at is 'When the service last took it.';
comment on column ledger.contacts.orders_count is 'Orders of the customer, as the file that was read last says; null where exports don''t.';
comment on column ledger.contacts.spent is 'What the customer has spent, in currency, as the file that was read last says; null where exports don''t.';
comment on column ledger.contacts.currency is 'ISO 4217, of spent; null where neither the export nor its source says.';
comment on column ledger.contacts.bought_with_code is 'Whether an order with a discount code was seen; null where only customer exports were read.';
comment on column ledger.contacts.first_seen_at is 'When it was first read.';

create table ledger.identify_batches (
  batch_id bigint primary key,
  split_from bigint,
  job text not null,
  brand_id text not null,
  source_type text,
  state text not null check (state in ('accepted', 'split', 'refused')),
  contacts integer not null check (contacts > 0),
  http_status integer,
  message text,
  run_id bigint not null references ops.runs,
  staged_at timestamptz not null,
  settled_at timestamptz not null default clock_timestamp(),
  constraint only_one_is_refused check (state <> 'refused' or contacts = 1)
);
create index identify_batches_run on ledger.identify_batches (run_id);
comment on table ledger.identify_batches is 'Batches that the service has answered: the call to identify_influencers that took it, or refused it.';
comment on column ledger.identify_batches.batch_id is 'As in intake.contacts, while it waited there.';
comment on column ledger.identify_batches.split_from is 'Refused batch of which this is a half.';
comment on column ledger.identify_batches.job is 'Job that sent it.';
comment on column ledger.identify_batches.brand_id is 'Brand it was submitted for.';
comment on column ledger.identify_batches.source_type is 'Label it was sent with.';
comment on column ledger.identify_batches.state is 'accepted (the service took it), split (refused, so each half was sent by itself), refused (a single address that the service does not take).';
comment on column ledger.identify_batches.contacts is 'How many addresses.';
comment on column ledger.identify_batches.http_status is 'Status of the answer.';
comment on column ledger.identify_batches.message is 'What the service said to a refusal, addresses and secrets masked.';
comment on column ledger.identify_batches.run_id is 'Run that sent it.';
comment on column ledger.identify_batches.staged_at is 'When its addresses were stored.';
comment on column ledger.identify_batches.settled_at is 'When the answer was recorded, and the addresses deleted. Database clock.';

create table ledger.lookups (
  contact_hash uuid primary key,
  brand_id text not null,
  outcome text not null check (outcome in ('influencer', 'no_match', 'refused')),
  platform text,
  user_id text,
  username text,
  followers bigint,
  is_verified boolean,
  profile_url text,
  picture_url text,
  http_status integer,
  message text,
  run_id bigint not null references ops.runs,
  looked_up_at timestamptz not null default clock_timestamp(),
  constraint a_name_only_of_influencers check (outcome = 'influencer' or coalesce(platform, user_id, username, profile_url) is null),
  constraint a_refused_lookup_says_why check (outcome <> 'refused' or message is not null)
);
create index lookups_influencers on ledger.lookups (brand_id, looked_up_at) where outcome = 'influencer';
create index lookups_run on ledger.lookups (run_id);
comment on table ledger.lookups is 'What identify_influencers_real_time said about a customer, the last time it was asked: the public profile, no name and no address.';
comment on column ledger.lookups.contact_hash is 'Customer, as in ledger.contacts.';
comment on column ledger.lookups.brand_id is 'Brand.';
comment on column ledger.lookups.outcome is 'influencer, no_match (in whichever form the service says so), refused (the service does not take the address).';
comment on column ledger.lookups.platform is 'instagram, tiktok, youtube or another word of the service.';
comment on column ledger.lookups.user_id is 'Id of the influencer on the platform.';
comment on column ledger.lookups.username is 'Handle on the platform.';
comment on column ledger.lookups.followers is 'Followers at that time.';
comment on column ledger.lookups.is_verified is 'Whether the platform has verified the account.';
comment on column ledger.lookups.profile_url is 'Address of the profile.';
comment on column ledger.lookups.picture_url is 'Address of the profile''s picture.';
comment on column ledger.lookups.http_status is 'Status of the answer.';
comment on column ledger.lookups.message is 'What the service said to a refusal, addresses and secrets masked.';
comment on column ledger.lookups.run_id is 'Run that asked.';
comment on column ledger.lookups.looked_up_at is 'When. Database clock.';
