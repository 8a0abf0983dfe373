-- When jobs run by themselves: every moment at which a job's schedule says so is a slot, and what became of it.

create table ops.schedules (
  job text primary key,
  looked_until timestamptz not null,
  first_seen_at timestamptz not null default now()
);
comment on table ops.schedules is 'How far the schedule of each job has been looked at: its slots up to there are in ops.slots.';
comment on column ops.schedules.job is 'Name of the job in pipeline.yaml.';
comment on column ops.schedules.looked_until is 'Slots up to and with this instant are accounted for; what comes after it has not come yet, or came while nothing ran.';
comment on column ops.schedules.first_seen_at is 'Since when its schedule counts.';

create table ops.slots (
  job text not null,
  slot timestamptz not null,
  state text not null check (state in ('waiting', 'due', 'running', 'done', 'failed', 'skipped', 'missed')),
  is_settled boolean not null generated always as (state in ('done', 'failed', 'skipped', 'missed')) stored,
  attempts integer not null default 0 check (attempts >= 0),
  losses integer not null default 0 check (losses between 0 and attempts),
  owner uuid,
  run_id bigint references ops.runs,
  not_before timestamptz,
  reason text,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  settled_at timestamptz,
  primary key (job, slot),
  constraint running_has_an_owner check ((state = 'running') = (owner is not null)),
  constraint running_was_claimed check (state <> 'running' or (attempts > 0 and started_at is not null)),
  constraint done_has_run check (state <> 'done' or (attempts > 0 and run_id is not null)),
  constraint settled_says_when check ((state in ('done', 'failed', 'skipped', 'missed')) = (settled_at is not null)),
  constraint not_done_says_why check (state not in ('failed', 'skipped', 'missed') or reason is not null),
  constraint what_did_not_run_was_not_claimed check (state not in ('waiting', 'skipped', 'missed') or (attempts = 0 and run_id is null))
);
-- A job never has two slots running, whoever ticks.
create unique index slots_running on ops.slots (job) where state = 'running';
create index slots_unsettled on ops.slots (job, slot) where not is_settled;
create index slots_run on ops.slots (run_id) where run_id is not null;
comment on table ops.slots is 'One row for each moment at which a job''s schedule says that it runs. The truth about what ran by itself: each slot is run once, however many processes look.';
comment on column ops.slots.job is 'Name of the job in pipeline.yaml.';
comment on column ops.slots.slot is 'The moment. Of a job that follows another: the moment of that one''s slot.';
comment on column ops.slots.state is 'waiting (for the job that it follows), due, running, done (its run came to its end), failed, skipped (the job was at work, or the job before did not end well), missed (nothing ran at its time, and it was not caught up).';
comment on column ops.slots.is_settled is 'done, failed, skipped or missed: nothing is to be done.';
comment on column ops.slots.attempts is 'How often it was begun: more than once when a process died or was stopped while it ran.';
comment on column ops.slots.losses is 'How often its process, or the database, was gone while it ran.';
comment on column ops.slots.owner is 'Process that runs it now, as its lease serve:<owner> names it.';
comment on column ops.slots.run_id is 'Its latest run.';
comment on column ops.slots.not_before is 'Rests until then before it is begun again.';
comment on column ops.slots.reason is 'Why it is where it is, in words.';
comment on column ops.slots.created_at is 'When it was noticed. Database clock.';
comment on column ops.slots.started_at is 'When it was begun last. Database clock.';
comment on column ops.slots.settled_at is 'When it was settled. Database clock.';
comment on column ops.leases.name is 'job:<job>, source:<source>, or serve:<owner> of a process that runs jobs by their schedule.';
