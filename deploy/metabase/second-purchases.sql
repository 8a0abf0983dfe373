-- Title: How many customers of a creator buy again?
-- Description: Customers won, and how many of them have ordered again, by creator.
-- View: bi.customer_cohorts
select influencer_handle, sum(new_customers) as new_customers, sum(repeat_customers) as repeat_customers,
  round(sum(repeat_customers) * 100.0 / sum(new_customers), 1) as repeat_percent
from bi.customer_cohorts
group by influencer_handle
order by new_customers desc, influencer_handle;
