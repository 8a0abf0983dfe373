-- Title: Which deals were active on the first of the month?
-- Description: By dealflow. Only deals that had been read by then count.
-- View: bi.deals_as_of
select dealflow_id, count(*) as active_deals
from bi.deals_as_of(date_trunc('month', now(), 'UTC'))
where is_active
group by dealflow_id
order by active_deals desc, dealflow_id;
