-- Title: Which influencers may have bought from themselves?
-- Description: Orders whose customer was found to be the credited influencer. For review only.
-- View: bi.self_purchases
select influencer_handle, deal_id, source, order_id, day_utc, amount, currency
from bi.self_purchases
order by day_utc desc, order_id;
