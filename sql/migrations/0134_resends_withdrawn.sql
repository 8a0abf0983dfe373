-- An order that was to be sent again and is no longer credited is in doubt as before: its entry notes that, too.
alter table ledger.changes drop constraint changes_kind_check,
  add constraint changes_kind_check check (kind in ('held', 'released', 'replaced', 'withdrawn'));
comment on table ledger.changes is 'Append-only: what happened to an entry while no request was in flight. It was held, released again, its request was replaced, or it was not to be sent again.';
comment on column ledger.changes.kind is 'held (not to be sent until something changes), released (ready again), replaced (another request body, ready), withdrawn (not to be sent again after a doubt, so in doubt as before).';
comment on column ledger.changes.reason is 'Why it is held or withdrawn; of a release, why it was held.';

create or replace function ledger.note_change() returns trigger language plpgsql as $$
begin
  insert into ledger.changes (entry_id, kind, attempt, old_state, reason, old_body_hash, new_body_hash, run_id, backfill_id)
  values (new.entry_id,
    case when new.state = 'held' then 'held' when old.state = 'held' then 'released'
      when new.state = 'in_doubt' then 'withdrawn' else 'replaced' end,
    old.attempt, old.state, case when new.state in ('held', 'in_doubt') then new.state_reason else old.state_reason end,
    old.body_hash, new.body_hash, new.run_id, coalesce(new.backfill_id, old.backfill_id));
  return null;
end $$;
comment on function ledger.note_change() is 'Trigger: writes to ledger.changes what an UPDATE of ledger.entries holds, releases, replaces or withdraws.';
drop trigger note_change on ledger.entries;
create trigger note_change after update on ledger.entries for each row
  when (old.body_hash is distinct from new.body_hash
    or (old.state = 'held') is distinct from (new.state = 'held')
    or (new.state = 'held' and old.state_reason is distinct from new.state_reason)
    -- A recovered claim is another attempt.
    or (old.state = 'ready' and new.state = 'in_doubt' and old.attempt = new.attempt))
  execute function ledger.note_change();

-- What the service refused was not processed. Sent again by a person, it needs no approval, as if it had never been sent.
create or replace function ledger.decide(p_entry_id bigint, p_decision text, p_shown_state text, p_shown_attempt integer,
    p_decided_by text, p_reason text, p_deal_id text, p_collab_id text)
  returns table (done boolean, state text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  found_state text;
  found_attempt integer;
  applies boolean;
begin
  select e.state, e.attempt into found_state, found_attempt from ledger.entries e where e.entry_id = p_entry_id for update;
  applies := case p_decision when 'accept' then found_state = 'in_doubt' when 'write_off' then found_state = 'in_doubt'
    when 'resend' then found_state in ('in_doubt', 'rejected') end;
  if applies is not true or (p_shown_state is not null and (p_shown_state, p_shown_attempt) is distinct from (found_state, found_attempt)) then
    return query select false, found_state;
    return;
  end if;
  insert into ledger.decisions (entry_id, decision, attempt, decided_by, reason)
  values (p_entry_id, p_decision, found_attempt, ops.acting_name(p_decided_by), p_reason);
  return query update ledger.entries e set
    state = case p_decision when 'accept' then 'accepted' when 'write_off' then 'written_off' else 'ready' end,
    state_reason = case p_decision when 'accept' then 'accepted by decision' when 'write_off' then 'written off by decision' end,
    deal_id = case when p_decision = 'accept' then coalesce(p_deal_id, e.deal_id) else e.deal_id end,
    collab_id = case when p_decision = 'accept' then coalesce(p_collab_id, e.collab_id) else e.collab_id end,
    not_sent = e.not_sent + (p_decision = 'resend' and found_state = 'rejected')::integer,
    resends_approved = e.resends_approved + (p_decision = 'resend' and found_state = 'in_doubt')::integer,
    not_before = case when p_decision = 'resend' then null else e.not_before end,
    state_changed_at = clock_timestamp()
    where e.entry_id = p_entry_id returning true, e.state;
end $body$;
