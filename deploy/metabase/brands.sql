-- Title: Which brands are there, and since when?
-- Description: The brands of the account, and when each was last read.
-- View: bi.brands
select brand_id, brand_name, is_deleted, first_seen_at, synced_at
from bi.brands
order by brand_id;
