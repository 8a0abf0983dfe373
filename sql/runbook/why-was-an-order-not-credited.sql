-- Why was an order not credited? Its versions, what each job made of it, and its entry. Set the order id first:
--   \set order_id '5321098765432'
select o.order_id, o.order_name, o.order_version_id, o.is_current, f.uri, o.line_no, f.state as file_state,
       o.status, o.exclusion, o.total, o.refunded, o.currency, o.codes, o.links,
       a.job, a.outcome, a.reason, a.matched_by, a.matched_value, a.target, a.amount,
       e.entry_id, e.state as entry_state, e.state_reason
from intake.orders o
join intake.source_files f using (source_file_id)
left join intake.attributions a on a.order_version_id = o.order_version_id
left join ledger.entries e on e.entry_id = a.entry_id
where o.order_id = :'order_id' or o.order_name = :'order_id'
order by o.source, o.order_version_id;
