-- Title: What are customers worth whom a creator won?
-- Description: Net revenue of won customers in 30, 90 and 365 days, by month and creator. A blank is not over for all of them.
-- View: bi.customer_cohorts
select month_utc as month, influencer_handle, currency, new_customers, net_30_amount, net_90_amount, net_365_amount
from bi.customer_cohorts
order by month_utc desc, influencer_handle, currency;
