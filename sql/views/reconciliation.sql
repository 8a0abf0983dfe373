-- What we posted against what the service counts.

create view bi.reconciliation as
  select r.deal_id, reporting.without_addresses(d.influencer_handle) as influencer_handle, d.brand_id, r.first_read_at, r.read_at,
    r.theirs as counted_orders, r.ours as posted_orders, r.before as earlier_orders, r.others as other_orders,
    r.doubts + r.written_off + r.late + r.credited_twice as possible_orders, r.afterwards as later_orders, r.unexplained as unexplained_orders,
    r.theirs_amount as sales_in_account_currency, r.ours_amount as posted_in_account_currency, r.other_currency as other_currency_orders,
    r.unexplained_amount as unexplained_in_account_currency, r.paid_amount as paid_in_account_currency, r.account_currency, r.run_id
  from reporting.reconciliation r
  left join mirror.deal_versions d on d.deal_id = r.deal_id and d.is_latest;
comment on view bi.reconciliation is 'What we posted against what the service counts, one row a deal, as of the last publication of the mirror. How each number is made: docs/money.md. Answers: For which deals does the service count other orders than we posted?';
comment on column bi.reconciliation.deal_id is 'Key of the row: deal, see bi.deals.';
comment on column bi.reconciliation.influencer_handle is 'Influencer, where the mirror knows it.';
comment on column bi.reconciliation.brand_id is 'Brand, see bi.brands.';
comment on column bi.reconciliation.first_read_at is 'When the mirror first read a total; null: never.';
comment on column bi.reconciliation.read_at is 'When it last did; null: never.';
comment on column bi.reconciliation.counted_orders is 'Orders that the service counts, of all channels. Null: it does not say.';
comment on column bi.reconciliation.posted_orders is 'Orders that we posted, and whose acceptance was recorded by read_at.';
comment on column bi.reconciliation.earlier_orders is 'What the service counted beyond ours at first_read_at: of before we began, or of others. Null: unknown.';
comment on column bi.reconciliation.other_orders is 'Orders posted by somebody else since then, as events of the service say.';
comment on column bi.reconciliation.possible_orders is 'May be counted or not: in doubt, written off, accepted twice, or on their way while the deal was read.';
comment on column bi.reconciliation.later_orders is 'Accepted after read_at: not counted yet.';
comment on column bi.reconciliation.unexplained_orders is 'What nothing else explains: above 0 the service counts more, below 0 fewer. Null: unknown.';
comment on column bi.reconciliation.sales_in_account_currency is 'Sales that the service counts. Null: it does not say.';
comment on column bi.reconciliation.posted_in_account_currency is 'Revenue of posted_orders. Null: an order is in another currency, or that of the account is unknown.';
comment on column bi.reconciliation.other_currency_orders is 'Orders in another currency whose amount in that of the account no event says.';
comment on column bi.reconciliation.unexplained_in_account_currency is 'Amount that nothing else explains. Null: amounts cannot be compared.';
comment on column bi.reconciliation.paid_in_account_currency is 'Paid out in all, as the service says.';
comment on column bi.reconciliation.account_currency is 'ISO 4217, of the amounts. Null: unknown.';
comment on column bi.reconciliation.run_id is 'Run of the mirror that published the totals, see bi.runs.';
