-- What a person paid elsewhere of a payment, apart from what the bank booked: if the bank's part comes back, it is open again.
alter table ops.payments
  add column elsewhere_amount numeric(24,4) not null default 0 check (elsewhere_amount >= 0),
  add column elsewhere_on date;
comment on column ops.payments.elsewhere_amount is 'Part of paid_amount that a person paid without the file for the bank, or agreed not to owe, in currency.';
comment on column ops.payments.elsewhere_on is 'Day on which the person paid it, the last one if there were several. Null: nothing was paid elsewhere.';
comment on column ops.payments.paid_amount is 'What the bank says was paid, less what came back, and what a person paid elsewhere, in currency.';

update ops.payments p
set elsewhere_on = p.paid_on,
  elsewhere_amount = p.amount - (
    select coalesce(sum(case kind when 'paid' then e.amount else -e.amount end), 0) from ops.bank_entries e
    where e.payment_id = p.payment_id and e.outcome = 'counted')
where p.state = 'paid' and p.settled_by is not null;

alter table ops.payments add constraint who_paid_elsewhere_says_so check (
  (elsewhere_amount > 0) = (settled_by is not null and state <> 'cancelled')
  and (elsewhere_amount > 0) = (elsewhere_on is not null) and elsewhere_amount <= paid_amount);
