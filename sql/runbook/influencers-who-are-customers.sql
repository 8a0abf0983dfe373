-- Which influencers are among the customers, those who spend most first?
select l.brand_id, l.platform, l.username, l.followers, l.is_verified, c.orders_count, c.spent, c.currency, l.looked_up_at
from intake.lookups l
join intake.customers c using (customer_hash)
where l.outcome = 'influencer'
order by c.spent desc nulls last
limit 50;
