-- Title: Which influencers may have bought from themselves?
-- Description: Orders whose customer was found to be the credited influencer. The last 90 days. For review only.
-- View: bi.self_purchases
select influencer_handle, deal_id, source, order_id, day_utc, amount, currency
from bi.self_purchases
where day_utc >= current_date - 90
order by day_utc desc, order_id;
