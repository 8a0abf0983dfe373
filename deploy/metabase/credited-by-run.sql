-- Title: How much was credited by each run?
-- Description: Runs of the last 30 days that credited something.
-- View: bi.run_amounts
select run_id, job, started_at, currency, accepted_amount
from bi.run_amounts
where started_at >= now() - interval '30 days' and accepted_amount > 0
order by run_id desc, currency
limit 200;
