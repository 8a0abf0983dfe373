-- One row for each brand and platform: its deals and what they sold, as the service counts it.
select
  brand_id,
  brand_name,
  platform,
  count(*) as deals,
  count(*) filter (where is_active) as active_deals,
  sum(total_referrals) as referrals,
  sum(total_sales_in_account_currency) as sales_in_account_currency,
  max(synced_at) as synced_at
from {{ source('influencer_sync', 'deals') }}
where not is_deleted
group by brand_id, brand_name, platform
