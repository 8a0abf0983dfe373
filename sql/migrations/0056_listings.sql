-- Up to when the names of a source have been listed, so that a source with a date in its uri need not be listed from its first name on.

create table intake.listings (
  source text not null,
  read_for text not null check (read_for in ('orders', 'customers', 'clicks', 'creators')),
  names_hash text not null,
  listed_at timestamptz not null,
  primary key (source, read_for)
);
comment on table intake.listings is 'When a source with lookback_days was last listed and every file found was dealt with: one row a source and purpose.';
comment on column intake.listings.source is 'Name of the source in pipeline.yaml.';
comment on column intake.listings.read_for is 'orders, customers, clicks or creators, as in intake.source_files.';
comment on column intake.listings.names_hash is 'Digest of the settings that say which files the source has. If they change, all names are listed again.';
comment on column intake.listings.listed_at is 'When that listing began. The next one starts lookback_days before this day.';

-- Files that a run must find again wherever they are: their day is listed too.
create index source_files_pending on intake.source_files (source, read_for)
where superseded_by is null and (state in ('reading', 'held') or reread_at is not null);
