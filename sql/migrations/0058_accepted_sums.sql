-- What `status` adds up: all entries that were ever accepted. An accepted entry never changes again, so those that were counted once need not be
-- read again. src/report/refresh/count-accepted.ts says why the sum is exact at any moment.

create table reporting.accepted_sums (
  job text not null,
  currency text not null,
  entries bigint not null check (entries > 0),
  amount numeric not null,
  oldest timestamptz not null,
  primary key (job, currency)
);
comment on table reporting.accepted_sums is 'Accepted entries of the ledger, added up: those with an id up to refresh.counted_entry_id that are not in uncounted_entries.';
comment on column reporting.accepted_sums.job is 'Job.';
comment on column reporting.accepted_sums.currency is 'ISO 4217; empty for entries without an amount.';
comment on column reporting.accepted_sums.entries is 'Number of entries.';
comment on column reporting.accepted_sums.amount is 'Their revenue as sent, in currency.';
comment on column reporting.accepted_sums.oldest is 'When the first of them was accepted.';

create table reporting.uncounted_entries (
  entry_id bigint primary key
);
comment on table reporting.uncounted_entries is 'Entries with an id up to refresh.counted_entry_id that were not accepted when they were last looked at.';
comment on column reporting.uncounted_entries.entry_id is 'Entry.';

alter table reporting.refresh add column counted_entry_id bigint not null default 0;
comment on column reporting.refresh.counted_entry_id is 'Up to this id, entries are in accepted_sums or in uncounted_entries.';
