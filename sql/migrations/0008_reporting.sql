-- What the views of schema bi read where working it out each time would be too slow: where each order stands, and sums a day.
-- All of it follows from intake and ledger; src/report/refresh-reporting.ts brings it up to date at the end of each run.

create schema reporting;
comment on schema reporting is 'Worked out from intake and ledger for the views of schema bi. Nothing here is a source of truth; analysts read bi.';

-- Exports are nearly in the order of their days, so a block range index does, and costs the intake next to nothing.
create index orders_ordered on intake.orders
  using brin ((coalesce(placed_at, paid_at, first_seen_at))) with (pages_per_range = 32, autosummarize = on);

create function reporting.deal_id_of(reference text) returns text
  language sql immutable strict parallel safe
  return regexp_replace(reference, '^.*/deal/([^/?#]+).*$', '\1');
comment on function reporting.deal_id_of(text) is 'The id of a deal where codes.csv or an export gives its address in the service; an id stays as it is.';

create function reporting.without_addresses(words text) returns text
  language sql immutable strict parallel safe
  return case when position('@' in words) = 0 then words
    else regexp_replace(words, '([^\s@"''<>(),;:])[^\s@"''<>(),;:]{0,253}@[^\s@"''<>(),;:]{1,254}', '\1***@***', 'g') end;
comment on function reporting.without_addresses(text) is 'A text with each e-mail address cut to its first letter, as model/mask-addresses.ts does it; @handles stay.';

create table reporting.refresh (
  only_row boolean primary key default true check (only_row),
  refreshed_at timestamptz
);
insert into reporting.refresh default values;
comment on table reporting.refresh is 'When the tables of this schema were last brought up to date. Its one row is locked meanwhile, so that it happens one at a time.';
comment on column reporting.refresh.only_row is 'Always true: the table has one row.';
comment on column reporting.refresh.refreshed_at is 'Database clock; null: never yet.';

create table reporting.counted_files (
  job text not null,
  source_file_id bigint not null,
  attributed_at timestamptz not null,
  primary key (job, source_file_id)
);
comment on table reporting.counted_files is 'Decisions that order_standings has taken note of, by file: what differs from intake.attributed_files is looked at by the next refresh.';
comment on column reporting.counted_files.job is 'Job that decided.';
comment on column reporting.counted_files.source_file_id is 'File whose orders it decided about.';
comment on column reporting.counted_files.attributed_at is 'When it decided, as intake.attributed_files says.';

create table reporting.order_standings (
  job text not null,
  source text not null,
  order_id text not null,
  order_version_id bigint not null,
  entry_id bigint,
  ordered_at timestamptz not null,
  day_utc date not null,
  standing text not null check (standing in
    ('accepted', 'ready', 'rejected', 'in_doubt', 'held', 'excluded', 'unattributed', 'organic', 'unaccounted')),
  standing_reason text,
  standing_at timestamptz not null,
  is_open boolean not null,
  matched_by text,
  matched_value text,
  target text,
  brand_id text,
  deal_id text,
  collab_id text,
  influencer_handle text,
  currency text not null,
  amount numeric(18,4) not null,
  primary key (job, source, order_id)
) with (fillfactor = 90);
create index order_standings_day on reporting.order_standings (day_utc);
create index order_standings_deal on reporting.order_standings (deal_id, day_utc) where deal_id is not null;
create index order_standings_open on reporting.order_standings (job) where is_open;
create index order_standings_since on reporting.order_standings using brin (standing_at);
comment on table reporting.order_standings is 'Where each order of each job stands, as of the last refresh.';
comment on column reporting.order_standings.job is 'Job that looked at the order.';
comment on column reporting.order_standings.source is 'Source of the order.';
comment on column reporting.order_standings.order_id is 'Identity at the shop platform.';
comment on column reporting.order_standings.order_version_id is 'Version of the order in force.';
comment on column reporting.order_standings.entry_id is 'The ledger''s entry, where the standing follows from it.';
comment on column reporting.order_standings.ordered_at is 'When it was placed, else paid, else first read.';
comment on column reporting.order_standings.day_utc is 'Day of ordered_at in UTC.';
comment on column reporting.order_standings.standing is 'accepted, ready, rejected, in_doubt, held, excluded, unattributed, organic, unaccounted (never, unless by a bug).';
comment on column reporting.order_standings.standing_reason is 'Why, for rejected, in_doubt, held, excluded, unattributed.';
comment on column reporting.order_standings.standing_at is 'Since when: the entry''s last change, else the decision of the job.';
comment on column reporting.order_standings.is_open is 'May change without another decision about its file: looked at by each refresh.';
comment on column reporting.order_standings.matched_by is 'What named the influencer: explicit, code, link.';
comment on column reporting.order_standings.matched_value is 'The code or link that matched, or those that did not; e-mail addresses masked.';
comment on column reporting.order_standings.target is 'deal:, collab: or handle: and whose order it is; null where it is nobody''s.';
comment on column reporting.order_standings.brand_id is 'Brand.';
comment on column reporting.order_standings.deal_id is 'Deal that the service credited, else the one it is attributed to.';
comment on column reporting.order_standings.collab_id is 'Collaboration, in the same order.';
comment on column reporting.order_standings.influencer_handle is 'Influencer.';
comment on column reporting.order_standings.currency is 'ISO 4217.';
comment on column reporting.order_standings.amount is 'Revenue as sent, else by the job''s rule, else of the order, in currency.';

create table reporting.funnel_days (
  day_utc date not null,
  job text not null,
  source text not null,
  currency text not null,
  standing text not null,
  standing_reason text,
  orders bigint not null check (orders > 0),
  amount numeric(24,4) not null
);
create index funnel_days_day on reporting.funnel_days (day_utc);
comment on table reporting.funnel_days is 'order_standings added up by day, job, source, currency, standing and reason.';
comment on column reporting.funnel_days.day_utc is 'Day in UTC.';
comment on column reporting.funnel_days.job is 'Job.';
comment on column reporting.funnel_days.source is 'Source.';
comment on column reporting.funnel_days.currency is 'ISO 4217.';
comment on column reporting.funnel_days.standing is 'As in order_standings.';
comment on column reporting.funnel_days.standing_reason is 'As in order_standings.';
comment on column reporting.funnel_days.orders is 'How many.';
comment on column reporting.funnel_days.amount is 'Their revenue, in currency.';

create table reporting.deal_days (
  day_utc date not null,
  target text not null,
  brand_id text,
  deal_id text,
  collab_id text,
  influencer_handle text,
  currency text not null,
  attributed_orders bigint not null,
  accepted_orders bigint not null,
  ready_orders bigint not null,
  in_doubt_orders bigint not null,
  held_orders bigint not null,
  rejected_orders bigint not null,
  attributed_amount numeric(24,4) not null,
  accepted_amount numeric(24,4) not null,
  in_doubt_amount numeric(24,4) not null
);
create index deal_days_day on reporting.deal_days (day_utc);
create index deal_days_deal on reporting.deal_days (deal_id, day_utc) where deal_id is not null;
comment on table reporting.deal_days is 'Orders that are somebody''s, added up by day, deal (collaboration, handle), brand and currency.';
comment on column reporting.deal_days.day_utc is 'Day in UTC.';
comment on column reporting.deal_days.target is 'deal:, collab: or handle: and whose orders they are.';
comment on column reporting.deal_days.brand_id is 'Brand.';
comment on column reporting.deal_days.deal_id is 'Deal.';
comment on column reporting.deal_days.collab_id is 'Collaboration, where the orders name one.';
comment on column reporting.deal_days.influencer_handle is 'Influencer.';
comment on column reporting.deal_days.currency is 'ISO 4217.';
comment on column reporting.deal_days.attributed_orders is 'All of them.';
comment on column reporting.deal_days.accepted_orders is 'Accepted by the service.';
comment on column reporting.deal_days.ready_orders is 'Yet to be sent, or on their way.';
comment on column reporting.deal_days.in_doubt_orders is 'In doubt.';
comment on column reporting.deal_days.held_orders is 'Held, or written off.';
comment on column reporting.deal_days.rejected_orders is 'Refused by the service.';
comment on column reporting.deal_days.attributed_amount is 'Revenue of all of them, in currency.';
comment on column reporting.deal_days.accepted_amount is 'Revenue of the accepted ones, in currency.';
comment on column reporting.deal_days.in_doubt_amount is 'Revenue of those in doubt, in currency.';

create table reporting.brand_days (
  day_utc date not null,
  brand_id text not null,
  currency text not null,
  deals bigint not null,
  attributed_orders bigint not null,
  accepted_orders bigint not null,
  ready_orders bigint not null,
  in_doubt_orders bigint not null,
  held_orders bigint not null,
  rejected_orders bigint not null,
  attributed_amount numeric(24,4) not null,
  accepted_amount numeric(24,4) not null,
  in_doubt_amount numeric(24,4) not null,
  primary key (day_utc, brand_id, currency)
);
comment on table reporting.brand_days is 'deal_days added up by day, brand and currency.';
comment on column reporting.brand_days.day_utc is 'Day in UTC.';
comment on column reporting.brand_days.brand_id is 'Brand.';
comment on column reporting.brand_days.currency is 'ISO 4217.';
comment on column reporting.brand_days.deals is 'Deals (collaborations, handles) with an order on the day.';
comment on column reporting.brand_days.attributed_orders is 'All orders that are somebody''s.';
comment on column reporting.brand_days.accepted_orders is 'Accepted by the service.';
comment on column reporting.brand_days.ready_orders is 'Yet to be sent, or on their way.';
comment on column reporting.brand_days.in_doubt_orders is 'In doubt.';
comment on column reporting.brand_days.held_orders is 'Held, or written off.';
comment on column reporting.brand_days.rejected_orders is 'Refused by the service.';
comment on column reporting.brand_days.attributed_amount is 'Revenue of all of them, in currency.';
comment on column reporting.brand_days.accepted_amount is 'Revenue of the accepted ones, in currency.';
comment on column reporting.brand_days.in_doubt_amount is 'Revenue of those in doubt, in currency.';

create table reporting.code_days (
  day_utc date not null,
  job text not null,
  source text not null,
  code_folded text not null,
  code text not null,
  carried_as text not null check (carried_as in ('code', 'link', 'explicit')),
  currency text not null,
  orders bigint not null,
  amount numeric(24,4) not null
);
create index code_days_day on reporting.code_days (day_utc);
comment on table reporting.code_days is 'Unattributed orders added up by day, job, source and the code, link or handle that nobody owns. An order with two such codes counts for both.';
comment on column reporting.code_days.day_utc is 'Day in UTC.';
comment on column reporting.code_days.job is 'Job.';
comment on column reporting.code_days.source is 'Source.';
comment on column reporting.code_days.code_folded is 'The code without blanks, in capitals: what spellings have in common.';
comment on column reporting.code_days.code is 'One spelling of it; e-mail addresses masked.';
comment on column reporting.code_days.carried_as is 'code, link (an order without a code), explicit (the export names a deal or handle).';
comment on column reporting.code_days.currency is 'ISO 4217.';
comment on column reporting.code_days.orders is 'Orders that carry it.';
comment on column reporting.code_days.amount is 'Their revenue, in currency.';

create table reporting.applied_views (
  only_row boolean primary key default true check (only_row),
  content_hash text not null,
  applied_at timestamptz not null default now()
);
comment on table reporting.applied_views is 'Which sql/views this database has.';
comment on column reporting.applied_views.only_row is 'Always true: the table has at most one row.';
comment on column reporting.applied_views.content_hash is 'Digest of the files: another one, and they are applied again.';
comment on column reporting.applied_views.applied_at is 'When.';
