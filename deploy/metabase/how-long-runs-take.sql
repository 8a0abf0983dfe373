-- Title: How long do runs take?
-- Description: By job, over the last 30 days.
-- View: bi.runs
select job, count(*) as runs, count(*) filter (where not is_ok) as not_ok, round(avg(duration_seconds), 1) as average_seconds,
  max(duration_seconds) as longest_seconds
from bi.runs
where started_at >= now() - interval '30 days'
group by job
order by job;
