-- Title: Which creators of the lists have no deal yet?
-- Description: Creators for whom no deal is known, with what they wait for.
-- View: bi.creators_imported
select influencer_handle, platform, state, state_reason, stated_at
from bi.creators_imported
where deal_id is null and state <> 'superseded'
order by stated_at desc, influencer_handle, platform
limit 100;
