-- Title: Which codes are used without a link more than before?
-- Description: Codes with at least ten orders without a link in the last week, and their share of all orders in that week and in the twelve weeks before. The command `leaks` says which of them are unusual.
-- View: bi.code_use_daily
select code, influencer_handle,
  sum(orders) filter (where day_utc > current_date - 7) as orders_last_week,
  sum(orders_without_link) filter (where day_utc > current_date - 7) as without_link_last_week,
  round(sum(orders_without_link) filter (where day_utc > current_date - 7) * 100.0 / sum(orders) filter (where day_utc > current_date - 7), 1) as percent_last_week,
  round(sum(orders_without_link) filter (where day_utc <= current_date - 7) * 100.0 / sum(orders) filter (where day_utc <= current_date - 7), 1) as percent_before
from bi.code_use_daily
where day_utc > current_date - 91
group by code, influencer_handle
having sum(orders_without_link) filter (where day_utc > current_date - 7) >= 10
order by without_link_last_week desc, code;
