-- What a person confirmed that the bank paid beyond a payment was known only from its bookings.
alter table ops.payments add column overpaid_amount numeric(24,4) not null default 0 check (overpaid_amount >= 0);
comment on column ops.payments.overpaid_amount is 'What the bank paid beyond amount and has not come back, in currency; not in paid_amount.';
update ops.payments p set overpaid_amount = greatest(0, p.elsewhere_amount - p.amount + (
  select coalesce(sum(case b.kind when 'paid' then b.amount else -b.amount end), 0) from ops.bank_entries b
  where b.payment_id = p.payment_id and b.outcome = 'counted'))
where p.state = 'paid' and p.amount > 0;
-- A run and a person decide differently: what a person decided about an order stays until it is stated otherwise.
alter table ledger.adjustments add column is_decision boolean not null default false;
comment on column ledger.adjustments.is_decision is 'Whether a person decided it (`statement restated`), and no run.';
comment on column ledger.adjustments.run_id is 'Run that noticed, also what a person then decided about.';
comment on column ledger.adjustments.order_version_id is 'Version of the order that differs. Null: a person decided, in the currency that was sent.';
