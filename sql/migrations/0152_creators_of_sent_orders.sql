-- An order that was sent for a handle before the mirror had its deal names the creator, as new ones do (src/rollups/disposition.ts).
-- Settled orders are not compared again. The next run adds up their days anew.
with named as (
  update reporting.order_dispositions s set influencer_handle = reporting.without_addresses(n.influencer_handle)
  from (
    select o.job, o.source, o.order_id,
      coalesce(
        case when e.deal_id is null then e.body::json ->> 'influencer_handle' end,
        case when a.target = coalesce('deal:' || e.deal_id, 'collab:' || e.collab_id, a.target)
          then a.influencer_handle end,
        w.influencer_handle,
        e.body::json ->> 'influencer_handle') as influencer_handle
    from reporting.order_dispositions o
    join ledger.entries e on e.entry_id = o.entry_id
    left join intake.attributions a on a.job = o.job and a.source = o.source and a.order_id = o.order_id
    left join reporting.deal_owners w on w.deal_id = e.deal_id
    where o.influencer_handle is null
  ) n
  where s.job = n.job and s.source = n.source and s.order_id = n.order_id and n.influencer_handle is not null
  returning s.day_utc
)
insert into reporting.changed_days (day_utc) select distinct day_utc from named
on conflict do nothing;
