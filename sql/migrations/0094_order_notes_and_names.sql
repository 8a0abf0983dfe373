-- A job may send the notes of the shop with its orders (order_notes). They are no part of what an order means.

alter table intake.orders add column note text check (char_length(note) <= 500);
comment on column intake.orders.note is 'What the notes of the shop say, with e-mail addresses and phone numbers masked, cut to 500 characters. Only for jobs that send it (order_notes); null otherwise. As first read: another note makes no other version.';
comment on column ledger.entries.details is 'What is no part of the body, or special to the effect: of a referral the note of the shop that is sent with it, and whether without the reference; of a click target, period, from and clicks; of a deal handle, platform and dealflow; of an outreach the ids of its influencers.';

-- Where a column says who did something, it says so of the user of the session, as the audit does, whatever name a statement gives.

create function ops.record_actor() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $body$
declare
  field text;
  given text;
  named jsonb := '{}';
begin
  foreach field in array tg_argv loop
    given := to_jsonb(new) ->> field;
    if tg_op = 'INSERT' or given is distinct from to_jsonb(old) ->> field then
      named := named || jsonb_build_object(field, ops.acting_name(given));
    end if;
  end loop;
  return jsonb_populate_record(new, named);
end $body$;
comment on function ops.record_actor() is 'Trigger: writes the name of ops.acting_name into the columns that it is given, where a statement sets them to another value.';

create trigger record_actor before update of released_by, reread_by, newest_by on intake.source_files
  for each row execute function ops.record_actor('released_by', 'reread_by', 'newest_by');
create trigger record_actor before update of acknowledged_by on intake.check_findings for each row execute function ops.record_actor('acknowledged_by');
create trigger record_actor before insert or update of created_by on intake.expected_dates for each row execute function ops.record_actor('created_by');
create trigger record_actor before insert or update of assigned_by on intake.code_assignments for each row execute function ops.record_actor('assigned_by');
create trigger record_actor before insert or update of decided_by on intake.rulings for each row execute function ops.record_actor('decided_by');
create trigger record_actor before insert or update of decided_by on ledger.recoveries for each row execute function ops.record_actor('decided_by');
create trigger record_actor before insert or update of seeded_by on ledger.seeds for each row execute function ops.record_actor('seeded_by');
create trigger record_actor before insert or update of undone_by on ledger.seed_undos for each row execute function ops.record_actor('undone_by');
create trigger record_actor before insert or update of approved_by on ops.backfills for each row execute function ops.record_actor('approved_by');
create trigger record_actor before insert or update of created_by, confirmed_by, aborted_by on ops.bulk_actions
  for each row execute function ops.record_actor('created_by', 'confirmed_by', 'aborted_by');
create trigger record_actor before insert or update of paused_by on ops.paused_jobs for each row execute function ops.record_actor('paused_by');
create trigger record_actor before insert or update of requested_by on ops.slots for each row execute function ops.record_actor('requested_by');
create trigger record_actor before insert or update of closed_by on ops.statements for each row execute function ops.record_actor('closed_by');

-- Whoever may release a file may also say that it is the newest.
if exists (select from pg_roles where rolname = 'influencer_sync_operator') then
  grant update (newest_since, newest_by) on intake.source_files to influencer_sync_operator;
end if;
