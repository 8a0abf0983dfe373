-- Which of two exports is newer is decided by what says so, and no longer by which was read last.

alter table intake.source_files
  add column modified_at timestamptz,
  add column aged_at timestamptz,
  add column age_basis text check (age_basis in ('date_in_name', 'number_in_name', 'modified')),
  add column orders_older bigint not null default 0,
  add column orders_conflicting bigint not null default 0;
comment on column intake.source_files.modified_at is 'When the file was put there, as its store says. Null: unknown, or read before this was stored; then first_seen_at stands in for it.';
comment on column intake.source_files.aged_at is 'From when the file is: the date in its name, else modified_at. Null: unknown, or read before this was stored.';
comment on column intake.source_files.age_basis is 'What says whether it is newer than another file: the date in its name, the number in its name, or modified_at.';
comment on column intake.source_files.orders_older is 'Orders of which a newer file states something else. They are kept as versions that were never in force.';
comment on column intake.source_files.orders_conflicting is 'Orders of which another file states something else, and nothing says which of them is newer. They are held. Part of orders_changed.';

create table intake.restated_orders (
  source_file_id bigint not null references intake.source_files (source_file_id),
  order_version_ids int8multirange not null
);
create index restated_orders_file on intake.restated_orders (source_file_id);
comment on table intake.restated_orders is 'Versions of orders that a later file states again, a few rows a file: so a file that is older than both does not replace them.';
comment on column intake.restated_orders.source_file_id is 'File that states them again.';
comment on column intake.restated_orders.order_version_ids is 'The versions, as ranges: most of them follow one another.';
