-- Title: What was each deal paid in each month?
-- Description: Closed statements by month, deal and currency: commission, corrections of earlier months, fees, and their total. The last three statements, the newest first; 2,000 rows at most.
-- View: bi.statement_lines
select to_char(month_local, 'YYYY-MM') as month, deal_id, currency,
  sum(amount) filter (where kind = 'order') as commission_amount,
  sum(amount) filter (where kind = 'correction') as correction_amount,
  sum(amount) filter (where kind = 'fixed_fee') as fee_amount,
  sum(amount) as paid_amount
from bi.statement_lines
where statement_id in (select statement_id from bi.statements order by month_local desc limit 3)
group by month_local, deal_id, currency
order by month_local desc, paid_amount desc, deal_id, currency
limit 2000;
