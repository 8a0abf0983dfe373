-- Title: How many deals are known, how were they discovered, and how fresh are they?
-- Description: According to the last publication of the mirror.
-- View: bi.mirror_coverage
select way, known_deals, fresh_deals, stale_deals, unread_deals, failing_deals, deleted_deals, oldest_read_at
from bi.mirror_coverage
where is_latest
order by known_deals desc, way;
