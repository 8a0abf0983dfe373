-- contract: stop processes of earlier versions first. They go on posting, but cannot keep what orders earn, so the reports stay behind.
-- Terms with conditions: the rows of terms.csv that an order earns by, and why it is unknown what it earns.

alter table ops.statement_lines
  add column terms_lines integer[] check (cardinality(terms_lines) > 0),
  add column terms_text text,
  add constraint terms_are_lines_and_text check ((terms_lines is null) = (terms_text is null));
comment on column ops.statement_lines.terms_lines is 'Lines of terms.csv by which it was earned, when it was closed; null: by the rate of the service, or closed before they were kept.';
comment on column ops.statement_lines.terms_text is 'These lines and what they said: the filled cells with their columns.';

alter table ops.statements add column carried jsonb check (jsonb_typeof(carried) = 'array');
comment on column ops.statements.carried is 'What deals had earned and did not reach their minimum payout: dealId, currency, amount, minimum. It is in no line. Null: nothing.';

alter table reporting.order_earnings add column terms_lines integer[];
comment on column reporting.order_earnings.terms_lines is 'Lines of terms.csv by which it earns. Null: by the rate of the service, or unknown.';

alter table reporting.order_earnings
  drop constraint order_earnings_standing_check,
  add constraint order_earnings_standing_check
    check (standing in ('new', 'nothing', 'correction', 'settled', 'unknown_rate', 'unknown_lines', 'unknown_net',
      'unknown_customer', 'unknown_start', 'unknown_tier', 'unknown_currency', 'unknown_change'));
comment on column reporting.order_earnings.standing is 'new (it has earned something, and is in no closed statement), nothing (in none, and it has earned 0), correction (it has earned something else than its closed statements say), settled (the same); unknown_rate, unknown_lines, unknown_net, unknown_customer, unknown_start, unknown_tier, unknown_currency: why it is unknown.';

create index deal_earnings_why on reporting.deal_earnings (standing, deal_id) where standing like 'unknown%';
