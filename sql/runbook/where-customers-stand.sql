-- How many customers of each brand stand how, and since when? Those who are staged wait to be submitted.
select c.brand_id, c.state, count(*) as customers, min(c.first_seen_at) as oldest, max(c.submitted_at) as last_submitted_at
from intake.customer_states c
group by c.brand_id, c.state
order by c.brand_id, c.state;
