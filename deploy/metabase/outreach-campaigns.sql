-- Title: How many influencers were submitted to each outreach, and how many have a deal by now?
-- Description: Accepted requests only, each influencer once. All deals in the mirror count, even if they did not come from the outreach.
-- View: bi.outreach_submissions
select outreach_id, platform, count(distinct platform_user_id) as influencers, sum(followers) as followers,
  count(distinct platform_user_id) filter (where is_in_a_deal) as with_a_deal, max(state_changed_at) as last_submitted_at
from bi.outreach_submissions
where state = 'accepted'
group by outreach_id, platform
order by outreach_id, platform;
