-- What each influencer was credited with so far. The report of a run ranks influencers by it, and adding up
-- reporting.deal_days took longer with each day that passed. src/report/refresh/deal-totals.ts keeps the sums.

create table reporting.deal_totals (
  target text not null,
  currency text not null,
  deal_id text,
  influencer_handle text,
  orders bigint not null,
  amount numeric(24,4) not null,
  primary key (target, currency)
);
comment on table reporting.deal_totals is 'Accepted orders of deal_days added up over all days, one row for each influencer and currency.';
comment on column reporting.deal_totals.target is 'As in deal_days.';
comment on column reporting.deal_totals.currency is 'ISO 4217.';
comment on column reporting.deal_totals.deal_id is 'Deal, where an order names one.';
comment on column reporting.deal_totals.influencer_handle is 'Influencer, where an order names one.';
comment on column reporting.deal_totals.orders is 'How many; 0 if they were all credited to somebody else afterwards.';
comment on column reporting.deal_totals.amount is 'Their revenue, in currency.';
create index deal_totals_rank on reporting.deal_totals (currency, amount desc, target) where orders > 0;

alter table reporting.refresh add column totalled_at timestamptz;
comment on column reporting.refresh.totalled_at is 'Equals refreshed_at if deal_totals includes that refresh. Otherwise an older version refreshed the reports, and the totals must be added up again.';

-- A run looks up what was accepted since it began, in whichever order the table was written and even if nothing summarises a BRIN index.
create index order_dispositions_accepted on reporting.order_dispositions (job, disposition_at) where disposition = 'accepted';
drop index reporting.order_dispositions_since;

create index adjustments_run on ledger.adjustments (run_id);
