-- Which order a rejected row states, so that a later row of the same order settles it, and the rows at the end of a
-- file that are no records of it. Earlier versions leave both columns null.

alter table intake.rejected_rows add column order_id text, add column order_name text;
comment on column intake.rejected_rows.order_id is 'Id of the order that the row states, if it can be read. A file that is read later and states the order settles the row. Null: unknown, or the file is not one of orders.';
comment on column intake.rejected_rows.order_name is 'Name of that order for people, or what groups its rows, if the row says it and it is not the id.';

create index rejected_rows_order on intake.rejected_rows (order_id) where order_id is not null;
create index rejected_rows_order_name on intake.rejected_rows (order_name) where order_name is not null;

alter table intake.source_files add column footer jsonb
  constraint source_files_footer_check check (jsonb_typeof(footer) = 'array');
comment on column intake.source_files.footer is 'Rows at its end that are no records of it, such as totals: line, text of the first filled cell, and by what they are known (label, sum, count). They are not among rows_read. Null: none.';
