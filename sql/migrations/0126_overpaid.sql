-- What a person confirmed that the bank paid beyond a payment was known only from its bookings.
alter table ops.payments add column overpaid_amount numeric(24,4) not null default 0 check (overpaid_amount >= 0);
comment on column ops.payments.overpaid_amount is 'What the bank paid beyond amount and has not come back, in currency; not in paid_amount.';
update ops.payments p set overpaid_amount = greatest(0, p.elsewhere_amount - p.amount + (
  select coalesce(sum(case b.kind when 'paid' then b.amount else -b.amount end), 0) from ops.bank_entries b
  where b.payment_id = p.payment_id and b.outcome = 'counted'))
where p.state = 'paid' and p.amount > 0;
