-- Whoever may only decide about entries, and not write the tables of the ledger and the audit, does it through these functions. They
-- record the user of the database session, so that nobody decides under the name of somebody else, or without a decision.

create function ops.acting_name(p_name text) returns text
  language sql stable set search_path = pg_catalog, pg_temp as $body$
  select case when has_table_privilege(session_user, 'ops.audit', 'insert') then p_name else session_user || ' (' || p_name || ')' end
$body$;
comment on function ops.acting_name(text) is 'Name under which a change is recorded. The program, which may write ops.audit, tells it (a console signs people in); anybody else is the user of the session, with the given name behind it.';

create function ops.record_audit(p_record jsonb) returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp as $body$
  insert into ops.audit (actor, via, action, subject_kind, subject, summary, reason, before, after, filter, bulk_id)
  values (ops.acting_name(p_record ->> 'actor'),
    case when has_table_privilege(session_user, 'ops.audit', 'insert') then p_record ->> 'via' else 'command' end,
    p_record ->> 'action', p_record ->> 'subject_kind', p_record ->> 'subject', p_record ->> 'summary', p_record ->> 'reason',
    nullif(p_record -> 'before', 'null'), nullif(p_record -> 'after', 'null'), nullif(p_record -> 'filter', 'null'),
    (p_record ->> 'bulk_id')::bigint)
  returning audit_id
$body$;
revoke execute on function ops.record_audit(jsonb) from public;
comment on function ops.record_audit(jsonb) is 'Writes a row of ops.audit, and returns its audit_id. The members are the columns.';

create function ledger.decide(p_entry_id bigint, p_decision text, p_shown_state text, p_shown_attempt integer, p_decided_by text, p_reason text,
    p_deal_id text, p_collab_id text)
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
    resends_approved = e.resends_approved + (p_decision = 'resend')::integer,
    not_before = case when p_decision = 'resend' then null else e.not_before end,
    state_changed_at = clock_timestamp()
    where e.entry_id = p_entry_id returning true, e.state;
end $body$;
revoke execute on function ledger.decide(bigint, text, text, integer, text, text, text, text) from public;
comment on function ledger.decide(bigint, text, text, integer, text, text, text, text) is 'Changes an entry by a decision of a person (accept, write_off, resend), and records the decision. Does nothing if the entry is in a state that the decision may not change, or is not as it was shown. Returns whether it did, and the state of the entry now; null: there is no such entry.';

create function ledger.acknowledge_double_credit(p_entry_id bigint, p_credits bigint, p_decided_by text, p_reason text)
  returns table (done boolean, state text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  found_state text;
  found_attempt integer;
begin
  select e.state, e.attempt into found_state, found_attempt from ledger.entries e
  where e.entry_id = p_entry_id and exists (
    select from ledger.double_credits d where d.entry_id = e.entry_id and (p_credits is null or d.credits = p_credits))
  for update of e;
  if found_state is null then
    return query select false, null::text;
    return;
  end if;
  insert into ledger.decisions (entry_id, decision, attempt, decided_by, reason)
  values (p_entry_id, 'acknowledge', found_attempt, ops.acting_name(p_decided_by), p_reason);
  return query select true, found_state;
end $body$;
revoke execute on function ledger.acknowledge_double_credit(bigint, bigint, text, text) from public;
comment on function ledger.acknowledge_double_credit(bigint, bigint, text, text) is 'Records that a person has dealt with a double credit at the service. The entry does not change.';

create function ledger.reap_lost() returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp as $body$
  with durable as materialized (select set_config('synchronous_commit', 'on', true)),
  lost as (
    update ledger.entries e
    set state = 'in_doubt', owner = null, doubtful_attempt = coalesce(e.doubtful_attempt, e.attempt),
        doubted_at = coalesce(e.doubted_at, e.state_changed_at),
        state_reason = 'its process was gone before the answer was recorded', state_changed_at = clock_timestamp()
    from durable
    where not e.is_settled and e.state = 'sending'
      and not exists (select 1 from ops.leases l where l.owner = e.owner and l.expires_at > clock_timestamp())
    returning e.entry_id, e.attempt, e.state_reason
  ),
  logged as (
    insert into ledger.answers (entry_id, attempt, kind, message, via, applied)
    select entry_id, attempt, 'lease_over', state_reason, 'reaper', true from lost
  )
  select count(*) from lost
$body$;
revoke execute on function ledger.reap_lost() from public;
comment on function ledger.reap_lost() is 'Makes the entries whose process is gone doubts, and returns their number.';

-- Every role that may record decisions today keeps it, without running the file of roles again. The operator then loses what the
-- functions replace.
declare
  grantee text;
begin
  for grantee in
    select distinct a.grantee::regrole::text from pg_class c cross join lateral aclexplode(c.relacl) a
    where c.oid = 'ops.audit'::regclass and a.privilege_type = 'INSERT' and a.grantee <> 0
  loop
    execute format('grant execute on function ops.record_audit(jsonb), ledger.decide(bigint, text, text, integer, text, text, text, text), '
      'ledger.acknowledge_double_credit(bigint, bigint, text, text), ledger.reap_lost(), ops.acting_name(text) to %s', grantee);
  end loop;
  if exists (select from pg_roles where rolname = 'influencer_sync_operator') then
    revoke update, insert on ledger.entries, ledger.answers, ledger.decisions, ops.audit from influencer_sync_operator;
  end if;
end;
