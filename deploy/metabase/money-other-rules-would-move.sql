-- Title: How much revenue would other rules move?
-- Description: Revenue of orders in conflict that each rule would credit to a different owner.
-- View: bi.conflicts
select conflict, currency, count(*) as orders, sum(amount) as amount, count(*) - count(amount) as unvalued_orders,
  coalesce(sum(amount) filter (where first_target is distinct from target), 0) as first_would_move_amount,
  coalesce(sum(amount) filter (where last_target is distinct from target), 0) as last_would_move_amount,
  coalesce(sum(amount) filter (where explicit_target is distinct from target), 0) as explicit_would_move_amount
from bi.conflicts
group by conflict, currency
order by conflict, currency;
