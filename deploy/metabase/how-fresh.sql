-- Title: When were the daily sums last refreshed?
-- Description: The last refresh, by any job.
-- View: bi.run_health
select max(refreshed_at) as refreshed_at, round(extract(epoch from now() - max(refreshed_at)) / 60) as minutes_ago
from bi.run_health;
