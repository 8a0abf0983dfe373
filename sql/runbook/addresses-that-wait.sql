-- Which customers wait with their plain addresses, how many calls does that take, and since when?
select c.brand_id, c.job, c.purpose, f.state as file_state, sum(c.customers) as customers, count(*) as calls,
  min(c.created_at) as since
from intake.waiting_batches c
join intake.source_files f using (source_file_id)
group by c.brand_id, c.job, c.purpose, f.state
order by since;
