-- Title: How many customers of a creator buy again?
-- Description: Won customers and those of them who have ordered again since, by creator.
-- View: bi.customer_cohorts
select influencer_handle, sum(new_customers) as new_customers, sum(repeat_customers) as repeat_customers,
  round(sum(repeat_customers) * 100.0 / sum(new_customers), 1) as repeat_percent
from bi.customer_cohorts
group by influencer_handle
order by new_customers desc, influencer_handle;
