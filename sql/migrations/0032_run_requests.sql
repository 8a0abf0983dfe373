-- What people may say about a job's schedule: run it now, or not until I say so.

alter table ops.slots add column requested_by text;
comment on column ops.slots.requested_by is 'Who asked for a run now, beside the schedule; null for a slot of the schedule.';
-- Who asks twice gets one run.
create unique index slots_requested on ops.slots (job) where requested_by is not null and not is_settled;
create index slots_time on ops.slots (slot, job);

create table ops.paused_jobs (
  job text primary key,
  paused_by text not null check (paused_by <> ''),
  reason text not null check (reason <> ''),
  paused_at timestamptz not null default clock_timestamp()
);
comment on table ops.paused_jobs is 'Jobs that are not run by their schedule for now: their slots are skipped. `run` still runs them.';
comment on column ops.paused_jobs.job is 'Name of the job in pipeline.yaml.';
comment on column ops.paused_jobs.paused_by is 'Who paused it, as in ops.audit.';
comment on column ops.paused_jobs.reason is 'Why, in the words of that person. E-mail addresses are masked.';
comment on column ops.paused_jobs.paused_at is 'When. Database clock.';
