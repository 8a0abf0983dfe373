-- How often each code is used, day by day: leaks are looked for in it. Counted live, it takes as long as there are orders.

create table reporting.code_use_days (
  day_utc date not null,
  code_folded text not null,
  orders bigint not null check (orders > 0),
  without_link bigint not null check (without_link between 0 and orders)
);
create index code_use_days_day on reporting.code_use_days (day_utc);
create index code_use_days_code on reporting.code_use_days (code_folded, day_utc);
comment on table reporting.code_use_days is 'Orders that carry a code, by day; cancelled orders and tests are left out, and so are codes that contain an e-mail address.';
comment on column reporting.code_use_days.day_utc is 'Day of the orders, in UTC.';
comment on column reporting.code_use_days.code_folded is 'The code without blanks, case folded: what it is matched by.';
comment on column reporting.code_use_days.orders is 'Orders that carry it.';
comment on column reporting.code_use_days.without_link is 'Of those: carry no link, so that only the code leads to a creator.';

-- The next refresh counts all days.
insert into reporting.changed_days (day_utc) select distinct day_utc from reporting.order_dispositions on conflict do nothing;

-- Events of the orders of one deal.
create index evidence_deal on ledger.evidence (deal_id) where kind = 'webhook_order';
