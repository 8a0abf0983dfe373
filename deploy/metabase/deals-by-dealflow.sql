-- Title: How many deals does each dealflow have, and how many of them are active?
-- Description: Only deals that have been discovered count.
-- View: bi.dealflows
select f.dealflow_name, f.brand_name, count(d.deal_id) as deals, count(*) filter (where d.is_active) as active_deals
from bi.dealflows f
left join bi.deals d on d.dealflow_id = f.dealflow_id and not d.is_deleted
where not f.is_deleted
group by f.dealflow_id, f.dealflow_name, f.brand_name
order by deals desc, f.dealflow_name;
