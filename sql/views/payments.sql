-- What was to be paid of closed statements, and what the bank says was paid.

create view bi.payments as
  select p.payment_id::text as payment_id, p.proposal_id::text as proposal_id, r.month as month_local, reporting.without_addresses(p.creator) as influencer_handle,
    p.currency, p.amount, p.state, greatest(p.paid_amount, 0) as paid_amount, p.paid_on as paid_local, p.exported_as, p.exported_at, r.proposed_at,
    p.overpaid_amount
  from ops.payments p
  join ops.payment_proposals r using (proposal_id);
comment on view bi.payments is 'Payments of closed statements, one row per payment; without bank data. Live. Answers: What was each creator paid? Which payments has the bank not confirmed?';
comment on column bi.payments.payment_id is 'Key of the row.';
comment on column bi.payments.proposal_id is 'Payments that were proposed together.';
comment on column bi.payments.month_local is 'First day of the last month in it. It also has what earlier months carried forward.';
comment on column bi.payments.influencer_handle is 'Creator, or the deal, as payees.csv names the account.';
comment on column bi.payments.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.payments.amount is 'What is to be paid, in currency. Do not add up cancelled and returned payments: their amounts are proposed again. Negative: what the creator owed is settled; it was paid back, or is not taken back, and is set off against nothing.';
comment on column bi.payments.state is 'proposed, exported, partly_paid, paid, returned or cancelled.';
comment on column bi.payments.paid_amount is 'What the bank says was paid, less what came back, in currency; or what a person paid elsewhere. 0 if amount is negative: what a creator owed was not paid to anybody.';
comment on column bi.payments.paid_local is 'Day of the last booking that paid it, or on which a person paid or settled it. Null: nothing is paid.';
comment on column bi.payments.exported_as is 'Kind of file for the bank: pain.001 or csv. Null: none, it is not exported or was paid elsewhere.';
comment on column bi.payments.exported_at is 'When the file was first written.';
comment on column bi.payments.proposed_at is 'When it was proposed.';
comment on column bi.payments.overpaid_amount is 'What the bank paid beyond amount and did not come back, in currency; not in paid_amount. It is of no statement, and set off against none.';

create view bi.accruals as
  select at_end_of as month_local, standing as state, month as earned_month_local, brand_id, currency, orders, amount as accrued_amount, kept_at as refreshed_at
  from reporting.accruals;
comment on view bi.accruals is 'What creators have earned and were not paid at the end of a month, one row per month, state, month of the orders, brand and currency. Runs compute that of the last month again, at most once an hour; earlier months stay as the last run of the month after them knew them. Without statements.payments.from, closed statements are not in it. Answers: What was earned and not paid at the end of the month?';
comment on column bi.accruals.month_local is 'First day of the month at whose end it was not paid, in the zone of the statements.';
comment on column bi.accruals.state is 'pending (the return window is open), to_close (it counts, and is in no closed statement; corrections, too), closed (in no payment), in_payment (in a payment that is not paid), paid_in_part (what was paid of such payments, negative), unknown (what the orders earn is not known), held (the same, of orders that changed), nothing (the only row of its month: nothing was earned and not paid).';
comment on column bi.accruals.earned_month_local is 'First day of the month of the orders or fees; of closed ones, of the statement. Null: several.';
comment on column bi.accruals.brand_id is 'Brand, see bi.brands. Null: unknown, or several.';
comment on column bi.accruals.currency is 'ISO 4217. Null: nothing. Never add up amounts of different currencies.';
comment on column bi.accruals.orders is 'Number of orders; 0 where only amounts are known.';
comment on column bi.accruals.accrued_amount is 'Earned and not paid, in currency. Null: unknown, so the sum of the others is the least that was accrued.';
comment on column bi.accruals.refreshed_at is 'When it was computed.';
