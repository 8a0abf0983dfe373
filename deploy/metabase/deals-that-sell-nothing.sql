-- Title: Which deals are active and sell nothing?
-- Description: Active deals without a credited order in the last 90 days, by the ledger and by the count of the service.
-- View: bi.deals
select d.deal_id, d.influencer_handle, d.platform, d.brand_name, d.dealflow_name, d.total_clicks
from bi.deals d
where d.is_active and not d.is_deleted and coalesce(d.total_referrals, 0) = 0
  and not exists (
    select from bi.deal_performance_daily p
    where p.deal_id = d.deal_id and p.accepted_orders > 0 and p.day_utc >= (now() at time zone 'UTC')::date - 90)
order by d.total_clicks desc nulls last, d.deal_id
limit 100;
