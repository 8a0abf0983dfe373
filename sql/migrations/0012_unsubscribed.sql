-- Before batches are sent, those in them who have unsubscribed since are taken out: few, and found without reading all customers.
create index contacts_unsubscribed on ledger.contacts (batch_id) where is_unsubscribed and batch_id is not null;
