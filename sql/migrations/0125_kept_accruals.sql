-- Accruals depend on the terms, which are in a file, so that no view can compute them.
create table reporting.accruals (
  at_end_of date not null,
  standing text not null check (standing in ('pending', 'to_close', 'closed', 'in_payment', 'paid_in_part', 'unknown', 'held', 'nothing')),
  month date,
  brand_id text,
  currency text,
  orders bigint not null,
  amount numeric(24,4),
  kept_at timestamptz not null default now(),
  unique nulls not distinct (at_end_of, standing, month, brand_id, currency),
  constraint nothing_has_no_currency check ((currency is null) = (standing = 'nothing')),
  constraint only_the_unknown_has_no_amount check ((amount is null) = (standing in ('unknown', 'held')))
);
comment on table reporting.accruals is 'What is earned and not paid at the end of a month, as the last run until the end of the next month knew it. Of the command `accruals`.';
comment on column reporting.accruals.at_end_of is 'First day of the month.';
comment on column reporting.accruals.standing is 'pending, to_close, closed, in_payment, paid_in_part, unknown or held; nothing, alone: there is none.';
comment on column reporting.accruals.month is 'First day of the month of the order or fee; if it is closed, of the statement. Null: several.';
comment on column reporting.accruals.brand_id is 'Brand. Null: unknown, or several.';
comment on column reporting.accruals.currency is 'ISO 4217. Null: nothing.';
comment on column reporting.accruals.orders is 'Orders; 0 where only amounts are known.';
comment on column reporting.accruals.amount is 'In currency. Null: unknown.';
comment on column reporting.accruals.kept_at is 'As of when it was computed.';
