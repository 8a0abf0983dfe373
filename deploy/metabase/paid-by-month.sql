-- Title: What was each deal paid in each month?
-- Description: Closed statements by month, deal and currency: commission, corrections of earlier months, fees, and their total. The last three statements, the newest first; 2,000 rows at most.
-- View: bi.statement_deals
select to_char(month_local, 'YYYY-MM') as month, deal_id, currency, commission_amount, correction_amount, fee_amount, paid_amount
from bi.statement_deals
where statement_id in (select statement_id from bi.statements order by month_local desc limit 3)
order by month_local desc, paid_amount desc, deal_id, currency
limit 2000;
