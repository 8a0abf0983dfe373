-- Only whole orders are credited: an order of which a row is missing or cut says so, and is held.

alter table intake.orders add column doubt text check (doubt ~ '^[a-z][a-z_]{0,40}$');
comment on column intake.orders.doubt is 'Why what the export states may not be the whole order: incomplete (a row of it cannot be read), may_be_incomplete (a row that may belong to it cannot be read), may_be_cut (the last row of the file may be cut). Null: nothing is in doubt. An order in doubt is held.';

create table intake.missing_rows (
  source_file_id bigint not null references intake.source_files,
  group_key text,
  is_certain boolean not null,
  check (group_key is not null or not is_certain)
);
create index missing_rows_source_file_id on intake.missing_rows (source_file_id);
comment on table intake.missing_rows is 'Orders of a file being read that lack a row, because the row cannot be used. Settled and emptied when the file is sealed.';
comment on column intake.missing_rows.source_file_id is 'File being read.';
comment on column intake.missing_rows.group_key is 'The order that lacks the row, or may lack it. Null: any order of the file.';
comment on column intake.missing_rows.is_certain is 'Whether the row itself names the order. False: the order is beside the row in the file, which names none.';
