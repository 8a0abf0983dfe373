-- Only whole orders are credited: an order of which a row is missing or cut says so, and is held.

alter table intake.orders add column doubt text check (doubt ~ '^[a-z][a-z_]{0,40}$');
comment on column intake.orders.doubt is 'Why what the export states may not be the whole order: incomplete (a row of it cannot be read), may_be_incomplete (a row that may belong to it cannot be read), may_be_cut (the last row of the file may be cut), may_be_repeated (rows of it may occur twice), may_be_split (another file may have more of its rows), conflicting_states (another file states something else, and nothing says which is newer). Null: nothing is in doubt. An order in doubt is held.';

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

-- Items have an identity, so that repeated rows do not double an order, and parts of it in several files add up.

alter table intake.orders add column items jsonb check (jsonb_typeof(items) = 'array');
comment on column intake.orders.items is 'Items whose amounts add up to those of the order, as [["id", "total", "subtotal", "refunded"]]; null: an amount that is not added up. Null: amounts are not added up, or the export does not identify its items. No part of content_hash.';

create function intake.join_items(older jsonb, newer jsonb) returns jsonb
  language sql immutable strict parallel safe as $$
  select jsonb_agg(item order by (item ->> 0) collate "C") from (
    select distinct on (item ->> 0) item from (
      select item, 1 as place from jsonb_array_elements(newer) as item
      union all
      select item, 2 from jsonb_array_elements(older) as item
    ) stated
    order by item ->> 0, place
  ) joined $$;
comment on function intake.join_items is 'Unites two lists of items (intake.orders.items). Of an item in both, the newer one counts.';

create function intake.items_amount(items jsonb, at integer) returns numeric
  language sql immutable strict parallel safe as $$
  select sum((item ->> at)::numeric)::numeric(18,4) from jsonb_array_elements(items) as item $$;
comment on function intake.items_amount is 'Adds up the amounts at a position of the items. Null: no item has one.';
