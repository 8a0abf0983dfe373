-- Title: Which influencers have several deals?
-- Description: By handle and platform.
-- View: bi.deals
select lower(influencer_handle) as influencer, platform, count(*) as deals, count(*) filter (where is_active) as active_deals
from bi.deals
where not is_deleted
group by 1, 2
having count(*) > 1
order by deals desc, 1
limit 100;
