-- An event of a commission, and the mirror that has read its deal since, change what orders of that collaboration have earned. They
-- are noted as every other change is, so that one event does not make all orders be computed again.
create function reporting.note_told_rate() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  -- An event that names no collaboration may be about each one of the deal.
  insert into reporting.changed_earnings (collab_id)
  select new.collab_id where new.collab_id is not null
  union
  select e.collab_id from ledger.entries e
  where new.collab_id is null and e.deal_id = new.deal_id and e.effect = 'referral' and e.collab_id is not null;
  return null;
end $note$;
comment on function reporting.note_told_rate() is 'Notes that the orders of a collaboration may have earned something else, because an event tells that its rate changed.';
create trigger note_earnings after insert on ops.webhook_events
  for each row when (new.kind = 'update_commission') execute function reporting.note_told_rate();

create function reporting.note_confirmed_rates() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (collab_id)
  select distinct e.collab_id
  from ops.webhook_events w
  left join mirror.collaboration_versions v on v.collab_id = w.collab_id and v.is_latest
  join new_rows n on n.deal_id = coalesce(v.deal_id, w.deal_id)
  join old_rows o on o.deal_id = n.deal_id
  cross join lateral (
    select w.collab_id where w.collab_id is not null
    union
    select e.collab_id from ledger.entries e
    where w.collab_id is null and e.deal_id = w.deal_id and e.effect = 'referral' and e.collab_id is not null) e
  where w.kind = 'update_commission' and n.read_at is distinct from o.read_at
    -- The time of an event is never after it came.
    and w.received_at >= coalesce(o.read_at, '-infinity');
  return null;
end $note$;
comment on function reporting.note_confirmed_rates() is 'Notes that the orders of a collaboration may have earned something else, because the mirror has read its deal since an event of its rate.';
create trigger note_confirmed_rates after update on mirror.known_deals
  referencing old table as old_rows new table as new_rows
  for each statement execute function reporting.note_confirmed_rates();
