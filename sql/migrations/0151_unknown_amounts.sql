-- contract: stop processes of earlier versions first. They go on posting, but cannot add up orders whose amount is unknown, so the reports stay behind.
-- An amount that is not known is null, and sums count the orders without one. Until now it was 0, and part of each sum.
alter table reporting.order_dispositions alter column amount drop not null;
alter table reporting.conflicts alter column amount drop not null;
alter table reporting.funnel_days
  alter column amount drop not null,
  add column without_amount bigint not null default 0,
  add constraint unknown_without_any_amount check (without_amount between 0 and orders and (amount is null) = (without_amount = orders));
alter table reporting.code_days
  alter column amount drop not null,
  add column without_amount bigint not null default 0,
  add constraint unknown_without_any_amount check (without_amount between 0 and orders and (amount is null) = (without_amount = orders));
alter table reporting.return_months
  alter column net_30_amount drop not null,
  alter column net_90_amount drop not null,
  alter column net_365_amount drop not null;
comment on column reporting.return_months.net_30_amount is 'Net revenue of all orders of new_customers in this currency, in 30 days from the first. Null: there are none, or the amount of an order is unknown.';
comment on column reporting.order_dispositions.amount is 'Revenue as sent, or else by the job''s rule, in currency. Null: unknown.';
comment on column reporting.conflicts.amount is 'Revenue as sent, or else by the job''s rule, in currency. Null: unknown.';
comment on column reporting.funnel_days.amount is 'Revenue of those whose amount is known, in currency. Null: none is.';
comment on column reporting.funnel_days.without_amount is 'How many of these orders have no known amount.';
comment on column reporting.code_days.amount is 'Revenue of those whose amount is known, in currency. Null: none is.';
comment on column reporting.code_days.without_amount is 'How many of these orders have no known amount.';

-- A refresh compares only orders that are open or were decided since. The next run adds up the days of the others anew.
with unknown as (
  update reporting.order_dispositions s set amount = null
  where s.entry_id is null
    and not exists (
      select from intake.attributions a
      where a.job = s.job and a.source = s.source and a.order_id = s.order_id and a.amount is not null)
  returning s.day_utc, s.job, s.source, s.order_id
), disputed as (
  update reporting.conflicts k set amount = null
  from unknown u
  where k.job = u.job and k.source = u.source and k.order_id = u.order_id
)
insert into reporting.changed_days (day_utc) select distinct day_utc from unknown
on conflict do nothing;

-- The next run also computes anew what customers are worth: an order of theirs may have counted as 0, credited or not.
insert into reporting.changed_deals (deal_id, month_utc) select distinct deal_id, month_utc from reporting.return_months
on conflict do nothing;
