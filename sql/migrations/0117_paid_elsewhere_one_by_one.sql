-- What a person paid elsewhere of a payment, each time of its own: a second part must not take the place of the first one. A
-- settlement may be negative: what a creator owes was paid back, or is not taken back.
create table ops.payments_elsewhere (
  payment_id bigint not null references ops.payments,
  paid_on date not null,
  amount numeric(24,4) not null check (amount <> 0),
  recorded_at timestamptz default clock_timestamp(),
  recorded_by text not null check (recorded_by <> ''),
  reason text not null check (reason <> '')
);
create index payments_elsewhere_payment on ops.payments_elsewhere (payment_id);
comment on table ops.payments_elsewhere is 'Each part of a payment that a person paid without the file for the bank, or agreed not to owe. Written by a trigger; their sum is elsewhere_amount of the payment. Append-only: a trigger refuses any change.';
comment on column ops.payments_elsewhere.payment_id is 'Payment, see ops.payments.';
comment on column ops.payments_elsewhere.paid_on is 'Day on which the person paid it.';
comment on column ops.payments_elsewhere.amount is 'In the currency of the payment. Negative: what the creator owed is settled.';
comment on column ops.payments_elsewhere.recorded_at is 'When the person said so. Null: an earlier version recorded it, which kept no time.';
comment on column ops.payments_elsewhere.recorded_by is 'Who said so.';
comment on column ops.payments_elsewhere.reason is 'How it was paid.';

-- Of what was recorded before, only the sum and the last day are known.
insert into ops.payments_elsewhere (payment_id, paid_on, amount, recorded_at, recorded_by, reason)
select payment_id, elsewhere_on, elsewhere_amount, null, settled_by, settle_reason from ops.payments where elsewhere_amount > 0;
create or replace function ledger.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '%.% is append-only', tg_table_schema, tg_table_name using errcode = 'restrict_violation';
end $$;
-- A trigger of this name lets roles.sql revoke update and delete.
create trigger append_only before update or delete or truncate on ops.payments_elsewhere
  for each statement execute function ledger.refuse_change();

create function ops.note_paid_elsewhere() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into ops.payments_elsewhere (payment_id, paid_on, amount, recorded_by, reason)
  select new.payment_id, new.elsewhere_on, new.elsewhere_amount - case tg_op when 'UPDATE' then old.elsewhere_amount else 0 end, new.settled_by,
    new.settle_reason;
  return null;
end $note$;
comment on function ops.note_paid_elsewhere() is 'Keeps each part of a payment that was paid elsewhere.';
create trigger note_paid_elsewhere_inserted after insert on ops.payments
  for each row when (new.elsewhere_amount <> 0) execute function ops.note_paid_elsewhere();
create trigger note_paid_elsewhere_updated after update on ops.payments
  for each row when (new.elsewhere_amount <> old.elsewhere_amount) execute function ops.note_paid_elsewhere();

comment on column ops.payments.elsewhere_amount is 'Part of paid_amount that a person paid without the file for the bank, or agreed not to owe, in currency: the sum of ops.payments_elsewhere.';
comment on column ops.payments.elsewhere_on is 'Day of the part that was recorded last. Null: nothing was paid elsewhere.';
comment on column ops.payments.amount is 'Sum of its items, in currency. Negative: what the creator owed is settled, and no bank has it.';

alter table ops.payments
  drop constraint payments_amount_check,
  drop constraint payments_check,
  drop constraint payments_elsewhere_amount_check,
  drop constraint who_paid_elsewhere_says_so,
  add constraint a_negative_one_is_settled check (amount > 0 or (amount < 0 and state = 'paid' and exported_at is null and elsewhere_amount = amount)),
  add constraint no_more_is_paid_than_owed check (paid_amount = amount or (paid_amount >= 0 and paid_amount <= amount)),
  add constraint who_paid_elsewhere_says_so check (
    (elsewhere_amount <> 0) = (settled_by is not null and state <> 'cancelled') and (elsewhere_amount <> 0) = (elsewhere_on is not null)
    and (elsewhere_amount = amount or (elsewhere_amount >= 0 and elsewhere_amount <= paid_amount)));
