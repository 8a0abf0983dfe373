-- Orders that creators say were not credited.

create view bi.credit_claims as
  select claim_id::text as claim_id, reporting.without_addresses(creator) as influencer_handle, order_id, amount, currency, claimed_on as claimed_local, code,
    deadline_on as deadline_local, state, answer, credited_amount, credited_currency, statement_month as statement_month_local,
    added_at, answered_at, closed_at,
    found_order_id is not null
      and row_number() over (partition by answer, found_source, found_order_id order by claim_id) > 1 as is_repeated
  from ops.credit_claims;
comment on view bi.credit_claims is 'Orders that creators and agencies say were not credited, one row per claim, with the answer that was given. Live. Answers: Which claims of creators wait for an answer? What were claims answered?';
comment on column bi.credit_claims.claim_id is 'Key of the row.';
comment on column bi.credit_claims.influencer_handle is 'Handle or deal of the creator, as the claim writes it.';
comment on column bi.credit_claims.order_id is 'Order as the claim writes it. Null: it is named by amount and day.';
comment on column bi.credit_claims.amount is 'Amount of the order as claimed, in currency. Null: the claim does not say it.';
comment on column bi.credit_claims.currency is 'ISO 4217. Null without an amount. Never add up amounts of different currencies.';
comment on column bi.credit_claims.claimed_local is 'Day of the order as claimed, in the time zone of the statements.';
comment on column bi.credit_claims.code is 'Discount code as claimed.';
comment on column bi.credit_claims.deadline_local is 'Day by which an answer is due. Null: none was set.';
comment on column bi.credit_claims.state is 'open, answered, upheld, rejected or withdrawn.';
comment on column bi.credit_claims.answer is 'The answer that was given, for example credited or excluded. Null while the claim is open: its answer is decided whenever `claims` shows it.';
comment on column bi.credit_claims.credited_amount is 'Revenue that is credited to the creator for the order, in credited_currency. Null: nothing, or the claim is open.';
comment on column bi.credit_claims.credited_currency is 'ISO 4217.';
comment on column bi.credit_claims.statement_month_local is 'First day of the month of the first closed statement that counts the order. Null: none, or the claim is open.';
comment on column bi.credit_claims.added_at is 'When the claim was added.';
comment on column bi.credit_claims.answered_at is 'When it was answered.';
comment on column bi.credit_claims.closed_at is 'When a person upheld, rejected or withdrew it.';
comment on column bi.credit_claims.is_repeated is 'True: an earlier claim of the same order, by another of its names or of its creator, got the same answer. Leave these rows out of sums.';
