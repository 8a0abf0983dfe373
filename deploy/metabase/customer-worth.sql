-- Title: How much are the customers worth that a creator won?
-- Description: Net revenue of the customers won, in 30, 90 and 365 days, by month and creator. A blank: the days are not over for all of them, or an amount is unknown.
-- View: bi.customer_cohorts
select month_utc as month, influencer_handle, currency, new_customers, net_30_amount, net_90_amount, net_365_amount
from bi.customer_cohorts
order by month_utc desc, influencer_handle, currency;
