-- Work that is spread over workers (work.engine: pg-boss). pg-boss keeps its queues in a schema of its own; here is what a run has handed
-- out and what came of it, so that what is handed out and what comes back are counted in the transactions that do it.

create table ops.workers (
  worker_id uuid primary key,
  host text not null,
  pid integer not null,
  version text not null,
  kinds text[] not null,
  concurrency integer not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);
comment on table ops.workers is 'Processes that do units of work: `work`, and `serve` where the engine is pg-boss. A row goes when its process ends in order, or a day after it was last seen.';
comment on column ops.workers.worker_id is 'Made when the process starts.';
comment on column ops.workers.host is 'Host name of its machine.';
comment on column ops.workers.pid is 'Process id there.';
comment on column ops.workers.version is 'Version of influencer-sync. Workers of two versions may work side by side.';
comment on column ops.workers.kinds is 'Kinds of units that it takes, see ops.work_units.kind.';
comment on column ops.workers.concurrency is 'Units of each kind that it does at a time.';
comment on column ops.workers.started_at is 'When it started. Clock of the database.';
comment on column ops.workers.seen_at is 'Its last sign of life, one every 5 seconds. Clock of the database.';

create table ops.work_units (
  unit_id uuid primary key default gen_random_uuid(),
  run_id bigint not null,
  run_owner uuid not null,
  job text not null,
  kind text not null check (kind in ('read-source', 'post-share')),
  payload jsonb not null,
  state text not null default 'open' check (state in ('open', 'returned', 'done', 'failed', 'given_up', 'cancelled')),
  is_wanted boolean not null default true,
  attempt integer not null default 0,
  worker_id uuid,
  done bigint not null default 0,
  result jsonb,
  created_at timestamptz not null default clock_timestamp(),
  begun_at timestamptz,
  seen_at timestamptz,
  ended_at timestamptz
);
create index work_units_run on ops.work_units (run_id);
create index work_units_open on ops.work_units (unit_id) where state in ('open', 'returned');
comment on table ops.work_units is 'Units of work that a run has handed out to workers. To repeat one changes nothing: what it reads is sealed once, what it posts is claimed once.';
comment on column ops.work_units.unit_id is 'Id of the unit, also in the queue of pg-boss.';
comment on column ops.work_units.run_id is 'Run that handed it out, see ops.runs.';
comment on column ops.work_units.run_owner is 'Process of that run, as ops.leases names it. Without a lease of it in force nobody works on its units.';
comment on column ops.work_units.job is 'Job of the run.';
comment on column ops.work_units.kind is 'read-source: read the new files of a source. post-share: post a range of the ready entries of a job.';
comment on column ops.work_units.payload is 'What to do, by kind. No addresses, no values of rows.';
comment on column ops.work_units.state is 'open: handed out; returned: given back by a worker that stops; done; failed: ended by an error that a run reports; given_up: its worker died several times; cancelled: not wanted any more.';
comment on column ops.work_units.is_wanted is 'False once its run wants no more of it: the worker that does it finishes the requests in flight and gives it back.';
comment on column ops.work_units.attempt is 'How often a worker began it. Only the last one may end it.';
comment on column ops.work_units.worker_id is 'Worker that began it last, see ops.workers.';
comment on column ops.work_units.done is 'How far it is: rows read, or orders posted.';
comment on column ops.work_units.result is 'What came of it, or why it failed. No addresses, no values of rows.';
comment on column ops.work_units.created_at is 'When it was handed out. Clock of the database.';
comment on column ops.work_units.begun_at is 'When a worker began it last.';
comment on column ops.work_units.seen_at is 'Last sign of life of the worker that does it, about one a second.';
comment on column ops.work_units.ended_at is 'When it came to its state, but for open.';
