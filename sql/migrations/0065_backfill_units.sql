-- Workers post the orders of backfills too. The own limit of a backfill therefore holds across processes.

create table ops.backfill_turns (
  backfill_id bigint primary key references ops.backfills on delete cascade,
  next_turn_at timestamptz not null
) with (fillfactor = 10);
comment on table ops.backfill_turns is 'The shared rate limiter of each backfill: all processes that post its orders reserve their requests here, so that together they keep its limit. A crash loses nothing.';
comment on column ops.backfill_turns.backfill_id is 'Backfill, see ops.backfills.';
comment on column ops.backfill_turns.next_turn_at is 'The first time that no process has reserved.';

comment on column ops.backfills.concurrency is 'Maximum number of concurrent requests of each process that posts its orders; null: the share that the configuration leaves it.';

alter table ops.work_units drop constraint work_units_kind_check;
alter table ops.work_units add constraint work_units_kind_check check (kind in ('read-source', 'post-share', 'post-backfill', 'fetch-deals'));
comment on column ops.work_units.kind is 'read-source: read the new files of a source. post-share: post a range of the ready entries of a job. post-backfill: the same for a backfill. fetch-deals: read a range of the deals that are due into the staging tables.';
