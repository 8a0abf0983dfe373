-- What each file came to, what the checks said of it, and the dates on which a person expects unusual amounts.

create table intake.file_statistics (
  source_file_id bigint primary key,
  source text not null,
  read_for text not null,
  arrived_at timestamptz not null,
  size_bytes bigint not null check (size_bytes >= 0),
  rows_read bigint not null check (rows_read >= 0),
  rejected_rows bigint not null check (rejected_rows between 0 and rows_read),
  header text[] not null,
  header_hash text not null,
  orders_new bigint,
  orders_known bigint,
  orders_judged bigint,
  blank_code_orders bigint check (blank_code_orders between 0 and orders_judged),
  currencies jsonb,
  statuses jsonb,
  amounts jsonb,
  newest_order_at timestamptz,
  customers bigint,
  customers_refused bigint check (customers_refused between 0 and customers),
  results jsonb not null,
  checked_at timestamptz not null default clock_timestamp(),
  constraint orders_are_counted_whole check (
    num_nulls(orders_new, orders_known, orders_judged, blank_code_orders, currencies, statuses, amounts) in (0, 7)),
  constraint customers_are_counted_whole check ((customers is null) = (customers_refused is null))
);
create index file_statistics_source on intake.file_statistics (source, read_for, arrived_at desc);
comment on table intake.file_statistics is 'What each file came to when it was read whole, and what the checks said of it: counts and names of columns, no cell of a row. Files that are sealed are what later ones are compared with.';
comment on column intake.file_statistics.source_file_id is 'The file. Not a foreign key: a plan covers intake.source_files with a temporary table.';
comment on column intake.file_statistics.source is 'Name of the source in pipeline.yaml.';
comment on column intake.file_statistics.read_for is 'What the file was read for.';
comment on column intake.file_statistics.arrived_at is 'When it was put there, as the store says; else when it was read.';
comment on column intake.file_statistics.size_bytes is 'As stored, before decompression.';
comment on column intake.file_statistics.rows_read is 'Records in the file, header excluded.';
comment on column intake.file_statistics.rejected_rows is 'Records that could not be used.';
comment on column intake.file_statistics.header is 'Names of its columns as written, e-mail addresses masked.';
comment on column intake.file_statistics.header_hash is 'Digest of the names of its columns.';
comment on column intake.file_statistics.orders_new is 'Orders that no earlier file of the source has stated; null: it was not read for its orders.';
comment on column intake.file_statistics.orders_known is 'Orders that earlier files of the source have stated, changed ones included.';
comment on column intake.file_statistics.orders_judged is 'New and changed orders: the columns from here to newest_order_at are of these.';
comment on column intake.file_statistics.blank_code_orders is 'Of these: without a code, link, handle or deal.';
comment on column intake.file_statistics.currencies is 'Orders of each currency.';
comment on column intake.file_statistics.statuses is 'Orders of each status word; words of few orders are counted together as (other).';
comment on column intake.file_statistics.amounts is 'By currency: orders with an amount above 0, and the median of the amounts (of a sample of them in large files).';
comment on column intake.file_statistics.newest_order_at is 'When the newest of the new orders was placed.';
comment on column intake.file_statistics.customers is 'Customers with a usable address; null: it was not read for its customers.';
comment on column intake.file_statistics.customers_refused is 'Of these: refused, unsubscribed or blacklisted.';
comment on column intake.file_statistics.results is 'What each check said: [{check, subject, verdict, seen, expected}].';
comment on column intake.file_statistics.checked_at is 'When the checks looked at it.';

create table intake.check_findings (
  finding_id bigint generated always as identity primary key,
  source_file_id bigint not null,
  source text not null,
  check_name text not null,
  subject text,
  verdict text not null check (verdict in ('warn', 'held')),
  seen text not null,
  expected text not null,
  message text not null,
  line_nos bigint[] not null,
  run_id bigint not null,
  found_at timestamptz not null default clock_timestamp(),
  acknowledged_at timestamptz,
  acknowledged_by text,
  acknowledge_reason text,
  constraint acknowledgements_say_who_and_why check (
    num_nulls(acknowledged_at, acknowledged_by, acknowledge_reason) in (0, 3))
);
create unique index check_findings_once on intake.check_findings (source_file_id, check_name, coalesce(subject, ''));
create index check_findings_open on intake.check_findings (found_at) where acknowledged_at is null;
create index check_findings_run on intake.check_findings (run_id);
comment on table intake.check_findings is 'What the checks found unusual in files, until a person acknowledges it. One row a file, check and subject.';
comment on column intake.check_findings.finding_id is 'Counts up.';
comment on column intake.check_findings.source_file_id is 'File that was looked at.';
comment on column intake.check_findings.source is 'Name of its source in pipeline.yaml.';
comment on column intake.check_findings.check_name is 'Check, as under expect of a source.';
comment on column intake.check_findings.subject is 'Currency, status or column that it is about; null: the file as a whole.';
comment on column intake.check_findings.verdict is 'warn (the file counts), held (it does not).';
comment on column intake.check_findings.seen is 'What the file has, for people.';
comment on column intake.check_findings.expected is 'What is usual, for people.';
comment on column intake.check_findings.message is 'What is unusual, in a sentence without row values.';
comment on column intake.check_findings.line_nos is 'Physical lines of the first few rows that show it.';
comment on column intake.check_findings.run_id is 'Run that found it.';
comment on column intake.check_findings.found_at is 'When.';
comment on column intake.check_findings.acknowledged_at is 'When a person said that the file is right.';
comment on column intake.check_findings.acknowledged_by is 'Who.';
comment on column intake.check_findings.acknowledge_reason is 'Why, in the words of the person.';

create table intake.expected_dates (
  expected_date_id bigint generated always as identity primary key,
  day date not null,
  source text,
  name text not null check (name <> ''),
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null
);
create unique index expected_dates_once on intake.expected_dates (day, coalesce(source, ''));
comment on table intake.expected_dates is 'Dates on which a person expects unusual amounts of orders. Checks of amounts neither judge nor learn from files of such a date and the next one.';
comment on column intake.expected_dates.expected_date_id is 'Counts up.';
comment on column intake.expected_dates.day is 'The date, in the zone of the source.';
comment on column intake.expected_dates.source is 'Source that it is about; null: all of them.';
comment on column intake.expected_dates.name is 'Why, for example Black Friday.';
comment on column intake.expected_dates.created_at is 'When it was given.';
comment on column intake.expected_dates.created_by is 'Who gave it.';

create index source_files_superseding on intake.source_files (superseded_by) where superseded_by is not null;

comment on column ops.audit.subject_kind is 'What it was done to: entry, file, code, job, backfill, bulk, check.';
