-- An order is told apart by its id, and an export may name its orders by one column in one file and by another in the next.
alter table intake.source_files add column order_id_column text;
comment on column intake.source_files.order_id_column is
  'Header of the column that names the orders of the file, lower case; null where it is not known: files read before it was kept, held files, files of customers.';
create index source_files_order_id_column on intake.source_files (source, order_id_column)
  where state = 'sealed' and read_for = 'orders';

-- Files of Shopify that were read by its Name, for want of an Id, have it for their id.
update intake.source_files f
set order_id_column = case when exists (
    select from intake.orders o where o.source_file_id = f.source_file_id and o.order_id <> o.group_key) then 'id' else 'name' end
where f.state = 'sealed' and f.read_for = 'orders' and f.layout = 'shopify-orders'
  and exists (select from intake.orders o where o.source_file_id = f.source_file_id);

comment on column intake.orders.exclusion is
  'Set by a rule of the layout (test, draft, cancelled, …): never posted; a draft is where the job says drafts: credit.';
