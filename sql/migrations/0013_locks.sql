-- Locks that only the roles of a run can take. An advisory lock can be taken by every role that may connect, so a session of an analyst could
-- stop posting with one.
create table ops.job_locks (
  job text primary key,
  created_at timestamptz not null default now()
);
comment on table ops.job_locks is 'One row per job, locked (FOR UPDATE) by the transaction that decides about the orders of the job.';
comment on column ops.job_locks.job is 'Name of the job in the configuration.';
comment on column ops.job_locks.created_at is 'When the job was first locked.';

create table ledger.evidence_lock (
  only_row boolean primary key default true check (only_row)
);
comment on table ledger.evidence_lock is 'Always empty: the table itself is locked. Transactions that write evidence lock it in ROW EXCLUSIVE mode, a run that waits for them in SHARE mode.';
comment on column ledger.evidence_lock.only_row is 'Not used.';
