-- What the service counts beyond orders that are proven, so that pages can say what it suggests about doubts.
alter table reporting.reconciliation
  add column unproven numeric,
  add column unproven_amount numeric(24,4),
  add column doubts_amount numeric(24,4),
  add column doubt_ids bigint[];
comment on column reporting.reconciliation.unproven is 'Growth of the total of orders beyond those that were certainly counted. Null: a total is unknown.';
comment on column reporting.reconciliation.unproven_amount is 'The same for sales, in account_currency. Null: cannot be compared.';
comment on column reporting.reconciliation.doubts_amount is 'Revenue of the orders in doubt, in account_currency. Null: none, or cannot be compared.';
comment on column reporting.reconciliation.doubt_ids is 'Entries in doubt, see ledger.entries. Null: none, more than 20, or growth says nothing about them, as for orders that were sent twice.';
