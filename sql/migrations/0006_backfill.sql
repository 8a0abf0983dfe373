-- Backfills: history that is credited once, as planned; orders that were credited elsewhere before; and the one rate limit that all share.

create table ops.backfills (
  backfill_id bigint generated always as identity primary key,
  job text not null,
  state text not null check (state in ('planned', 'replaced', 'running', 'paused', 'cancelled', 'done')),
  from_day date not null,
  to_day date not null,
  time_zone text not null,
  plan_hash text not null,
  plan jsonb not null,
  run_id bigint not null references ops.runs,
  requests_per_second double precision,
  concurrency integer,
  planned_at timestamptz not null default now(),
  approved_by text,
  approved_at timestamptz,
  state_changed_at timestamptz not null default now(),
  problem text,
  check (from_day <= to_day),
  constraint what_began_was_approved check (state in ('planned', 'replaced', 'cancelled') or (approved_by is not null and approved_at is not null))
);
create unique index backfills_one_at_work on ops.backfills (job) where state in ('running', 'paused');
create index backfills_job on ops.backfills (job, backfill_id desc);
comment on table ops.backfills is 'Plans to credit the orders of a period, and what became of them. Its orders: ops.backfill_orders.';
comment on column ops.backfills.backfill_id is 'Counts up.';
comment on column ops.backfills.job is 'Name of the job in pipeline.yaml.';
comment on column ops.backfills.state is 'planned, replaced (by a newer plan), running (also when its process is gone: `backfill resume` goes on), paused, cancelled, done.';
comment on column ops.backfills.from_day is 'First day of the period, in time_zone.';
comment on column ops.backfills.to_day is 'Last day of the period, in time_zone.';
comment on column ops.backfills.time_zone is 'IANA zone of the days: the time_zone of the job.';
comment on column ops.backfills.plan_hash is 'Digest over the key and the body of every order to post: what differs in one of them is another plan.';
comment on column ops.backfills.plan is 'The plan as it was shown: files, and orders by month, standing, reason and currency.';
comment on column ops.backfills.run_id is 'Run that planned it.';
comment on column ops.backfills.requests_per_second is 'Its own limit; null: the share that the configuration leaves it.';
comment on column ops.backfills.concurrency is 'Requests in flight at most; null: the share that the configuration leaves it.';
comment on column ops.backfills.planned_at is 'When.';
comment on column ops.backfills.approved_by is 'Login name of who had it executed.';
comment on column ops.backfills.approved_at is 'When.';
comment on column ops.backfills.state_changed_at is 'When it came into its state.';
comment on column ops.backfills.problem is 'Why it stopped before its end; null where it did not.';

create table ops.backfill_orders (
  backfill_id bigint not null references ops.backfills,
  key text not null,
  source text not null,
  order_id text not null,
  body_hash text not null,
  amount numeric(18,4) not null,
  currency text not null,
  primary key (backfill_id, key)
);
comment on table ops.backfill_orders is 'What each plan says is to be posted, and nothing else is.';
comment on column ops.backfill_orders.backfill_id is 'Plan.';
comment on column ops.backfill_orders.key is 'Key of the ledger''s entry.';
comment on column ops.backfill_orders.source is 'Source of the order.';
comment on column ops.backfill_orders.order_id is 'Order.';
comment on column ops.backfill_orders.body_hash is 'Digest of the request body.';
comment on column ops.backfill_orders.amount is 'Revenue, in currency.';
comment on column ops.backfill_orders.currency is 'ISO 4217.';

alter table ledger.entries add column backfill_id bigint references ops.backfills;
comment on column ledger.entries.backfill_id is 'Backfill that alone may post it; null: the runs of its job.';
create index entries_backfill on ledger.entries (backfill_id) where backfill_id is not null;
-- A backfill may leave millions of entries unsettled, and a run must not read past them.
drop index ledger.entries_unsettled;
create index entries_unsettled on ledger.entries (job, backfill_id, entry_id) where not is_settled;

create table ops.request_turns (
  only_row boolean primary key default true check (only_row),
  next_turn_at timestamptz not null,
  run_turn_at timestamptz,
  backfill_turn_at timestamptz
) with (fillfactor = 10);
comment on table ops.request_turns is 'The one rate limit of the account: processes take their turns here, so that all together keep it. Has nothing to lose in a crash.';
comment on column ops.request_turns.only_row is 'Always true: the table has at most one row.';
comment on column ops.request_turns.next_turn_at is 'The first turn that nobody has taken.';
comment on column ops.request_turns.run_turn_at is 'When a run last asked for a turn: while runs do, backfills stand back.';
comment on column ops.request_turns.backfill_turn_at is 'When a backfill last took a turn.';

create table ledger.seeds (
  seed_id bigint generated always as identity primary key,
  file_name text not null,
  file_sha256 text not null,
  orders bigint not null,
  reason text not null check (length(trim(reason)) > 0),
  seeded_by text not null,
  seeded_at timestamptz not null default now()
);
comment on table ledger.seeds is 'Append-only: files that said which orders were credited elsewhere before. Their orders: ledger.evidence.';
comment on column ledger.seeds.seed_id is 'Counts up.';
comment on column ledger.seeds.file_name is 'Name of the file, without its folder.';
comment on column ledger.seeds.file_sha256 is 'Digest of its content.';
comment on column ledger.seeds.orders is 'Orders that it names.';
comment on column ledger.seeds.reason is 'Why, in the words of who decided.';
comment on column ledger.seeds.seeded_by is 'Login name of the person.';
comment on column ledger.seeds.seeded_at is 'When.';

create table ledger.seed_undos (
  seed_id bigint primary key references ledger.seeds,
  reason text not null check (length(trim(reason)) > 0),
  undone_by text not null,
  undone_at timestamptz not null default now()
);
comment on table ledger.seed_undos is 'Append-only: seeds that a person took back. What they say no longer counts.';
comment on column ledger.seed_undos.seed_id is 'Seed.';
comment on column ledger.seed_undos.reason is 'Why, in the words of who decided.';
comment on column ledger.seed_undos.undone_by is 'Login name of the person.';
comment on column ledger.seed_undos.undone_at is 'When.';

alter table ledger.evidence add column seed_id bigint references ledger.seeds,
  add column reason text,
  add constraint seeded_names_its_seed check ((kind = 'seeded') = (seed_id is not null));
create index evidence_seed on ledger.evidence (seed_id) where seed_id is not null;
comment on column ledger.evidence.seed_id is 'With kind seeded: the file that says so.';
comment on column ledger.evidence.reason is 'With kind seeded: what the file gives as the reason of this order.';

create trigger append_only before update or delete or truncate on ledger.seeds for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.seed_undos for each statement execute function ledger.refuse_change();

create view ledger.seeded_orders as
select v.order_platform, v.order_id, v.seed_id
from ledger.evidence v
where v.kind = 'seeded' and not exists (select from ledger.seed_undos u where u.seed_id = v.seed_id);
comment on view ledger.seeded_orders is 'Orders that were credited elsewhere before, as files say that nobody has taken back.';
comment on column ledger.seeded_orders.order_platform is 'Shop platform.';
comment on column ledger.seeded_orders.order_id is 'Order.';
comment on column ledger.seeded_orders.seed_id is 'File that says so.';
