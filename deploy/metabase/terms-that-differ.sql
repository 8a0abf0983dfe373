-- Title: Which deals have terms that differ from the list?
-- Description: Change the terms on the deal page, or correct the list: the service has no operation to change them.
-- View: bi.creators_imported
select influencer_handle, deal_id, differing_terms, code, code_percent, commission_percent, custom_link, custom_link_target
from bi.creators_imported
where differing_terms is not null
order by influencer_handle, deal_id
limit 100;
