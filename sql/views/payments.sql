-- What was to be paid of closed statements, and what the bank says was paid.

create view bi.payments as
  select p.payment_id::text as payment_id, p.proposal_id::text as proposal_id, r.month as month_local, reporting.without_addresses(p.creator) as influencer_handle,
    p.currency, p.amount, p.state, greatest(p.paid_amount, 0) as paid_amount, p.paid_on as paid_local, p.exported_as, p.exported_at, r.proposed_at
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
comment on column bi.payments.paid_local is 'Day of the last booking, or on which a person paid or settled it. Null: nothing is paid.';
comment on column bi.payments.exported_as is 'Kind of file for the bank: pain.001 or csv. Null: none, it is not exported or was paid elsewhere.';
comment on column bi.payments.exported_at is 'When the file was first written.';
comment on column bi.payments.proposed_at is 'When it was proposed.';
