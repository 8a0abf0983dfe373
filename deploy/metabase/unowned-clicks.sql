-- Title: Which links and codes are clicked and belong to no influencer?
-- Description: Clicks of the last 30 days that were credited to no influencer, the most clicked first. If a code belongs to an influencer, add it to codes.csv.
-- View: bi.clicks
select clicked, outcome_reason, sum(stated_clicks) as clicks, min(day_local) as first_day, max(day_local) as last_day
from bi.clicks
where outcome in ('unattributed', 'held') and day_local >= (now() at time zone 'UTC')::date - 30
group by clicked, outcome_reason
order by clicks desc, clicked
limit 100;
