-- Notes changed earnings once for each statement instead of once for each row, which cost each posted order several microseconds, and each new order
-- another few. An entry that the same transaction has made cannot be accepted yet, so nothing is noted about it: it is noted once it is accepted.

create function reporting.note_inserted_entries() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id)
  select entry_id from new_rows where effect = 'referral' and state = 'accepted';
  return null;
end $note$;
comment on function reporting.note_inserted_entries() is 'Notes that entries which were accepted at once have earned something.';

create function reporting.note_updated_entries() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id)
  select entry_id from new_rows where effect = 'referral' and state = 'accepted'
  union
  select entry_id from old_rows where effect = 'referral' and state = 'accepted';
  return null;
end $note$;
comment on function reporting.note_updated_entries() is 'Notes that entries which are or were accepted may have earned something else.';

-- `except` compares both versions by hashing, whatever the planner assumes about their number.
create or replace function reporting.note_changed_attribution() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id)
  select c.entry_id
  from (
    select entry_id from (
      select entry_id, job, source, order_id, order_version_id, matched_by, influencer_handle from new_rows
      except select entry_id, job, source, order_id, order_version_id, matched_by, influencer_handle from old_rows) n
    union
    select entry_id from (
      select entry_id, job, source, order_id, order_version_id, matched_by, influencer_handle from old_rows
      except select entry_id, job, source, order_id, order_version_id, matched_by, influencer_handle from new_rows) o
  ) c
  left join lateral (
    select e.xmin from ledger.entries e where e.entry_id = c.entry_id limit 1) e on true
  where c.entry_id is not null and e.xmin is distinct from pg_current_xact_id()::xid;
  return null;
end $note$;
comment on function reporting.note_changed_attribution() is 'Notes that the entries of changed attributions may have earned something else, except those that the transaction has made.';

create function reporting.note_inserted_attributions() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id) select entry_id from new_rows where entry_id is not null;
  return null;
end $note$;
comment on function reporting.note_inserted_attributions() is 'Notes that the entries of new attributions may have earned something else.';

create function reporting.note_deleted_attributions() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id) select entry_id from old_rows where entry_id is not null;
  return null;
end $note$;
comment on function reporting.note_deleted_attributions() is 'Notes that the entries of deleted attributions may have earned something else.';

create or replace trigger note_earnings_inserted after insert on ledger.entries referencing new table as new_rows
  for each statement execute function reporting.note_inserted_entries();
create or replace trigger note_earnings_updated after update on ledger.entries referencing old table as old_rows new table as new_rows
  for each statement execute function reporting.note_updated_entries();
create or replace trigger note_earnings_inserted after insert on intake.attributions referencing new table as new_rows
  for each statement execute function reporting.note_inserted_attributions();
create or replace trigger note_earnings_updated after update on intake.attributions referencing old table as old_rows new table as new_rows
  for each statement execute function reporting.note_changed_attribution();
create or replace trigger note_earnings_deleted after delete on intake.attributions referencing old table as old_rows
  for each statement execute function reporting.note_deleted_attributions();
