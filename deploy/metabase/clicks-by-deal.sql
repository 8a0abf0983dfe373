-- Title: How many clicks were posted for each deal?
-- Description: Clicks of the last 30 days that the service has accepted, and those that wait or are in doubt.
-- View: bi.clicks_posted
select deal_id, influencer_handle, sum(clicks) filter (where state = 'accepted') as accepted_clicks,
  coalesce(sum(clicks) filter (where state <> 'accepted'), 0) as other_clicks
from bi.clicks_posted
where day_local >= (now() at time zone 'UTC')::date - 30
group by deal_id, influencer_handle
order by accepted_clicks desc nulls last, deal_id
limit 100;
