-- Title: Which submissions were refused or are in doubt?
-- Description: Requests that need your attention, or that the next run repeats in smaller batches.
-- View: bi.outreach_submissions
select entry_id, outreach_id, platform, state, state_reason, influencers_in_request, string_agg(username, ', ' order by username) as usernames
from bi.outreach_submissions
where state in ('rejected', 'in_doubt')
group by entry_id, outreach_id, platform, state, state_reason, influencers_in_request
order by entry_id desc
limit 100;
