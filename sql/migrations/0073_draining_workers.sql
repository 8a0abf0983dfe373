-- A worker that stops begins no more units, so no run should wait for it. People look at units that failed.

alter table ops.workers add column draining_since timestamptz;
comment on column ops.workers.draining_since is 'When it was asked to stop: it finishes its requests in flight and begins no more units. Null for a worker that begins units. Clock of the database.';
comment on column ops.work_units.result is 'What came of it, or for failed units the error (code, message, help). No addresses, no values of rows.';

create index work_units_failed on ops.work_units (ended_at) where state in ('failed', 'given_up');
