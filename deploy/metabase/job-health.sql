-- Title: Does every job run as it should?
-- Description: One row per job: alert on hours_since_ok, failures_since_ok, missed_slots, is_lost and in_doubt_orders.
-- View: bi.run_health
select job, last_status, last_started_at, hours_since_ok, failures_since_ok, is_running, is_lost, missed_slots, ready_orders, in_doubt_orders
from bi.run_health
order by job;
