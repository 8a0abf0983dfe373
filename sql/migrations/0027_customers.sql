-- Customers are called customers everywhere, and their tables stand in the schema of the stage that writes them: the ledger keeps what
-- must never be sent twice, and a batch of customers may be. Tables and columns change their names and no row is rewritten, except those of
-- the files that were read for customers.

alter table intake.contacts rename to waiting_batches;
alter table intake.waiting_batches rename column contact_hashes to customer_hashes;
alter table intake.waiting_batches rename column contacts to customers;
alter table intake.waiting_batches rename constraint contacts_pkey to waiting_batches_pkey;
alter table intake.waiting_batches rename constraint contacts_contact_hashes_check to waiting_batches_customer_hashes_check;
alter table intake.waiting_batches rename constraint contacts_purpose_check to waiting_batches_purpose_check;
alter table intake.waiting_batches rename constraint contacts_source_file_id_fkey to waiting_batches_source_file_id_fkey;
alter index intake.contacts_file rename to waiting_batches_file;
alter index intake.contacts_waiting rename to waiting_batches_order;
alter sequence intake.contacts_batch_id_seq rename to waiting_batches_batch_id_seq;
comment on table intake.waiting_batches is 'The only place of plain addresses: one row for each batch of customers that waits to be sent. Deleted as soon as the service has taken it.';
comment on column intake.waiting_batches.customer_hashes is 'Each address'' customer_hash, in the same order.';

-- The view first, since the table takes its name.
alter view ledger.customers rename to customer_states;
alter view ledger.customer_states rename column contact_hash to customer_hash;
alter view ledger.customer_states set schema intake;
comment on column intake.customer_states.customer_hash is 'As in intake.customers.';
alter view ledger.customer_counts set schema intake;
comment on view intake.customer_counts is 'How many customers of each batch are in each state, without those of files that do not count yet, as in intake.customer_states.';
comment on column intake.customer_counts.state is 'As in intake.customer_states.';

alter table ledger.contacts rename to customers;
alter table ledger.customers rename column contact_hash to customer_hash;
alter table ledger.customers rename constraint contacts_pkey to customers_pkey;
alter table ledger.customers rename constraint contacts_currency_check to customers_currency_check;
alter table ledger.customers rename constraint contacts_earlier_submissions_check to customers_earlier_submissions_check;
alter index ledger.contacts_unsubscribed rename to customers_unsubscribed;
alter table ledger.customers set schema intake;
comment on table intake.customers is 'One row for each customer and brand, without the address, and the last batch that it was put into. intake.customer_states shows the state that follows.';
comment on column intake.customers.customer_hash is 'First half of HMAC-SHA256(brand and address) under customers.hash_key: tells customers apart, and cannot be turned back without the key.';
comment on column intake.customers.batch_id is 'Batch that it was put into last: in intake.waiting_batches while it waits, in intake.identify_batches once the service has answered; null: none, because it has unsubscribed.';

alter table ledger.identify_batches rename column contacts to customers;
alter table ledger.identify_batches rename constraint identify_batches_contacts_check to identify_batches_customers_check;
alter table ledger.identify_batches set schema intake;
comment on column intake.identify_batches.batch_id is 'As in intake.waiting_batches, while it waited there.';

alter table ledger.lookups rename column contact_hash to customer_hash;
alter table ledger.lookups set schema intake;
comment on column intake.lookups.customer_hash is 'Customer, as in intake.customers.';

alter table ledger.contact_key rename to customer_key;
alter table ledger.customer_key rename constraint contact_key_pkey to customer_key_pkey;
alter table ledger.customer_key rename constraint contact_key_only_row_check to customer_key_only_row_check;
alter table ledger.customer_key set schema intake;
comment on table intake.customer_key is 'Which key customer_hash was made with. Another key would make every customer a new one, so it is refused.';

alter table intake.source_files rename column contact_rows to customer_rows;
alter table intake.source_files rename column contacts_new to customers_new;
alter table intake.source_files drop constraint source_files_read_for_check;
update intake.source_files set read_for = 'customers' where read_for = 'contacts';
alter table intake.source_files add constraint source_files_read_for_check check (read_for in ('orders', 'customers', 'clicks', 'creators'));
comment on column intake.source_files.read_for is 'orders, customers, clicks or creators: the same file may be read for each.';
