-- What we posted against what the service counts, deal by deal, as of the last publication of the mirror.

create table reporting.reconciliation (
  deal_id text primary key,
  first_read_at timestamptz,
  read_at timestamptz,
  theirs numeric,
  ours bigint not null,
  before numeric,
  others bigint not null,
  doubts bigint not null,
  written_off bigint not null,
  late bigint not null,
  credited_twice bigint not null,
  afterwards bigint not null,
  unexplained numeric,
  account_currency text,
  theirs_amount numeric,
  ours_amount numeric(24,4),
  other_currency bigint not null,
  unexplained_amount numeric(24,4),
  paid_amount numeric,
  run_id bigint not null
);
comment on table reporting.reconciliation is 'What we posted against what the service counts, one row a deal. Replaced whole each time the mirror publishes.';
comment on column reporting.reconciliation.deal_id is 'Deal.';
comment on column reporting.reconciliation.first_read_at is 'When the mirror first read a total of orders; null: never.';
comment on column reporting.reconciliation.read_at is 'When it last did.';
comment on column reporting.reconciliation.theirs is 'Orders that the service counts, of all channels; null where it does not say.';
comment on column reporting.reconciliation.ours is 'Orders that we posted, and whose acceptance was recorded by read_at.';
comment on column reporting.reconciliation.before is 'What the service counted beyond ours at first_read_at.';
comment on column reporting.reconciliation.others is 'Orders posted by somebody else since, as events say.';
comment on column reporting.reconciliation.doubts is 'In doubt: may be counted or not.';
comment on column reporting.reconciliation.written_off is 'Written off: may be counted or not.';
comment on column reporting.reconciliation.late is 'On their way while the deal was read: may be counted or not.';
comment on column reporting.reconciliation.credited_twice is 'Further requests that the service accepted for an order: may be counted or not.';
comment on column reporting.reconciliation.afterwards is 'Accepted after read_at: not counted yet.';
comment on column reporting.reconciliation.unexplained is 'Orders that nothing else explains; above 0 the service counts more, below 0 fewer.';
comment on column reporting.reconciliation.account_currency is 'ISO 4217, of the amounts; null: unknown.';
comment on column reporting.reconciliation.theirs_amount is 'Sales that the service counts.';
comment on column reporting.reconciliation.ours_amount is 'Revenue of ours; null where an order is in another currency.';
comment on column reporting.reconciliation.other_currency is 'Orders in another currency whose amount in that of the account nobody says.';
comment on column reporting.reconciliation.unexplained_amount is 'Amount that nothing else explains; null: cannot be compared.';
comment on column reporting.reconciliation.paid_amount is 'Paid out in all, as the service says.';
comment on column reporting.reconciliation.run_id is 'Run of the mirror that published the totals.';
