-- What a queue of S3 events has announced, so that its messages can be deleted before the files are read.

create table intake.announced_files (
  source text not null,
  read_for text not null check (read_for in ('orders', 'customers', 'clicks', 'creators')),
  uri text not null,
  announcement_id bigint not null generated always as identity,
  announced_at timestamptz not null default now(),
  primary key (source, read_for, uri)
);
comment on table intake.announced_files is 'Files that the queue of a source has announced and no run has dealt with yet: one row a file and purpose.';
comment on column intake.announced_files.source is 'Name of the source in pipeline.yaml.';
comment on column intake.announced_files.read_for is 'orders, customers, clicks or creators, as in intake.source_files.';
comment on column intake.announced_files.uri is 's3://bucket/key, as in intake.source_files. The object may have been replaced or removed since.';
comment on column intake.announced_files.announcement_id is 'Differs with each announcement of the file, so that a run removes only those that it has seen.';
comment on column intake.announced_files.announced_at is 'When the last announcement was received.';
