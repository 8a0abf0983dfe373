-- Title: What was earned and not paid at the end of the month?
-- Description: The last month, by state and currency. A blank amount is unknown: the others are the least that was accrued.
-- View: bi.accruals
select to_char(month_local, 'YYYY-MM') as month, currency, state, sum(orders) as orders, sum(accrued_amount) as amount
from bi.accruals
where month_local = (select max(month_local) from bi.accruals)
group by 1, currency, state
order by currency, state;
