-- What we posted against what the service counts.

create view bi.reconciliation as
  select r.deal_id, reporting.without_addresses(d.influencer_handle) as influencer_handle, d.brand_id, r.first_read_at, r.read_at,
    r.theirs as counted_orders, r.ours as posted_orders, r.before as earlier_orders, r.others as other_orders,
    r.doubts + r.written_off + r.late + r.credited_twice as possible_orders, r.afterwards as later_orders, r.unexplained as unexplained_orders,
    r.theirs_amount as sales_in_account_currency, r.ours_amount as posted_in_account_currency, r.other_currency as other_currency_orders,
    r.unexplained_amount as unexplained_in_account_currency, r.paid_amount as paid_in_account_currency, r.account_currency, r.run_id
  from reporting.reconciliation r
  left join mirror.deal_versions d on d.deal_id = r.deal_id and d.is_latest;
comment on view bi.reconciliation is 'Posted orders compared with those that the service counts, one row per deal, as of the last publication of the mirror. docs/money.md explains each number. Answers: For which deals does the service count more or fewer orders than were posted?';
comment on column bi.reconciliation.deal_id is 'Key of the row: deal, see bi.deals.';
comment on column bi.reconciliation.influencer_handle is 'Influencer, if the mirror knows it.';
comment on column bi.reconciliation.brand_id is 'Brand, see bi.brands.';
comment on column bi.reconciliation.first_read_at is 'When the mirror first read a total; null: never.';
comment on column bi.reconciliation.read_at is 'When the mirror last read a total; null: never.';
comment on column bi.reconciliation.counted_orders is 'Orders that the service counts, of all channels. Null: the service does not say.';
comment on column bi.reconciliation.posted_orders is 'Orders that this tool posted and that were accepted by read_at.';
comment on column bi.reconciliation.earlier_orders is 'Orders that the service counted at first_read_at beyond those that this tool had posted: from earlier times, or from other tools. Null: unknown.';
comment on column bi.reconciliation.other_orders is 'Orders that another tool posted since then, according to events of the service.';
comment on column bi.reconciliation.possible_orders is 'Orders that may be counted: in doubt, written off, accepted twice, or in flight while the deal was read.';
comment on column bi.reconciliation.later_orders is 'Orders that were accepted after read_at, and are not counted yet.';
comment on column bi.reconciliation.unexplained_orders is 'Unexplained difference: above 0, the service counts more orders, below 0, fewer. Null: unknown.';
comment on column bi.reconciliation.sales_in_account_currency is 'Sales that the service counts. Null: the service does not say.';
comment on column bi.reconciliation.posted_in_account_currency is 'Revenue of posted_orders. Null: an order has another currency, or the currency of the account is unknown.';
comment on column bi.reconciliation.other_currency_orders is 'Orders in another currency, for which no event states the amount in the currency of the account.';
comment on column bi.reconciliation.unexplained_in_account_currency is 'Unexplained amount. Null: amounts cannot be compared.';
comment on column bi.reconciliation.paid_in_account_currency is 'Total paid out, according to the service.';
comment on column bi.reconciliation.account_currency is 'Currency of the account (ISO 4217). Null: unknown.';
comment on column bi.reconciliation.run_id is 'Run of the mirror that published the totals, see bi.runs.';
