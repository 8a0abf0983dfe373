-- Orders with evidence for more than one owner, with their day and the winner of each rule. Grouping intake.order_claims and looking up each order took
-- longer with each such order, whichever month was asked for. src/report/refresh/keep-conflicts.ts keeps the rows.

create table reporting.conflicts (
  job text not null,
  source text not null,
  order_id text not null,
  ordered_at timestamptz not null,
  day_utc date not null,
  conflict text not null check (conflict in ('named', 'link_and_code', 'codes', 'links')),
  currency text not null,
  amount numeric(18,4) not null,
  disposition text not null check (disposition in ('accepted', 'ready', 'rejected', 'in_doubt', 'held')),
  target text,
  first_target text,
  last_target text,
  explicit_target text,
  primary key (job, source, order_id)
);
create index conflicts_day on reporting.conflicts (day_utc desc, job, source, order_id);
comment on table reporting.conflicts is 'Orders of intake.order_claims, one row each, as of the last refresh. Orders that are not credited to anybody are left out, unless they are held.';
comment on column reporting.conflicts.job is 'Job that decided.';
comment on column reporting.conflicts.source is 'Source of the order.';
comment on column reporting.conflicts.order_id is 'The order.';
comment on column reporting.conflicts.ordered_at is 'As in order_dispositions.';
comment on column reporting.conflicts.day_utc is 'Day of ordered_at in UTC.';
comment on column reporting.conflicts.conflict is 'named (the export names one owner, and a code or link another), link_and_code, codes or links.';
comment on column reporting.conflicts.currency is 'ISO 4217.';
comment on column reporting.conflicts.amount is 'Revenue, in currency, as in order_dispositions.';
comment on column reporting.conflicts.disposition is 'As in order_dispositions.';
comment on column reporting.conflicts.target is 'Who is credited, as in order_dispositions.';
comment on column reporting.conflicts.first_target is 'Owner of the first link or code. Null: it has two owners.';
comment on column reporting.conflicts.last_target is 'Owner of the last link or code. Null: it has two owners.';
comment on column reporting.conflicts.explicit_target is 'Owner whom the export names. Null: it names nobody.';

alter table reporting.refresh add column conflicts_at timestamptz;
comment on column reporting.refresh.conflicts_at is 'Equals refreshed_at if conflicts includes that refresh. Otherwise an older version refreshed the reports, and all conflicts must be read again.';
