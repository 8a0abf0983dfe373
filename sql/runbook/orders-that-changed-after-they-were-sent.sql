-- What to settle with influencers by hand: the last word on each order that was sent and stands otherwise now.
select distinct on (d.entry_id) e.order_platform, e.order_id, d.kind, d.old_amount, d.new_amount,
       coalesce(d.new_amount, 0) - d.old_amount as difference, d.currency, d.detail, d.noted_at, e.state,
       coalesce(e.deal_id, e.body::json ->> 'deal_id') as deal_id, e.body::json ->> 'influencer_handle' as influencer_handle
from ledger.adjustments d
join ledger.entries e using (entry_id)
order by d.entry_id, d.adjustment_id desc;
