-- Title: Which deals have other terms than the list states?
-- Description: Change them on the deal page, or correct the list: no operation of the service changes them.
-- View: bi.creators_imported
select influencer_handle, deal_id, differing_terms, code, code_percent, commission_percent, custom_link, custom_link_target
from bi.creators_imported
where differing_terms is not null
order by influencer_handle, deal_id
limit 100;
