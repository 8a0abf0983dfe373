-- Title: What ran last night, and how did it end?
-- Description: Runs of the last 24 hours.
-- View: bi.runs
select run_id, job, status, started_at, duration_seconds, rows_read, rejected_rows, accepted_orders, problem
from bi.runs
where started_at >= now() - interval '24 hours'
order by run_id desc
limit 200;
