-- A customer is written once: into its batch. What became of it is what became of the batch, so the service's answer costs one row a call,
-- not one a customer. ledger.customers tells where each of them stands.

alter table ledger.contacts
  add column is_unsubscribed boolean not null default false,
  add column earlier_submissions integer not null default 0 check (earlier_submissions >= 0),
  add column earlier_submitted_at timestamptz;

-- Who waits to be submitted again has been submitted before; of the others the last batch says so.
update ledger.contacts
set is_unsubscribed = state = 'unsubscribed',
    earlier_submissions = case when staged_file_id is null and submissions > 0 then submissions - 1 else submissions end,
    earlier_submitted_at = case when staged_file_id is not null then submitted_at end;

-- Who waits gets the batch that it waits in; of two, the newer.
update ledger.contacts c
set batch_id = w.batch_id
from (
  select m.hash, max(b.batch_id) as batch_id
  from intake.contacts b cross join unnest(b.contact_hashes) as m(hash)
  where b.purpose = 'submit' group by m.hash
) w
where c.contact_hash = w.hash and c.staged_file_id is not null;

alter table ledger.contacts
  drop column state, drop column state_reason, drop column submissions, drop column submitted_at,
  drop constraint contacts_currency_check,
  add constraint contacts_currency_check check (length(currency) = 3),
  add constraint only_the_submitted_say_when check (earlier_submitted_at is null or earlier_submissions > 0);
-- Rows hardly ever change.
alter table ledger.contacts set (fillfactor = 95);
comment on table ledger.contacts is 'One row a customer and brand, without the address, and the batch that it was put into last. Where it stands follows from that: see ledger.customers.';
comment on column ledger.contacts.batch_id is 'Batch that it was put into last: in intake.contacts while it waits, in ledger.identify_batches once the service has answered; null: none, because it has unsubscribed.';
comment on column ledger.contacts.staged_file_id is 'File with which it was put into that batch. Where the batch is in neither table, that file was never sealed, and the next one takes the customer over.';
comment on column ledger.contacts.is_unsubscribed is 'Not sent, or not again, whatever other exports say.';
comment on column ledger.contacts.earlier_submissions is 'How often the service took it before that batch.';
comment on column ledger.contacts.earlier_submitted_at is 'When it last did before that batch.';

-- Batches get their numbers before they are stored. Where the roles stand already (`migrate --roles`), that needs a right.
if exists (select from pg_roles where rolname = 'influencer_sync_app') then
  grant usage on sequence intake.contacts_batch_id_seq to influencer_sync_app;
end if;

create view ledger.customers as
  select c.contact_hash, c.brand_id,
    case
      when c.is_unsubscribed then 'unsubscribed'
      when b.state = 'accepted' then 'submitted'
      when b.state = 'refused' then 'refused'
      when c.earlier_submissions > 0 then 'submitted'
      else 'staged'
    end as state,
    case when b.state = 'refused' then b.message end as state_reason,
    w.batch_id is not null and not c.is_unsubscribed as is_waiting,
    c.source, c.batch_id, c.earlier_submissions + coalesce((b.state = 'accepted')::integer, 0) as submissions,
    case when b.state = 'accepted' then b.settled_at else c.earlier_submitted_at end as submitted_at,
    b.run_id, b.source_type, c.orders_count, c.spent, c.currency, c.bought_with_code, c.first_seen_at
  from ledger.contacts c
  left join ledger.identify_batches b on b.batch_id = c.batch_id and b.state <> 'split'
  left join (intake.contacts w join intake.source_files f on f.source_file_id = w.source_file_id and f.state = 'sealed')
    on w.batch_id = c.batch_id and w.purpose = 'submit'
  where c.is_unsubscribed or c.earlier_submissions > 0 or b.batch_id is not null or w.batch_id is not null;
comment on view ledger.customers is 'Where each customer of a brand stands. Those of a file that does not count yet are left out.';
comment on column ledger.customers.contact_hash is 'As in ledger.contacts.';
comment on column ledger.customers.brand_id is 'Brand that it is submitted for.';
comment on column ledger.customers.state is 'staged (waits to be submitted), submitted (the service took it), refused (by the service), unsubscribed (not sent, or not again, whatever other exports say).';
comment on column ledger.customers.state_reason is 'Why it was refused, in the service''s words, addresses masked.';
comment on column ledger.customers.is_waiting is 'Waits to be submitted, for the first time or again.';
comment on column ledger.customers.source is 'Source that stated it first; of an unsubscribed one, the source that said so.';
comment on column ledger.customers.batch_id is 'Batch that it was put into last.';
comment on column ledger.customers.submissions is 'How often the service took it.';
comment on column ledger.customers.submitted_at is 'When the service last took it.';
comment on column ledger.customers.run_id is 'Run that sent its last batch; null while it waits.';
comment on column ledger.customers.source_type is 'Label it was last sent with.';
comment on column ledger.customers.orders_count is 'Orders of the customer, as the file that was read last says; null where exports don''t.';
comment on column ledger.customers.spent is 'What the customer has spent, in currency, as the file that was read last says; null where exports don''t.';
comment on column ledger.customers.currency is 'ISO 4217, of spent; null where neither the export nor its source says.';
comment on column ledger.customers.bought_with_code is 'Whether an order with a discount code was seen; null where only customer exports were read.';
comment on column ledger.customers.first_seen_at is 'When it was first read.';
