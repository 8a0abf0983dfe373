-- Holding, releasing and replacing an entry left no trace but the state that it came to. Now each is a row, whoever does it, so that the state
-- of every entry is what its history says.

create table ledger.changes (
  change_id bigint generated always as identity primary key,
  entry_id bigint not null references ledger.entries,
  kind text not null check (kind in ('held', 'released', 'replaced')),
  attempt integer not null,
  old_state text not null,
  reason text,
  old_body_hash text not null,
  new_body_hash text not null,
  run_id bigint not null,
  backfill_id bigint,
  changed_at timestamptz not null default clock_timestamp(),
  constraint held_says_why check (kind <> 'held' or reason is not null)
);
create index changes_entry on ledger.changes (entry_id);
comment on table ledger.changes is 'Append-only: what happened to an entry while no request was on its way. It was held, released again, or its request was replaced.';
comment on column ledger.changes.change_id is 'Counts up.';
comment on column ledger.changes.entry_id is 'Entry.';
comment on column ledger.changes.kind is 'held (not to be sent until something changes), released (ready again), replaced (another request body, ready).';
comment on column ledger.changes.attempt is 'Claims before it.';
comment on column ledger.changes.old_state is 'State before it.';
comment on column ledger.changes.reason is 'Why it is held; of a release, why it was.';
comment on column ledger.changes.old_body_hash is 'Digest of the request body before it.';
comment on column ledger.changes.new_body_hash is 'Digest of the request body after it.';
comment on column ledger.changes.run_id is 'Run that last made or replaced the entry.';
comment on column ledger.changes.backfill_id is 'Backfill that has taken the entry, if one has.';
comment on column ledger.changes.changed_at is 'When.';
create trigger append_only before update or delete or truncate on ledger.changes for each statement execute function ledger.refuse_change();

create function ledger.note_change() returns trigger language plpgsql as $$
begin
  insert into ledger.changes (entry_id, kind, attempt, old_state, reason, old_body_hash, new_body_hash, run_id, backfill_id)
  values (new.entry_id,
    case when new.state = 'held' then 'held' when old.state = 'held' then 'released' else 'replaced' end,
    old.attempt, old.state, case when new.state = 'held' then new.state_reason else old.state_reason end,
    old.body_hash, new.body_hash, new.run_id, coalesce(new.backfill_id, old.backfill_id));
  return null;
end $$;
comment on function ledger.note_change() is 'Trigger: writes to ledger.changes what an UPDATE of ledger.entries holds, releases or replaces.';

create trigger note_change after update on ledger.entries for each row
  when (old.body_hash is distinct from new.body_hash
    or (old.state = 'held') is distinct from (new.state = 'held')
    or (new.state = 'held' and old.state_reason is distinct from new.state_reason))
  execute function ledger.note_change();

insert into ledger.changes (entry_id, kind, attempt, old_state, reason, old_body_hash, new_body_hash, run_id, backfill_id, changed_at)
select entry_id, 'held', attempt, 'ready', state_reason, body_hash, body_hash, run_id, backfill_id, state_changed_at
from ledger.entries where state = 'held' order by entry_id;

-- What each effect needs beside the columns that all share.
alter table ledger.entries add column details jsonb;
comment on column ledger.entries.details is 'Of effects other than referrals, what is special to them: of a click target, period, from and clicks; of a deal handle, platform and dealflow; of an outreach the ids of its influencers.';

alter table ledger.entries drop constraint entries_effect_check;
alter table ledger.entries add constraint entries_effect_check
  check (effect in ('referral', 'click', 'create_deal', 'note', 'task', 'outreach'));
comment on column ledger.entries.effect is 'Which operation: referral, click, create_deal, note, task, outreach.';
alter table ledger.lost_claims drop constraint lost_claims_effect_check;
alter table ledger.lost_claims add constraint lost_claims_effect_check
  check (effect in ('referral', 'click', 'create_deal', 'note', 'task', 'outreach'));

comment on column ledger.entries.body is 'Frozen request body, exact JSON text. An attempt of a referral adds its reference as order_notes.';
comment on column ledger.entries.body_hash is 'SHA-256 of body: tells whether what is desired now differs from it.';
comment on column ledger.attempts.body_hash is 'SHA-256 of the bytes that went out. Of attempts before version 0.2: of the body without its reference.';
