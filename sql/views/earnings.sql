-- What influencers have earned: closed statements. An open one is not here: `npx influencer-sync statement` shows it.

create view bi.statements as
  select statement_id, month as month_local, to_char(month, 'YYYY-MM') as month_name, time_zone, return_window_days, lines, closed_by, closed_at, hash as sha256
  from ops.statements;
comment on view bi.statements is 'Closed statements of earnings, one row per month. Live; a closed statement never changes.';
comment on column bi.statements.statement_id is 'Key of the row. Counts up.';
comment on column bi.statements.month_local is 'First day of the month.';
comment on column bi.statements.month_name is 'The month, for example 2026-10.';
comment on column bi.statements.time_zone is 'IANA zone of its days.';
comment on column bi.statements.return_window_days is 'Days after which an order counts.';
comment on column bi.statements.lines is 'Number of its lines.';
comment on column bi.statements.closed_by is 'Who closed it.';
comment on column bi.statements.closed_at is 'When it was closed.';
comment on column bi.statements.sha256 is 'SHA-256 over the statement and the previous one; `statement verify` computes it again.';

create view bi.statement_lines as
  select l.statement_id, l.line_no, s.month as month_local, l.kind, l.subject, l.entry_id, l.source, l.order_platform, l.order_id, l.ordered_on as ordered_local, l.due_on as due_local,
    l.deal_id, l.collab_id, l.brand_id, reporting.without_addresses(l.influencer_handle) as influencer_handle, l.currency, l.sent_amount,
    l.net_amount, l.rate_percent, l.rate_from, l.earned_amount, l.closed_before as closed_before_amount, l.amount, l.excluded_amount,
    l.terms_text
  from ops.statement_lines l
  join ops.statements s using (statement_id);
comment on view bi.statement_lines is 'Lines of closed statements, one row per line. The lines of an order add up to what it had earned when the last of these statements was closed. Live. Answers: Which orders did the last statement correct?';
comment on column bi.statement_lines.statement_id is 'Statement, see bi.statements. With line_no, the key of the row.';
comment on column bi.statement_lines.line_no is 'Position in the statement, from 1.';
comment on column bi.statement_lines.month_local is 'First day of the month of the statement.';
comment on column bi.statement_lines.kind is 'order (counts for the first time), correction (it differs from an earlier statement), fixed_fee.';
comment on column bi.statement_lines.subject is 'What the line is about; the same for all lines about one order or fee.';
comment on column bi.statement_lines.entry_id is 'Entry that was sent, see bi.orders_attributed; null for a fee.';
comment on column bi.statement_lines.source is 'Source of the order.';
comment on column bi.statement_lines.order_platform is 'Shop platform as sent.';
comment on column bi.statement_lines.order_id is 'Order as sent.';
comment on column bi.statement_lines.ordered_local is 'Day of the order, in the zone of the statement.';
comment on column bi.statement_lines.due_local is 'Day from which it counts.';
comment on column bi.statement_lines.deal_id is 'Deal, see bi.deals.';
comment on column bi.statement_lines.collab_id is 'Collaboration within the deal.';
comment on column bi.statement_lines.brand_id is 'Brand, see bi.brands.';
comment on column bi.statement_lines.influencer_handle is 'Influencer, if known.';
comment on column bi.statement_lines.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.statement_lines.sent_amount is 'Revenue as it was sent, in currency.';
comment on column bi.statement_lines.net_amount is 'Revenue net of refunds and cancellations, in currency.';
comment on column bi.statement_lines.rate_percent is 'Commission in percent.';
comment on column bi.statement_lines.rate_from is 'Where the rate comes from: code or deal (of the terms), or service.';
comment on column bi.statement_lines.earned_amount is 'Total that the order has earned, in currency.';
comment on column bi.statement_lines.closed_before_amount is 'Total of the order in earlier statements, in currency.';
comment on column bi.statement_lines.amount is 'What the statement adds, in currency; negative after a refund.';
comment on column bi.statement_lines.excluded_amount is 'Part of net_amount that earns nothing, because the terms exclude the product, in currency. Null: none.';
comment on column bi.statement_lines.terms_text is 'Lines of terms.csv by which it was earned, and what they said when it was closed. Null: by the rate of the service, or closed before they were kept.';

create view bi.statement_deals as
  select s.statement_id, s.month as month_local, nullif(d.deal_id, '') as deal_id, d.currency, d.orders, d.commission_amount, d.correction_amount,
    d.fee_amount, d.paid_amount
  from reporting.statement_deals d
  join ops.statements s using (statement_id);
comment on view bi.statement_deals is 'What closed statements pay, one row per statement, deal and currency: of all creators of a deal that changed hands (bi.statement_lines has the creator of each line). Live; a closed statement never changes. Answers: What was each deal paid in each month? What has each deal earned, and what was paid out?';
comment on column bi.statement_deals.statement_id is 'Statement, see bi.statements.';
comment on column bi.statement_deals.month_local is 'First day of the month of the statement.';
comment on column bi.statement_deals.deal_id is 'Deal, see bi.deals. Null: fees of codes without a deal.';
comment on column bi.statement_deals.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.statement_deals.orders is 'Number of orders that count for the first time.';
comment on column bi.statement_deals.commission_amount is 'Commission for these orders, in currency.';
comment on column bi.statement_deals.correction_amount is 'Corrections of earlier statements, for example after refunds, in currency.';
comment on column bi.statement_deals.fee_amount is 'Fixed fees, in currency.';
comment on column bi.statement_deals.paid_amount is 'What the deal earned in the month: commission, corrections and fees together, in currency. The service does not confirm that it was paid out.';
