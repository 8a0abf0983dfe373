-- Title: Which customers are influencers, and have no deal yet?
-- Description: The influencers with the most followers.
-- View: bi.influencers_among_customers
select brand_name, platform, username, followers, is_verified, orders_count, spent_amount, currency, profile_url
from bi.influencers_among_customers
where not is_in_a_deal
order by followers desc nulls last, username
limit 100;
