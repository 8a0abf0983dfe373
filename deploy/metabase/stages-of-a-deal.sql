-- Title: When did a deal change its stage?
-- Description: Each stage of one deal. Replace the deal id.
-- View: bi.deal_history
select deal_id, funnel_step, min(valid_from) as since_at
from bi.deal_history
where deal_id = 'D1'
group by deal_id, funnel_step
order by since_at;
