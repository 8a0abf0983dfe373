-- Title: Which creators of the lists have no deal yet?
-- Description: Creators without a known deal, and why they have none.
-- View: bi.creators_imported
select influencer_handle, platform, state, state_reason, stated_at
from bi.creators_imported
where deal_id is null and state <> 'superseded'
order by stated_at desc, influencer_handle, platform
limit 100;
