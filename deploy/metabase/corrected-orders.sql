-- Title: Which orders did the last statement correct?
-- Description: Orders that have earned something else than earlier statements said, for example because they were refunded, and the difference. The largest differences first; 2,000 rows at most.
-- View: bi.statement_lines
select to_char(month_local, 'YYYY-MM') as month, deal_id, source, order_id, currency, closed_before_amount, earned_amount, amount
from bi.statement_lines
where kind = 'correction' and statement_id = (select statement_id from bi.statements order by month_local desc limit 1)
order by abs(amount) desc, line_no
limit 2000;
