-- Title: Which orders carry evidence for two creators?
-- Description: Orders whose codes, links or columns name more than one owner: who is credited, and who would be credited by other rules. The newest 2,000.
-- View: bi.conflicts
select day_utc, source, order_id, conflict, evidence, amount, currency, disposition, target, first_target, last_target, explicit_target
from bi.conflicts
where is_same_creator is not true
order by day_utc desc, source, order_id
limit 2000;
