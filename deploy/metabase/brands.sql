-- Title: Which brands are there, and since when?
-- Description: Those of the account, with the moment of the last reading.
-- View: bi.brands
select brand_id, brand_name, is_deleted, first_seen_at, synced_at
from bi.brands
order by brand_id;
