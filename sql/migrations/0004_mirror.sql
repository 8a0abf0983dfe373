-- The account mirrored: brands, dealflows, deals and collaborations with their history, how deals were found, and what could not be read.
-- A version is stored once and in one place; the views brands, dealflows, deals and collaborations show the newest one of each record.

create schema mirror;
comment on schema mirror is 'The account as the service tells it: brands, dealflows, deals, collaborations, their history, and how complete all that is.';

-- What is published ---------------------------------------------------------------------------------------------------------

create table mirror.publications (
  run_id bigint primary key references ops.runs,
  published_at timestamptz not null default clock_timestamp(),
  counts jsonb not null
);
comment on table mirror.publications is 'One row a run that published. Brands, dealflows, deals and collaborations change only in the commit that adds a row here, so a reader sees all of a run or nothing of it.';
comment on column mirror.publications.run_id is 'Run of the job that published.';
comment on column mirror.publications.published_at is 'When what it had read became visible. Database clock.';
comment on column mirror.publications.counts is 'By kind of record: {new, changed, unchanged, gone}.';

create table mirror.brand_versions (
  brand_id text not null,
  name text,
  raw jsonb not null,
  row_hash text not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  is_current boolean not null generated always as (valid_to is null) stored,
  is_latest boolean not null default true,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  run_id bigint not null references ops.runs,
  primary key (brand_id, valid_from),
  constraint brand_versions_last_a_while check (valid_to > valid_from)
);
create unique index brand_versions_latest on mirror.brand_versions (brand_id) where is_latest;
comment on table mirror.brand_versions is 'History of brands: one row each time a brand was first seen or had changed.';
comment on column mirror.brand_versions.brand_id is 'Identity at the service. Opaque text.';
comment on column mirror.brand_versions.name is 'Name of the brand.';
comment on column mirror.brand_versions.raw is 'All that the service sent, unknown fields included.';
comment on column mirror.brand_versions.row_hash is 'Digest of raw: equal hash, no new version.';
comment on column mirror.brand_versions.valid_from is 'When it was first seen so: the moment before the request.';
comment on column mirror.brand_versions.valid_to is 'When it was first seen otherwise, or missing from a complete listing; null while it is in force.';
comment on column mirror.brand_versions.is_current is 'In force: valid_to is null. A brand that is gone has none.';
comment on column mirror.brand_versions.is_latest is 'Newest version of its brand, in force or not. Exactly one a brand.';
comment on column mirror.brand_versions.first_seen_at is 'When the brand was first seen at all.';
comment on column mirror.brand_versions.seen_at is 'When it was last seen so.';
comment on column mirror.brand_versions.run_id is 'Run that published this version.';

create table mirror.dealflow_versions (
  dealflow_id text not null,
  brand_id text,
  name text,
  raw jsonb not null,
  row_hash text not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  is_current boolean not null generated always as (valid_to is null) stored,
  is_latest boolean not null default true,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  run_id bigint not null references ops.runs,
  primary key (dealflow_id, valid_from),
  constraint dealflow_versions_last_a_while check (valid_to > valid_from)
);
create unique index dealflow_versions_latest on mirror.dealflow_versions (dealflow_id) where is_latest;
comment on table mirror.dealflow_versions is 'History of dealflows: one row each time a dealflow was first seen or had changed.';
comment on column mirror.dealflow_versions.dealflow_id is 'Identity at the service. Opaque text.';
comment on column mirror.dealflow_versions.brand_id is 'Brand it belongs to, where the service says so.';
comment on column mirror.dealflow_versions.name is 'Name of the dealflow.';
comment on column mirror.dealflow_versions.raw is 'All that the service sent, unknown fields included.';
comment on column mirror.dealflow_versions.row_hash is 'Digest of raw: equal hash, no new version.';
comment on column mirror.dealflow_versions.valid_from is 'When it was first seen so: the moment before the request.';
comment on column mirror.dealflow_versions.valid_to is 'When it was first seen otherwise, or missing from a complete listing; null while it is in force.';
comment on column mirror.dealflow_versions.is_current is 'In force: valid_to is null. A dealflow that is gone has none.';
comment on column mirror.dealflow_versions.is_latest is 'Newest version of its dealflow, in force or not. Exactly one a dealflow.';
comment on column mirror.dealflow_versions.first_seen_at is 'When the dealflow was first seen at all.';
comment on column mirror.dealflow_versions.seen_at is 'When it was last seen so.';
comment on column mirror.dealflow_versions.run_id is 'Run that published this version.';

create table mirror.deal_versions (
  deal_id text not null,
  influencer_handle text,
  platform text,
  brand_id text,
  dealflow_id text,
  is_active boolean,
  funnel_step integer,
  total_clicks numeric,
  total_referrals numeric,
  total_sales numeric,
  total_payouts numeric,
  total_commission_earned numeric,
  total_fixed_fee_earned numeric,
  raw jsonb not null,
  row_hash text not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  is_current boolean not null generated always as (valid_to is null) stored,
  is_latest boolean not null default true,
  first_seen_at timestamptz not null,
  run_id bigint not null references ops.runs,
  primary key (deal_id, valid_from),
  constraint deal_versions_last_a_while check (valid_to > valid_from)
);
create unique index deal_versions_latest on mirror.deal_versions (deal_id) where is_latest;
comment on table mirror.deal_versions is 'History of deals: one row each time a deal was first read or had changed.';
comment on column mirror.deal_versions.deal_id is 'Identity at the service. Opaque text.';
comment on column mirror.deal_versions.influencer_handle is 'Influencer, as the service writes the handle.';
comment on column mirror.deal_versions.platform is 'Social platform of the handle.';
comment on column mirror.deal_versions.brand_id is 'Brand. Text, whatever the service sends.';
comment on column mirror.deal_versions.dealflow_id is 'Dealflow it is in.';
comment on column mirror.deal_versions.is_active is 'Active status.';
comment on column mirror.deal_versions.funnel_step is 'Stage in its dealflow. What the numbers mean is not shown by the service.';
comment on column mirror.deal_versions.total_clicks is 'Clicks counted by the service.';
comment on column mirror.deal_versions.total_referrals is 'Orders counted by the service.';
comment on column mirror.deal_versions.total_sales is 'Sales counted by the service; in which currency is not shown.';
comment on column mirror.deal_versions.total_payouts is 'Payouts made; in which currency is not shown.';
comment on column mirror.deal_versions.total_commission_earned is 'Commission earned; in which currency is not shown.';
comment on column mirror.deal_versions.total_fixed_fee_earned is 'Fixed fees earned; in which currency is not shown.';
comment on column mirror.deal_versions.raw is 'All that the service sent but the collaborations, unknown fields included. What is personal (name, e-mail, address, phone) reads [redacted].';
comment on column mirror.deal_versions.row_hash is 'Digest of raw: equal hash, no new version.';
comment on column mirror.deal_versions.valid_from is 'When it was first read so: the moment before the request.';
comment on column mirror.deal_versions.valid_to is 'When it was first read otherwise, or the service first said that there is no such deal; null while it is in force.';
comment on column mirror.deal_versions.is_current is 'In force: valid_to is null. A deal that is gone has none.';
comment on column mirror.deal_versions.is_latest is 'Newest version of its deal, in force or not. Exactly one a deal.';
comment on column mirror.deal_versions.first_seen_at is 'When the deal was first read at all.';
comment on column mirror.deal_versions.run_id is 'Run that published this version.';

create table mirror.collaboration_versions (
  collab_id text not null,
  deal_id text not null,
  brand_id text,
  dealflow_id text,
  code text,
  code_perc numeric,
  commission_perc numeric,
  custom_url text,
  custom_url_target text,
  clicks numeric,
  referrals numeric,
  raw jsonb not null,
  row_hash text not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  is_current boolean not null generated always as (valid_to is null) stored,
  is_latest boolean not null default true,
  first_seen_at timestamptz not null,
  run_id bigint not null references ops.runs,
  primary key (collab_id, valid_from),
  constraint collaboration_versions_last_a_while check (valid_to > valid_from)
);
create unique index collaboration_versions_latest on mirror.collaboration_versions (collab_id) where is_latest;
create index collaboration_versions_deal on mirror.collaboration_versions (deal_id) where is_latest;
comment on table mirror.collaboration_versions is 'History of collaborations: one row each time a collaboration was first read or had changed.';
comment on column mirror.collaboration_versions.collab_id is 'Identity at the service. Opaque text.';
comment on column mirror.collaboration_versions.deal_id is 'Deal it belongs to.';
comment on column mirror.collaboration_versions.brand_id is 'Brand. Text, whatever the service sends.';
comment on column mirror.collaboration_versions.dealflow_id is 'Dealflow it is in.';
comment on column mirror.collaboration_versions.code is 'Discount code.';
comment on column mirror.collaboration_versions.code_perc is 'Discount of the code in percent.';
comment on column mirror.collaboration_versions.commission_perc is 'Commission in percent.';
comment on column mirror.collaboration_versions.custom_url is 'Affiliate link.';
comment on column mirror.collaboration_versions.custom_url_target is 'Where the link leads.';
comment on column mirror.collaboration_versions.clicks is 'Clicks counted by the service.';
comment on column mirror.collaboration_versions.referrals is 'Orders counted by the service.';
comment on column mirror.collaboration_versions.raw is 'All that the service sent, sales included, unknown fields too. What is personal (name, e-mail, address, phone) reads [redacted].';
comment on column mirror.collaboration_versions.row_hash is 'Digest of raw and deal: equal hash, no new version.';
comment on column mirror.collaboration_versions.valid_from is 'When it was first read so: the moment before the request.';
comment on column mirror.collaboration_versions.valid_to is 'When it was first read otherwise, or missing from its deal''s list; null while it is in force.';
comment on column mirror.collaboration_versions.is_current is 'In force: valid_to is null. A collaboration that is gone has none.';
comment on column mirror.collaboration_versions.is_latest is 'Newest version of its collaboration, in force or not. Exactly one a collaboration.';
comment on column mirror.collaboration_versions.first_seen_at is 'When the collaboration was first read at all.';
comment on column mirror.collaboration_versions.run_id is 'Run that published this version.';

-- How deals are found -------------------------------------------------------------------------------------------------------

create table mirror.known_deals (
  deal_id text primary key check (length(deal_id) between 1 and 200),
  first_way text not null,
  ways text[] not null,
  first_seen_at timestamptz not null default clock_timestamp(),
  event_at timestamptz,
  read_at timestamptz,
  answer_hash text,
  not_found_at timestamptz,
  deleted_at timestamptz,
  failures integer not null default 0 check (failures >= 0),
  last_error text,
  not_before timestamptz,
  constraint ways_begin_with_the_first check (first_way = ways[1]),
  constraint deleted_was_not_found check (deleted_at is null or not_found_at is not null),
  constraint failures_say_why check ((failures > 0) = (last_error is not null))
) with (fillfactor = 70);
comment on table mirror.known_deals is 'Every deal whose id has been met, by whatever way, and how reading it went. The service has no listing of deals.';
comment on column mirror.known_deals.deal_id is 'Identity at the service. Opaque text.';
comment on column mirror.known_deals.first_way is 'How it was met first: referral, click, create_deal, note, task (answers to what the ledger sent), event, codes, order, handle, autocomplete, deal (another deal''s answer).';
comment on column mirror.known_deals.ways is 'Every way by which it was met, the first one first.';
comment on column mirror.known_deals.first_seen_at is 'When it was met first.';
comment on column mirror.known_deals.event_at is 'When an event last named it: read again then, however fresh.';
comment on column mirror.known_deals.read_at is 'Moment before the request that last read it; null: never read. What is read longest ago is read next.';
comment on column mirror.known_deals.answer_hash is 'Digest of that answer: an equal one only moves read_at.';
comment on column mirror.known_deals.not_found_at is 'Since when the service says that there is no such deal; null: it does not.';
comment on column mirror.known_deals.deleted_at is 'Set when a second run was told so too: the deal is then gone as of not_found_at.';
comment on column mirror.known_deals.failures is 'Runs in a row in which it could not be read.';
comment on column mirror.known_deals.last_error is 'Why, without addresses and secrets; null when the last reading went well.';
comment on column mirror.known_deals.not_before is 'Not read again before this instant, because it failed.';

create table mirror.known_handles (
  handle_folded text primary key check (length(handle_folded) between 1 and 200),
  handle text not null,
  first_way text not null,
  ways text[] not null,
  first_seen_at timestamptz not null default clock_timestamp(),
  asked_at timestamptz,
  deals_found integer,
  last_error text,
  constraint handle_ways_begin_with_the_first check (first_way = ways[1])
);
comment on table mirror.known_handles is 'Handles of influencers that were met without a deal id: the service is asked for their deals.';
comment on column mirror.known_handles.handle_folded is 'Handle without blanks and @, lower case.';
comment on column mirror.known_handles.handle is 'Handle as first met.';
comment on column mirror.known_handles.first_way is 'How it was met first: codes, order, autocomplete.';
comment on column mirror.known_handles.ways is 'Every way by which it was met, the first one first.';
comment on column mirror.known_handles.first_seen_at is 'When it was met first.';
comment on column mirror.known_handles.asked_at is 'When the service was last asked for its deals; null: never.';
comment on column mirror.known_handles.deals_found is 'How many deals it named then.';
comment on column mirror.known_handles.last_error is 'Why it could not be asked, without addresses and secrets; null when it went well.';

create table mirror.prefixes (
  prefix text primary key check (length(prefix) between 1 and 30),
  asked_at timestamptz,
  results integer,
  answer_hash text,
  is_split boolean not null default false,
  last_error text
);
comment on table mirror.prefixes is 'Beginnings of handles that autocomplete is asked for. One whose answer looks cut off is split into longer ones.';
comment on column mirror.prefixes.prefix is 'What is asked for.';
comment on column mirror.prefixes.asked_at is 'When it was last asked for; null: not yet.';
comment on column mirror.prefixes.results is 'How many records the answer had.';
comment on column mirror.prefixes.answer_hash is 'Digest of the ids in the answer: shows a service that ignores the question.';
comment on column mirror.prefixes.is_split is 'Its answer looked cut off, and longer ones were added.';
comment on column mirror.prefixes.last_error is 'Why it could not be asked, without addresses and secrets; null when it went well.';

-- What was read and is not published yet ------------------------------------------------------------------------------------

-- Not logged: a crash of the database only means that it is read again.
create unlogged table mirror.staged (
  record_kind text not null check (record_kind in ('brand', 'dealflow', 'deal')),
  record_id text not null,
  outcome text not null check (outcome in ('read', 'unchanged', 'not_found', 'failed')),
  fetched_at timestamptz not null,
  run_id bigint not null,
  answer_hash text,
  row_hash text,
  fields jsonb,
  raw jsonb,
  collaborations jsonb,
  drift jsonb,
  problem text,
  primary key (record_kind, record_id),
  constraint read_has_content check (outcome <> 'read' or (row_hash is not null and fields is not null and raw is not null)),
  constraint failed_says_why check (outcome not in ('not_found', 'failed') or problem is not null)
);
comment on table mirror.staged is 'What was read since the last publication. Emptied by the next one; what a killed run leaves here is published by the run after it and not read again.';
comment on column mirror.staged.record_kind is 'brand, dealflow or deal.';
comment on column mirror.staged.record_id is 'Identity at the service.';
comment on column mirror.staged.outcome is 'read, unchanged (as published: only seen), not_found (the service says that there is none), failed.';
comment on column mirror.staged.fetched_at is 'The moment before the request.';
comment on column mirror.staged.run_id is 'Run that read it.';
comment on column mirror.staged.answer_hash is 'Digest of the whole answer, collaborations included.';
comment on column mirror.staged.row_hash is 'Digest of raw.';
comment on column mirror.staged.fields is 'What goes into columns.';
comment on column mirror.staged.raw is 'What the service sent, personal fields redacted.';
comment on column mirror.staged.collaborations is 'Of a deal: [{record_id, row_hash, fields, raw}]; null when the answer had no list of them.';
comment on column mirror.staged.drift is 'What did not fit: [{field, kind, expected, found}].';
comment on column mirror.staged.problem is 'Why it could not be read.';

create unlogged table mirror.staged_listings (
  record_kind text primary key check (record_kind in ('brand', 'dealflow')),
  fetched_at timestamptz not null,
  run_id bigint not null,
  is_complete boolean not null,
  problem text,
  constraint partial_says_why check (is_complete = (problem is null))
);
comment on table mirror.staged_listings is 'Listings of brands and dealflows that were read since the last publication.';
comment on column mirror.staged_listings.record_kind is 'brand or dealflow.';
comment on column mirror.staged_listings.fetched_at is 'The moment before the request.';
comment on column mirror.staged_listings.run_id is 'Run that read it.';
comment on column mirror.staged_listings.is_complete is 'What is missing from it is gone. A partial listing deletes nothing.';
comment on column mirror.staged_listings.problem is 'Why it is not complete.';

-- What does not fit, and how complete it is ---------------------------------------------------------------------------------

create table mirror.drift (
  drift_id bigint generated always as identity primary key,
  run_id bigint not null references ops.runs,
  record_kind text not null,
  field text not null,
  kind text not null check (kind in ('type_changed', 'vanished', 'missing', 'unreadable')),
  expected text,
  found text,
  records integer not null check (records > 0),
  sample_id text,
  noted_at timestamptz not null default clock_timestamp()
);
create index drift_run on mirror.drift (run_id);
comment on table mirror.drift is 'What the service sends otherwise than before, or than the contract says. The records themselves are kept, in raw.';
comment on column mirror.drift.drift_id is 'Counts up.';
comment on column mirror.drift.run_id is 'Run that noticed.';
comment on column mirror.drift.record_kind is 'brand, dealflow, deal, collaboration, or the listing: brands, dealflows, autocomplete.';
comment on column mirror.drift.field is 'Field of the record; of a listing, what was looked at.';
comment on column mirror.drift.kind is 'type_changed (another JSON type than in the version before), vanished (no record that was read has it any more), missing (the contract promises it), unreadable (its column cannot take the value and is null).';
comment on column mirror.drift.expected is 'Type before, or what the column takes.';
comment on column mirror.drift.found is 'Type that came.';
comment on column mirror.drift.records is 'How many records.';
comment on column mirror.drift.sample_id is 'One of them.';
comment on column mirror.drift.noted_at is 'When.';

create table mirror.unreadable (
  record_kind text not null,
  record_hash text not null,
  raw jsonb not null,
  reason text not null,
  first_seen_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  run_id bigint not null references ops.runs,
  primary key (record_kind, record_hash)
);
comment on table mirror.unreadable is 'Records and answers that could not be taken for what they should be, for example without an id. Kept so that none is lost.';
comment on column mirror.unreadable.record_kind is 'What it should have been: brand, dealflow, deal, collaboration, or the listing: brands, dealflows, autocomplete.';
comment on column mirror.unreadable.record_hash is 'Digest of raw.';
comment on column mirror.unreadable.raw is 'What the service sent, personal fields redacted, cut to a text where it was no JSON.';
comment on column mirror.unreadable.reason is 'Why.';
comment on column mirror.unreadable.first_seen_at is 'When it came first.';
comment on column mirror.unreadable.seen_at is 'When it came last.';
comment on column mirror.unreadable.run_id is 'Run that met it last.';

create table mirror.coverage (
  run_id bigint not null references mirror.publications,
  way text not null,
  known integer not null,
  also_known integer not null,
  fresh integer not null,
  stale integer not null,
  unread integer not null,
  failing integer not null,
  deleted integer not null,
  oldest_read_at timestamptz,
  newest_read_at timestamptz,
  primary key (run_id, way),
  constraint coverage_adds_up check (known = fresh + stale + unread + failing + deleted)
);
comment on table mirror.coverage is 'How many deals are known after each publication, by which way, how fresh, and what could not be read. Never how many there are: nobody but the service knows.';
comment on column mirror.coverage.run_id is 'Publication.';
comment on column mirror.coverage.way is 'As in known_deals.first_way; all: every deal, each once.';
comment on column mirror.coverage.known is 'Deals that were met first by this way. The ways add up to all.';
comment on column mirror.coverage.also_known is 'Deals that were met by another way first and by this one too.';
comment on column mirror.coverage.fresh is 'Of known: read within refresh_after_hours.';
comment on column mirror.coverage.stale is 'Of known: read longer ago.';
comment on column mirror.coverage.unread is 'Of known: not read yet.';
comment on column mirror.coverage.failing is 'Of known: could not be read the last time it was tried.';
comment on column mirror.coverage.deleted is 'Of known: gone, the service said so.';
comment on column mirror.coverage.oldest_read_at is 'Longest ago that one of them was last read, deleted ones left out.';
comment on column mirror.coverage.newest_read_at is 'Most recent reading of one of them.';

-- The newest version of each record -----------------------------------------------------------------------------------------

create view mirror.brands as
  select brand_id, name, raw, row_hash, not is_current as is_deleted, valid_to as deleted_at, first_seen_at,
    valid_from as changed_at, seen_at, run_id
  from mirror.brand_versions where is_latest;
comment on view mirror.brands is 'Brands of the account, each as it was last seen. Gone ones too: is_deleted.';
comment on column mirror.brands.brand_id is 'Identity at the service. Opaque text.';
comment on column mirror.brands.name is 'Name of the brand.';
comment on column mirror.brands.raw is 'All that the service sent, unknown fields included.';
comment on column mirror.brands.row_hash is 'Digest of raw.';
comment on column mirror.brands.is_deleted is 'Missing from a complete listing.';
comment on column mirror.brands.deleted_at is 'When that listing was asked for; null while the brand is there.';
comment on column mirror.brands.first_seen_at is 'When it was first seen.';
comment on column mirror.brands.changed_at is 'When it was first seen as it is now.';
comment on column mirror.brands.seen_at is 'When it was last seen so.';
comment on column mirror.brands.run_id is 'Run that published its last change.';

create view mirror.dealflows as
  select dealflow_id, brand_id, name, raw, row_hash, not is_current as is_deleted, valid_to as deleted_at, first_seen_at,
    valid_from as changed_at, seen_at, run_id
  from mirror.dealflow_versions where is_latest;
comment on view mirror.dealflows is 'Dealflows of the account, each as it was last seen. Gone ones too: is_deleted.';
comment on column mirror.dealflows.dealflow_id is 'Identity at the service. Opaque text.';
comment on column mirror.dealflows.brand_id is 'Brand it belongs to, where the service says so.';
comment on column mirror.dealflows.name is 'Name of the dealflow.';
comment on column mirror.dealflows.raw is 'All that the service sent, unknown fields included.';
comment on column mirror.dealflows.row_hash is 'Digest of raw.';
comment on column mirror.dealflows.is_deleted is 'Missing from a complete listing.';
comment on column mirror.dealflows.deleted_at is 'When that listing was asked for; null while the dealflow is there.';
comment on column mirror.dealflows.first_seen_at is 'When it was first seen.';
comment on column mirror.dealflows.changed_at is 'When it was first seen as it is now.';
comment on column mirror.dealflows.seen_at is 'When it was last seen so.';
comment on column mirror.dealflows.run_id is 'Run that published its last change.';

create view mirror.deals as
  select d.deal_id, d.influencer_handle, d.platform, d.brand_id, d.dealflow_id, d.is_active, d.funnel_step, d.total_clicks,
    d.total_referrals, d.total_sales, d.total_payouts, d.total_commission_earned, d.total_fixed_fee_earned, d.raw, d.row_hash,
    not d.is_current as is_deleted, d.valid_to as deleted_at, d.first_seen_at, d.valid_from as changed_at, k.read_at as seen_at,
    k.first_way, d.run_id
  from mirror.deal_versions d join mirror.known_deals k using (deal_id)
  where d.is_latest;
comment on view mirror.deals is 'Deals that were found and read, each as it was last read. Gone ones too: is_deleted. What is not here may still exist at the service: see mirror.coverage.';
comment on column mirror.deals.deal_id is 'Identity at the service. Opaque text.';
comment on column mirror.deals.influencer_handle is 'Influencer, as the service writes the handle.';
comment on column mirror.deals.platform is 'Social platform of the handle.';
comment on column mirror.deals.brand_id is 'Brand.';
comment on column mirror.deals.dealflow_id is 'Dealflow it is in.';
comment on column mirror.deals.is_active is 'Active status.';
comment on column mirror.deals.funnel_step is 'Stage in its dealflow.';
comment on column mirror.deals.total_clicks is 'Clicks counted by the service.';
comment on column mirror.deals.total_referrals is 'Orders counted by the service.';
comment on column mirror.deals.total_sales is 'Sales counted by the service; in which currency is not shown.';
comment on column mirror.deals.total_payouts is 'Payouts made; in which currency is not shown.';
comment on column mirror.deals.total_commission_earned is 'Commission earned; in which currency is not shown.';
comment on column mirror.deals.total_fixed_fee_earned is 'Fixed fees earned; in which currency is not shown.';
comment on column mirror.deals.raw is 'All that the service sent but the collaborations; personal fields read [redacted].';
comment on column mirror.deals.row_hash is 'Digest of raw.';
comment on column mirror.deals.is_deleted is 'The service said twice that there is no such deal.';
comment on column mirror.deals.deleted_at is 'When it said so first; null while the deal is there.';
comment on column mirror.deals.first_seen_at is 'When it was first read.';
comment on column mirror.deals.changed_at is 'When it was first read as it is now.';
comment on column mirror.deals.seen_at is 'When it was last read.';
comment on column mirror.deals.first_way is 'How it was found: see known_deals.first_way.';
comment on column mirror.deals.run_id is 'Run that published its last change.';

create view mirror.collaborations as
  select c.collab_id, c.deal_id, c.brand_id, c.dealflow_id, c.code, c.code_perc, c.commission_perc, c.custom_url, c.custom_url_target,
    c.clicks, c.referrals, c.raw, c.row_hash, not c.is_current as is_deleted, c.valid_to as deleted_at, c.first_seen_at,
    c.valid_from as changed_at, k.read_at as seen_at, c.run_id
  from mirror.collaboration_versions c join mirror.known_deals k using (deal_id)
  where c.is_latest;
comment on view mirror.collaborations is 'Collaborations of the deals that were read, each as it was last read. Gone ones too: is_deleted.';
comment on column mirror.collaborations.collab_id is 'Identity at the service. Opaque text.';
comment on column mirror.collaborations.deal_id is 'Deal it belongs to.';
comment on column mirror.collaborations.brand_id is 'Brand.';
comment on column mirror.collaborations.dealflow_id is 'Dealflow it is in.';
comment on column mirror.collaborations.code is 'Discount code.';
comment on column mirror.collaborations.code_perc is 'Discount of the code in percent.';
comment on column mirror.collaborations.commission_perc is 'Commission in percent.';
comment on column mirror.collaborations.custom_url is 'Affiliate link.';
comment on column mirror.collaborations.custom_url_target is 'Where the link leads.';
comment on column mirror.collaborations.clicks is 'Clicks counted by the service.';
comment on column mirror.collaborations.referrals is 'Orders counted by the service.';
comment on column mirror.collaborations.raw is 'All that the service sent, sales included; personal fields read [redacted].';
comment on column mirror.collaborations.row_hash is 'Digest of raw and deal.';
comment on column mirror.collaborations.is_deleted is 'Missing from its deal''s list, or its deal is gone.';
comment on column mirror.collaborations.deleted_at is 'When that was first read; null while it is there.';
comment on column mirror.collaborations.first_seen_at is 'When it was first read.';
comment on column mirror.collaborations.changed_at is 'When it was first read as it is now.';
comment on column mirror.collaborations.seen_at is 'When its deal was last read.';
comment on column mirror.collaborations.run_id is 'Run that published its last change.';
