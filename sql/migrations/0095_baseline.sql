-- The whole schema as of version 0.3.0. It replaces the migrations 0001 to 0095 (src/db/baseline.ts names
-- them): an empty database gets this file, and one that has had all of them has the same tables already.
-- Later migrations are files of their own, from 0096 on.
--
-- Runs on Postgres 15 and later, and on PGlite. In this order: schemas, functions that columns and indexes
-- use, the tables of each schema with their indexes and views, functions and triggers, first rows. Each thing
-- has its COMMENT; lines that begin with -- say why.
--
-- Names of constraints are those that databases have which were upgraded. Some recall an earlier name of
-- their table or column (contacts, standings, sightings).

-- Schemas ---------------------------------------------------------------------------------------------------

create schema ops;
comment on schema ops is 'What ran, when, and who holds what.';
create schema intake;
comment on schema intake is 'What was read from exports: files, orders, rejected rows, codes.';
create schema ledger;
comment on schema ledger is 'What may be sent to the service, what was sent, and what became of it. The truth about money.';
create schema mirror;
comment on schema mirror is 'The account as the service tells it: brands, dealflows, deals, collaborations, their history, and how complete all that is.';
create schema reporting;
comment on schema reporting is 'Worked out from intake and ledger for the views of schema bi. Nothing here is a source of truth; analysts read bi.';

-- Functions of values ---------------------------------------------------------------------------------------

-- One identity of an order, however it is spelled: `="5001"`, an id with a zero-width space and 5001 are one
-- order, and so are the platforms hshop and HShop. src/core/text/order-key.ts has the same rules for text
-- that is not in the database; a test compares both.

create function ledger.fold_order_id(order_id text) returns text language sql immutable parallel safe
  return case
    when order_id ~ '^[0-9A-Za-z#_/.-]+$' then order_id
    else regexp_replace(
      regexp_replace(
        regexp_replace(
          normalize(
            translate(
              regexp_replace(order_id,
                '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+',
                '', 'g'),
              '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～',
              '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~'),
            nfc),
          '[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'),
        '^[ ''"=]+', ''),
      '[ ''"]+$', '')
  end;
comment on function ledger.fold_order_id(text) is 'Order id without what nobody can mean: invisible characters, outer blanks, quotes and ="…", full-width characters. Ids that differ only in these are one order.';

create function ledger.fold_platform(order_platform text) returns text language sql immutable parallel safe
  return lower(ledger.fold_order_id(order_platform) collate "C");
comment on function ledger.fold_platform(text) is 'Shop platform folded like an order id, and in lower case (A to Z, in every locale).';

create function ledger.is_platform(told text, order_platform text) returns boolean
  language sql immutable parallel safe
  return ledger.fold_platform(coalesce(told, order_platform)) = ledger.fold_platform(order_platform);
comment on function ledger.is_platform(text, text) is 'Whether what is told about an order can be about an order of this platform. What names no platform can be about any.';

create function ledger.written_key(order_platform text, order_id text) returns text
  language sql immutable parallel safe
  return '[' || to_json(order_platform)::text || ',' || to_json(order_id)::text || ']';
comment on function ledger.written_key(text, text) is 'Key of a referral as versions before order_key made it: JSON of platform and order id as they are written.';

create function ledger.order_key(order_platform text, order_id text) returns text
  language sql immutable parallel safe
  return ledger.written_key(ledger.fold_platform(order_platform), ledger.fold_order_id(order_id));
comment on function ledger.order_key(text, text) is 'Idempotency key of a referral: JSON of the folded platform and the folded order id. Equal for every spelling of one order.';

create function ledger.key_hash(account_id text, effect text, key text) returns text
  language sql immutable parallel safe
  return left(
    encode(sha256(convert_to(account_id || chr(10) || effect || chr(10) || key, 'UTF8')), 'hex'), 32);
comment on function ledger.key_hash(text, text, text) is 'Names an entry outside of the database: 128 bits of a digest of its account, effect and idempotency key.';

create function intake.join_items(older jsonb, newer jsonb) returns jsonb
  language sql immutable strict parallel safe as $$
  select jsonb_agg(item order by (item ->> 0) collate "C") from (
    select distinct on (item ->> 0) item from (
      select item, 1 as place from jsonb_array_elements(newer) as item
      union all
      select item, 2 from jsonb_array_elements(older) as item
    ) stated
    order by item ->> 0, place
  ) joined $$;
comment on function intake.join_items(jsonb, jsonb) is 'Unites two lists of items (intake.orders.items). Of an item in both, the newer one counts.';

create function intake.items_amount(items jsonb, at integer) returns numeric
  language sql immutable strict parallel safe as $$
  select sum((item ->> at)::numeric)::numeric(18,4) from jsonb_array_elements(items) as item $$;
comment on function intake.items_amount(jsonb, integer) is 'Adds up the amounts at a position of the items. Null: no item has one.';

create function reporting.deal_id_of(reference text) returns text
  language sql immutable strict parallel safe
  return regexp_replace(reference, '^.*/deal/([^/?#]+).*$', '\1');
comment on function reporting.deal_id_of(text) is 'The id of a deal where codes.csv or an export gives its address in the service; an id stays as it is.';

create function reporting.without_addresses(words text) returns text
  language sql immutable strict parallel safe
  return case when position('@' in words) = 0 then words
    else regexp_replace(words,
      '([^\s@"''<>(),;:])[^\s@"''<>(),;:]{0,253}@[^\s@"''<>(),;:]{1,254}', '\1***@***', 'g') end;
comment on function reporting.without_addresses(text) is 'A text with each e-mail address cut to its first letter, as model/mask-addresses.ts does it; @handles stay.';

-- ops: the account, and what ran ----------------------------------------------------------------------------

create table ops.account (
  only_row boolean primary key default true check (only_row),
  account_id text not null,
  bound_at timestamptz not null default now()
);
comment on table ops.account is 'The one account of the service this database belongs to. Bound on first use; another account''s key is refused.';
comment on column ops.account.only_row is 'Always true: the table has at most one row.';
comment on column ops.account.account_id is 'As GET /v1/account/hello reports it.';
comment on column ops.account.bound_at is 'When the first run bound this database to the account.';

create table ops.runs (
  run_id bigint generated always as identity primary key,
  job text not null,
  kind text not null,
  status text not null default 'running'
    check (status in ('running', 'ok', 'issues', 'failed', 'interrupted')),
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  host text not null,
  pid integer not null,
  exit_code integer,
  counts jsonb,
  amounts jsonb,
  problem text,
  service text,
  problem_code text,
  trace_id text,
  check ((status = 'running') = (finished_at is null)),
  constraint runs_trace_id check (trace_id ~ '^[0-9a-f]{32}$')
);
create index runs_job on ops.runs (job, run_id desc);
comment on table ops.runs is 'One row a run of a job.';
comment on column ops.runs.run_id is 'Counts up.';
comment on column ops.runs.job is 'Name of the job in pipeline.yaml.';
comment on column ops.runs.kind is 'Kind of the job, for example attribute-orders.';
comment on column ops.runs.status is 'running, ok, issues (something was rejected, held or is in doubt), failed, interrupted.';
comment on column ops.runs.started_at is 'Database clock.';
comment on column ops.runs.finished_at is 'Database clock; null while it runs, or when its process died and no later run has settled it.';
comment on column ops.runs.host is 'Name of the machine.';
comment on column ops.runs.pid is 'Process id on that machine.';
comment on column ops.runs.exit_code is 'Exit code of the process.';
comment on column ops.runs.counts is 'The counts of the run_finished event.';
comment on column ops.runs.amounts is 'Accepted in this run, per currency: [{currency, accepted}].';
comment on column ops.runs.problem is 'Why it failed, with no secrets, row values or addresses.';
comment on column ops.runs.service is 'Base address of the service that it called. Null: a plan, or a run of a version that did not store it.';
comment on column ops.runs.problem_code is 'Stable machine name of the problem, for example key_refused. Null: none, or a run of a version that did not store it.';
comment on column ops.runs.trace_id is 'Trace of the run, 32 hex digits, where traces were sent (OTEL_EXPORTER_OTLP_ENDPOINT); null elsewhere.';

create table ops.run_steps (
  run_id bigint not null,
  step text not null,
  position integer not null,
  label text not null,
  times integer not null,
  started_at timestamptz not null,
  seconds numeric(12,3) not null,
  finished_at timestamptz,
  unit text not null,
  done bigint not null,
  total bigint,
  primary key (run_id, step)
);
comment on table ops.run_steps is 'Steps of each run, one row a kind of step: reading 20 files is one row. Written about once a second while the run goes on.';
comment on column ops.run_steps.run_id is 'Run, see ops.runs.';
comment on column ops.run_steps.step is 'Stable name: read, attribute, post.';
comment on column ops.run_steps.position is 'Order in which the run began them, from 0.';
comment on column ops.run_steps.label is 'What the run shows a person, of the last time: Reading orders.csv.';
comment on column ops.run_steps.times is 'How many times the run began it, for example once a file.';
comment on column ops.run_steps.started_at is 'When it began for the first time. Clock of the process.';
comment on column ops.run_steps.seconds is 'Time in it so far, all times together.';
comment on column ops.run_steps.finished_at is 'When it last ended; null while the run is in it, or when its process died in it.';
comment on column ops.run_steps.unit is 'What done and total count: bytes, orders, requests.';
comment on column ops.run_steps.done is 'How much of it is done, all times together.';
comment on column ops.run_steps.total is 'How much there was to do, all times together; null where that was unknown.';

create table ops.run_requests (
  run_id bigint not null,
  operation text not null,
  requests bigint not null,
  answered bigint not null,
  refused bigint not null,
  throttled bigint not null,
  failed bigint not null,
  median_ms numeric(12,1) not null,
  p95_ms numeric(12,1) not null,
  slowest_ms numeric(12,1) not null,
  primary key (run_id, operation)
);
comment on table ops.run_requests is 'Requests of each run to the service, one row an operation, with how long they took from the start to the complete answer.';
comment on column ops.run_requests.run_id is 'Run, see ops.runs.';
comment on column ops.run_requests.operation is 'Operation of the contract, for example new_influencer_referral.';
comment on column ops.run_requests.requests is 'All of them: answered + refused + throttled + failed.';
comment on column ops.run_requests.answered is 'Answers with a status of 200 to 299.';
comment on column ops.run_requests.refused is 'Answers with a status of 400 to 499, except 429.';
comment on column ops.run_requests.throttled is 'Answers with status 429.';
comment on column ops.run_requests.failed is 'Any other status, and requests without a complete answer.';
comment on column ops.run_requests.median_ms is 'Half of them took no longer, within 0.1 percent.';
comment on column ops.run_requests.p95_ms is '95 of 100 took no longer.';
comment on column ops.run_requests.slowest_ms is 'The longest.';

create table ops.run_messages (
  run_id bigint not null,
  message_no integer not null,
  at timestamptz not null,
  message text not null,
  primary key (run_id, message_no)
);
comment on table ops.run_messages is 'What each run said while it went on, the first 200 messages. No secrets, row values or addresses.';
comment on column ops.run_messages.run_id is 'Run, see ops.runs.';
comment on column ops.run_messages.message_no is 'Order, from 0.';
comment on column ops.run_messages.at is 'When. Clock of the process.';
comment on column ops.run_messages.message is 'A sentence for a person.';

-- ops: the schedule -----------------------------------------------------------------------------------------

-- Every time at which the schedule of a job says that it runs is a slot, and so is a run that a person asks
-- for.

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
  losses integer not null default 0,
  owner uuid,
  run_id bigint references ops.runs,
  not_before timestamptz,
  reason text,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  settled_at timestamptz,
  requested_by text,
  primary key (job, slot),
  check (losses between 0 and attempts),
  constraint running_has_an_owner check ((state = 'running') = (owner is not null)),
  constraint running_was_claimed check (state <> 'running' or (attempts > 0 and started_at is not null)),
  constraint done_has_run check (state <> 'done' or (attempts > 0 and run_id is not null)),
  constraint settled_says_when
    check ((state in ('done', 'failed', 'skipped', 'missed')) = (settled_at is not null)),
  constraint not_done_says_why check (state not in ('failed', 'skipped', 'missed') or reason is not null),
  constraint what_did_not_run_was_not_claimed
    check (state not in ('waiting', 'skipped', 'missed') or (attempts = 0 and run_id is null))
);
-- A job never has two slots running, whoever ticks.
create unique index slots_running on ops.slots (job) where state = 'running';
create index slots_unsettled on ops.slots (job, slot) where not is_settled;
create index slots_run on ops.slots (run_id) where run_id is not null;
-- Who asks twice gets one run.
create unique index slots_requested on ops.slots (job) where requested_by is not null and not is_settled;
create index slots_time on ops.slots (slot, job);
comment on table ops.slots is 'One row for each time at which a job''s schedule says that it runs. Authoritative for scheduled runs: each slot runs once, however many processes poll.';
comment on column ops.slots.job is 'Name of the job in pipeline.yaml.';
comment on column ops.slots.slot is 'Its time. For a job that follows another: the time of that job''s slot.';
comment on column ops.slots.state is 'waiting (for the job that it follows), due, running, done (its run came to its end), failed, skipped (the job was at work, or the job before did not end well), missed (nothing ran at its time, and it was not caught up).';
comment on column ops.slots.is_settled is 'done, failed, skipped or missed: nothing is to be done.';
comment on column ops.slots.attempts is 'How often it was begun: more than once when a process died or was stopped while it ran.';
comment on column ops.slots.losses is 'How often its process, or the database, was gone while it ran.';
comment on column ops.slots.owner is 'Process that runs it now, as its lease serve:<owner> names it.';
comment on column ops.slots.run_id is 'Its latest run.';
comment on column ops.slots.not_before is 'Not started again before this instant.';
comment on column ops.slots.reason is 'Why it is where it is, in words.';
comment on column ops.slots.created_at is 'When it was noticed. Database clock.';
comment on column ops.slots.started_at is 'When it was begun last. Database clock.';
comment on column ops.slots.settled_at is 'When it was settled. Database clock.';
comment on column ops.slots.requested_by is 'Who asked for a run now, beside the schedule; null for a slot of the schedule.';

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

-- ops: who works on what ------------------------------------------------------------------------------------

create table ops.leases (
  name text primary key,
  owner uuid not null,
  fence bigint not null default 1,
  expires_at timestamptz not null,
  acquired_at timestamptz not null default now(),
  host text not null,
  pid integer not null
);
create index leases_owner on ops.leases (owner);
comment on table ops.leases is 'Who works on what, on the database clock. A row past expires_at is over, whoever holds it.';
comment on column ops.leases.name is 'job:<job>, source:<source>, bulk:<bulk action>, or serve:<owner> of a process that runs jobs by their schedule.';
comment on column ops.leases.owner is 'Random id of the process that holds it.';
comment on column ops.leases.fence is 'Grows each time the lease changes hands.';
comment on column ops.leases.expires_at is 'Pushed forward by heartbeats.';
comment on column ops.leases.acquired_at is 'When this owner took it.';
comment on column ops.leases.host is 'Name of the machine.';
comment on column ops.leases.pid is 'Process id on that machine.';

create table ops.job_locks (
  job text primary key,
  created_at timestamptz not null default now()
);
comment on table ops.job_locks is 'One row per job, locked (FOR UPDATE) by the transaction that decides about the orders of the job.';
comment on column ops.job_locks.job is 'Name of the job in the configuration.';
comment on column ops.job_locks.created_at is 'When the job was first locked.';

create table ops.workers (
  worker_id uuid primary key,
  host text not null,
  pid integer not null,
  version text not null,
  kinds text[] not null,
  concurrency integer not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  draining_since timestamptz
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
comment on column ops.workers.draining_since is 'When it was asked to stop: it finishes its requests in flight and begins no more units. Null for a worker that begins units. Clock of the database.';

create table ops.work_units (
  unit_id uuid primary key default gen_random_uuid(),
  run_id bigint not null,
  run_owner uuid not null,
  job text not null,
  kind text not null
    check (kind in ('read-source', 'post-share', 'post-backfill', 'fetch-deals', 'submit-batches')),
  payload jsonb not null,
  state text not null default 'open'
    check (state in ('open', 'returned', 'done', 'failed', 'given_up', 'cancelled')),
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
create index work_units_failed on ops.work_units (ended_at) where state in ('failed', 'given_up');
comment on table ops.work_units is 'Units of work that a run has handed out to workers. To repeat one changes nothing: what it reads is sealed once, what it posts is claimed once, what it fetches is staged once, and a batch that was submitted no longer waits.';
comment on column ops.work_units.unit_id is 'Id of the unit, also in the queue of pg-boss.';
comment on column ops.work_units.run_id is 'Run that handed it out, see ops.runs.';
comment on column ops.work_units.run_owner is 'Process of that run, as ops.leases names it. Without a lease of it in force nobody works on its units.';
comment on column ops.work_units.job is 'Job of the run.';
comment on column ops.work_units.kind is 'read-source: read the new files of a source. post-share: post a range of the ready entries of a job. post-backfill: the same for a backfill. fetch-deals: read a range of the deals that are due into the staging tables. submit-batches: submit a range of the waiting batches of customers of a brand.';
comment on column ops.work_units.payload is 'What to do, by kind. No addresses, no values of rows.';
comment on column ops.work_units.state is 'open: handed out; returned: given back by a worker that stops; done; failed: ended by an error that a run reports; given_up: its worker died several times; cancelled: not wanted any more.';
comment on column ops.work_units.is_wanted is 'False once its run wants no more of it: the worker that does it finishes the requests in flight and gives it back.';
comment on column ops.work_units.attempt is 'How often a worker began it. Only the last one may end it.';
comment on column ops.work_units.worker_id is 'Worker that began it last, see ops.workers.';
comment on column ops.work_units.done is 'How far it is: rows read, orders posted, deals read, or customers submitted.';
comment on column ops.work_units.result is 'What came of it, or for failed units the error (code, message, help). No addresses, no values of rows.';
comment on column ops.work_units.created_at is 'When it was handed out. Clock of the database.';
comment on column ops.work_units.begun_at is 'When a worker began it last.';
comment on column ops.work_units.seen_at is 'Last sign of life of the worker that does it, about one a second.';
comment on column ops.work_units.ended_at is 'When it came to its state, but for open.';

create table ops.request_turns (
  only_row boolean primary key default true check (only_row),
  next_turn_at timestamptz not null,
  run_turn_at timestamptz,
  backfill_turn_at timestamptz
) with (fillfactor = 10);
comment on table ops.request_turns is 'The shared rate limiter of the account: all processes reserve their requests here, so that together they keep the limit. A crash loses nothing.';
comment on column ops.request_turns.only_row is 'Always true: the table has at most one row.';
comment on column ops.request_turns.next_turn_at is 'The first time that no process has reserved.';
comment on column ops.request_turns.run_turn_at is 'When a run last reserved a request: while runs do, backfills slow down.';
comment on column ops.request_turns.backfill_turn_at is 'When a backfill last reserved a request.';

-- ops: backfills --------------------------------------------------------------------------------------------

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
  constraint what_began_was_approved
    check (state in ('planned', 'replaced', 'cancelled')
      or (approved_by is not null and approved_at is not null))
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
comment on column ops.backfills.concurrency is 'Maximum number of concurrent requests of each process that posts its orders; null: the share that the configuration leaves it.';
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

create table ops.backfill_turns (
  backfill_id bigint primary key references ops.backfills on delete cascade,
  next_turn_at timestamptz not null
) with (fillfactor = 10);
comment on table ops.backfill_turns is 'The shared rate limiter of each backfill: all processes that post its orders reserve their requests here, so that together they keep its limit. A crash loses nothing.';
comment on column ops.backfill_turns.backfill_id is 'Backfill, see ops.backfills.';
comment on column ops.backfill_turns.next_turn_at is 'The first time that no process has reserved.';

-- ops: events of the service --------------------------------------------------------------------------------

create table ops.webhook_events (
  event_id bigint generated always as identity primary key,
  kind text not null,
  body jsonb not null,
  body_sha256 text not null unique,
  deal_id text,
  collab_id text,
  sent_at timestamptz,
  received_at timestamptz not null default now()
);
create index webhook_events_deal on ops.webhook_events (deal_id) where deal_id is not null;
create index webhook_events_kind on ops.webhook_events (kind, event_id);
comment on table ops.webhook_events is 'Signed events of the service, each once, stored before they are acknowledged. Unknown kinds too.';
comment on column ops.webhook_events.event_id is 'Counts up.';
comment on column ops.webhook_events.kind is 'As webhook_type of the specification; unknown where neither the body nor the address tells.';
comment on column ops.webhook_events.body is 'What was sent: members with their values where those are ids, amounts, codes, links, dates or public; of all others only that they were there. A JSON text where it was no JSON object.';
comment on column ops.webhook_events.body_sha256 is 'Digest of the raw body: the same body is an event once, whenever it is sent again.';
comment on column ops.webhook_events.deal_id is 'Deal that it names, which may be discovered through it.';
comment on column ops.webhook_events.collab_id is 'Collaboration it is about.';
comment on column ops.webhook_events.sent_at is 'By the timestamp header, which is not signed: for people only.';
comment on column ops.webhook_events.received_at is 'Database clock.';

-- ops: what people did --------------------------------------------------------------------------------------

create table ops.audit (
  audit_id bigint generated always as identity primary key,
  occurred_at timestamptz not null default clock_timestamp(),
  actor text not null check (actor <> ''),
  via text not null check (via in ('console', 'command')),
  action text not null check (action <> ''),
  subject_kind text not null,
  subject text,
  summary text not null check (summary <> ''),
  reason text,
  before jsonb,
  after jsonb,
  filter jsonb,
  bulk_id bigint
);
create index audit_subject on ops.audit (subject_kind, subject, audit_id desc);
create index audit_bulk on ops.audit (bulk_id) where bulk_id is not null;
-- The page of the audit shows what people did, one line for a bulk action.
create index audit_without_bulk on ops.audit (audit_id desc) where bulk_id is null;
comment on table ops.audit is 'Append-only: every change that a person made, in the console or with a command. It is written in the transaction of the change.';
comment on column ops.audit.audit_id is 'Counts up.';
comment on column ops.audit.occurred_at is 'When.';
comment on column ops.audit.actor is 'Who: login name on the machine, or the name that the console signed in.';
comment on column ops.audit.via is 'console or command.';
comment on column ops.audit.action is 'What was done, for example settle_doubt.';
comment on column ops.audit.subject_kind is 'What it was done to: entry, file, code, job, backfill, bulk, check, statement, customer, table.';
comment on column ops.audit.subject is 'Its id or name; null where the action concerned many.';
comment on column ops.audit.summary is 'What was done, in a sentence.';
comment on column ops.audit.reason is 'Why, in the words of the person. E-mail addresses are masked.';
comment on column ops.audit.before is 'The fields that changed, as they were.';
comment on column ops.audit.after is 'The same fields afterwards.';
comment on column ops.audit.filter is 'For an action on many rows: the filter that chose them; null otherwise.';
comment on column ops.audit.bulk_id is 'Bulk action that this one was a part of, in ops.bulk_actions; null otherwise.';

create table ops.bulk_actions (
  bulk_id bigint generated always as identity primary key,
  state text not null default 'preview'
    check (state in ('preview', 'running', 'finished', 'aborted', 'expired')),
  decision text not null
    check (decision in ('accepted', 'write_off', 'resend', 'acknowledge', 'release', 'reread')),
  deal_id text,
  collab_id text,
  chosen text not null check (chosen <> ''),
  filter jsonb,
  reason text not null check (reason <> ''),
  created_by text not null check (created_by <> ''),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  entries integer not null default 0 check (entries >= 0),
  ineligible integer not null default 0 check (ineligible >= 0),
  amounts jsonb not null default '[]',
  confirmed_by text check (confirmed_by <> ''),
  confirmed_at timestamptz,
  aborted_by text check (aborted_by <> ''),
  aborted_at timestamptz,
  ended_at timestamptz,
  settled integer,
  changed integer,
  failed integer,
  via text not null default 'console' check (via in ('console', 'command')),
  constraint bulk_actions_deal_check check (decision = 'accepted' or (deal_id is null and collab_id is null)),
  constraint bulk_actions_confirmed_check
    check ((confirmed_at is null) = (confirmed_by is null)
      and (confirmed_at is not null) = (state in ('running', 'finished', 'aborted'))),
  constraint bulk_actions_aborted_check
    check ((aborted_at is null) = (aborted_by is null) and (aborted_at is not null) = (state = 'aborted')),
  -- One that was aborted has ended once the reports know what it has settled.
  constraint bulk_actions_ended_check
    check ((state <> 'finished' or ended_at is not null)
      and (ended_at is null or state in ('finished', 'aborted')) and (ended_at is null) = (settled is null)
      and (ended_at is null) = (changed is null) and (ended_at is null) = (failed is null))
);
-- Those that a process still has something to do for.
create index bulk_actions_open on ops.bulk_actions (bulk_id) where ended_at is null and state <> 'expired';
comment on table ops.bulk_actions is 'One decision about many entries of the ledger, or about many files, as it was previewed and confirmed.';
comment on column ops.bulk_actions.bulk_id is 'Counts up. Column bulk_id of ops.audit and ops.bulk_items names it.';
comment on column ops.bulk_actions.state is 'preview (nothing is changed), running, finished, aborted by a person, or expired (never confirmed).';
comment on column ops.bulk_actions.decision is 'What is decided about each: accepted, write_off, resend or acknowledge (entries), release or reread (files).';
comment on column ops.bulk_actions.deal_id is 'With accepted: the deal of entries that name none; null where each must name its own.';
comment on column ops.bulk_actions.collab_id is 'The same for the collaboration.';
comment on column ops.bulk_actions.chosen is 'Which were chosen, in a sentence. Times are instants: an age was counted back from when it was asked for.';
comment on column ops.bulk_actions.filter is 'The filter that chose them; null where a person picked each. It is a record: the entries are those of ops.bulk_items.';
comment on column ops.bulk_actions.reason is 'Why, in the words of the person. E-mail addresses are masked.';
comment on column ops.bulk_actions.created_by is 'Who made the preview.';
comment on column ops.bulk_actions.created_at is 'When it was frozen. Database clock.';
comment on column ops.bulk_actions.expires_at is 'A preview cannot be confirmed from this instant on.';
comment on column ops.bulk_actions.entries is 'Entries, or files, that can be settled.';
comment on column ops.bulk_actions.ineligible is 'Those that were chosen and cannot be settled so; ops.bulk_items says why.';
comment on column ops.bulk_actions.amounts is 'Of those that can be settled: [{currency, amount}], one for each currency. Of double credits: what is too much.';
comment on column ops.bulk_actions.confirmed_by is 'Who confirmed it; null for a preview.';
comment on column ops.bulk_actions.confirmed_at is 'When.';
comment on column ops.bulk_actions.aborted_by is 'Who aborted it. What was settled before stays so.';
comment on column ops.bulk_actions.aborted_at is 'When. Nothing was settled afterwards.';
comment on column ops.bulk_actions.ended_at is 'When the last of them was dealt with, and the reports were told.';
comment on column ops.bulk_actions.settled is 'How many it settled; null until it has ended, as the next two.';
comment on column ops.bulk_actions.changed is 'How many were left alone, because they were no longer as the preview showed them.';
comment on column ops.bulk_actions.failed is 'How many could not be settled because of an error, which the log names.';
comment on column ops.bulk_actions.via is 'Where it was made: console or command. Column via of the audit records of its parts.';

create table ops.bulk_items (
  bulk_id bigint not null,
  subject_id bigint constraint bulk_items_entry_id_not_null not null,
  job text,
  state text not null
    check (state in ('held', 'ready', 'sending', 'accepted', 'rejected', 'in_doubt', 'written_off',
      'reading', 'read', 'duplicate', 'released')),
  attempt integer check (attempt >= 0),
  amount numeric(18,4),
  currency text,
  deal_id text,
  collab_id text,
  is_eligible boolean not null,
  outcome text
    check (outcome in ('settled', 'changed', 'failed', 'not_in_doubt', 'deal_unknown', 'has_evidence',
      'not_credited_twice', 'not_held', 'being_read')),
  outcome_at timestamptz,
  credits integer check (credits > 1),
  primary key (bulk_id, subject_id),
  constraint bulk_items_outcome_at_check
    check ((outcome_at is not null) = (is_eligible and outcome is not null)),
  constraint bulk_items_eligible_check
    check (case when is_eligible then outcome is null
      or outcome in ('settled', 'changed',
      'failed') else coalesce(outcome in ('not_in_doubt', 'deal_unknown', 'has_evidence', 'not_credited_twice',
      'not_held', 'being_read'), false) end)
);
create index bulk_items_open on ops.bulk_items (bulk_id, subject_id) where outcome is null;
comment on table ops.bulk_items is 'Entries or files of a bulk action, as its preview froze them. Those of a preview that has expired are deleted.';
comment on column ops.bulk_items.bulk_id is 'Bulk action, in ops.bulk_actions.';
comment on column ops.bulk_items.subject_id is 'Entry, in ledger.entries; of a decision about files the file, in intake.source_files.';
comment on column ops.bulk_items.job is 'Job of the entry; null for a file.';
comment on column ops.bulk_items.state is 'Its state in the preview. What is in another state is left alone.';
comment on column ops.bulk_items.attempt is 'Attempts of the entry in the preview. An entry with another number is left alone. Null for a file.';
comment on column ops.bulk_items.amount is 'Its amount, in currency; with acknowledge what is too much; null for a file.';
comment on column ops.bulk_items.currency is 'ISO 4217.';
comment on column ops.bulk_items.deal_id is 'With accepted: the deal that the decision names. From the entry or its evidence, else from the bulk action.';
comment on column ops.bulk_items.collab_id is 'The same for the collaboration.';
comment on column ops.bulk_items.is_eligible is 'Whether the decision could be applied to it when it was frozen.';
comment on column ops.bulk_items.outcome is 'settled, changed (left alone: no longer as shown) or failed; why it is left out for one that is not eligible; null until it is dealt with.';
comment on column ops.bulk_items.outcome_at is 'When it was dealt with.';
comment on column ops.bulk_items.credits is 'With acknowledge: requests that the service had accepted. With another number since, it is left alone.';

-- ops: problems and notices ---------------------------------------------------------------------------------

create table ops.problems (
  problem_id bigint generated always as identity primary key,
  kind text not null check (kind <> ''),
  job text check (job <> ''),
  state text not null default 'opened' check (state in ('opened', 'reminded', 'resolved')),
  severity text not null check (severity in ('error', 'warning')),
  since timestamptz not null,
  opened_at timestamptz not null default clock_timestamp(),
  observed_at timestamptz not null,
  told_at timestamptz not null default clock_timestamp(),
  told_severity text not null check (told_severity in ('error', 'warning')),
  reminders integer not null default 0 check (reminders >= 0),
  came_back boolean not null default false,
  absent_since timestamptz,
  resolved_at timestamptz,
  amounts jsonb not null default '[]' check (jsonb_typeof(amounts) = 'array'),
  summary text not null check (summary <> ''),
  command text not null check (command <> ''),
  page text not null,
  constraint resolved_says_when check ((state = 'resolved') = (resolved_at is not null)),
  constraint reminded_was_reminded check (state = 'resolved' or (state = 'reminded') = (reminders > 0))
);
-- One open problem of a kind and job, however many processes notice it.
create unique index problems_open on ops.problems (kind, coalesce(job, '')) where resolved_at is null;
create index problems_last on ops.problems (kind, coalesce(job, ''), problem_id desc);
comment on table ops.problems is 'One row for each problem, from when it was noticed until it was over. The same problem that comes again is another row.';
comment on column ops.problems.problem_id is 'Counts up.';
comment on column ops.problems.kind is 'What is wrong, for example job_failed: docs/notices.md lists all kinds.';
comment on column ops.problems.job is 'Job in pipeline.yaml; null where it concerns every job.';
comment on column ops.problems.state is 'opened, reminded (told of again since), resolved.';
comment on column ops.problems.severity is 'error (jobs do not do their work, or money is at risk) or warning.';
comment on column ops.problems.since is 'When it began, as far as is known.';
comment on column ops.problems.opened_at is 'When it was noticed. Database clock.';
comment on column ops.problems.observed_at is 'When the observation began that was last applied to it; an older one has no effect. Database clock.';
comment on column ops.problems.told_at is 'When a notice of it was last made. Database clock.';
comment on column ops.problems.told_severity is 'Severity in that notice: if it has become an error since, it is told of again.';
comment on column ops.problems.reminders is 'How often it was told of again.';
comment on column ops.problems.came_back is 'It came back soon after it was resolved, so it must stay away for a while until it is resolved.';
comment on column ops.problems.absent_since is 'Of one that came back: since when it is not seen; null while it is.';
comment on column ops.problems.resolved_at is 'When it was over; null while it is open. Database clock.';
comment on column ops.problems.amounts is 'Money that is concerned: [{amount, currency}], amounts as text.';
comment on column ops.problems.summary is 'What is wrong, without secrets, addresses and values of rows.';
comment on column ops.problems.command is 'What to run next.';
comment on column ops.problems.page is 'Page of the console that shows it.';

create table ops.notices (
  notice_id bigint generated always as identity primary key,
  problem_id bigint references ops.problems,
  event text not null check (event in ('opened', 'reminded', 'resolved', 'digest')),
  reminder integer not null default 0,
  digest_day date,
  message jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  -- A change of a problem is told once, whoever notices it.
  unique (problem_id, event, reminder),
  constraint digest_has_a_day check ((event = 'digest') = (digest_day is not null)),
  constraint others_have_a_problem check ((event = 'digest') = (problem_id is null)),
  constraint reminders_count check ((event = 'reminded') = (reminder > 0))
);
create unique index notices_digest on ops.notices (digest_day) where event = 'digest';
comment on table ops.notices is 'Append-only: one row for each change of a problem, and one for each daily digest.';
comment on column ops.notices.notice_id is 'Counts up. Part of the webhook-id of its requests.';
comment on column ops.notices.problem_id is 'Problem that it tells of; null for a digest.';
comment on column ops.notices.event is 'opened, reminded, resolved or digest.';
comment on column ops.notices.reminder is 'Which reminder, from 1; 0 for other events.';
comment on column ops.notices.digest_day is 'Day of a digest, in its time zone; null for other events.';
comment on column ops.notices.message is 'What is told: {problem, title, job, severity, since, amounts, summary, command, page}.';
comment on column ops.notices.created_at is 'When it was made. Database clock.';

create table ops.notice_deliveries (
  notice_id bigint not null references ops.notices,
  channel text not null check (channel <> ''),
  state text not null default 'pending' check (state in ('pending', 'sent', 'given_up')),
  attempts integer not null default 0 check (attempts >= 0),
  due_at timestamptz not null default clock_timestamp(),
  not_before timestamptz not null default clock_timestamp(),
  leased_until timestamptz,
  sent_at timestamptz,
  last_error text,
  primary key (notice_id, channel),
  constraint sent_says_when check ((state = 'sent') = (sent_at is not null)),
  constraint sent_was_tried check (state <> 'sent' or attempts > 0),
  constraint given_up_says_why check (state <> 'given_up' or last_error is not null)
);
create index notice_deliveries_pending on ops.notice_deliveries (not_before) where state = 'pending';
comment on table ops.notice_deliveries is 'One row for each notice and channel: the outbox of notices.';
comment on column ops.notice_deliveries.notice_id is 'Notice, see ops.notices.';
comment on column ops.notice_deliveries.channel is 'Channel in pipeline.yaml.';
comment on column ops.notice_deliveries.state is 'pending, sent, given_up (not sent within a day).';
comment on column ops.notice_deliveries.attempts is 'How often it was tried.';
comment on column ops.notice_deliveries.due_at is 'When it was to be sent: at once, or at the end of the quiet hours.';
comment on column ops.notice_deliveries.not_before is 'When it is tried next.';
comment on column ops.notice_deliveries.leased_until is 'A process is sending it until then at most; null: none is.';
comment on column ops.notice_deliveries.sent_at is 'When the channel took it. Database clock.';
comment on column ops.notice_deliveries.last_error is 'Why it could not be sent: a status or a code, never an address.';

-- ops: statements -------------------------------------------------------------------------------------------

create table ops.statements (
  statement_id bigint generated always as identity primary key,
  month date not null unique check (extract(day from month) = 1),
  time_zone text not null,
  return_window_days integer not null check (return_window_days >= 0),
  lines bigint not null check (lines >= 0),
  closed_by text not null check (closed_by <> ''),
  reason text not null check (reason <> ''),
  closed_at timestamptz not null default clock_timestamp(),
  previous_hash text not null,
  hash text not null,
  reporting_currency text check (reporting_currency ~ '^[A-Z]{3}$')
);
comment on table ops.statements is 'Closed statements of earnings, one row a month. Append-only: a trigger refuses any change.';
comment on column ops.statements.statement_id is 'Counts up.';
comment on column ops.statements.month is 'First day of the month.';
comment on column ops.statements.time_zone is 'IANA zone by whose days it was made.';
comment on column ops.statements.return_window_days is 'Days after which an order counts, as configured when it was closed.';
comment on column ops.statements.lines is 'How many lines it has.';
comment on column ops.statements.closed_by is 'Who closed it, as in ops.audit.';
comment on column ops.statements.reason is 'Why, in the words of that person. E-mail addresses are masked.';
comment on column ops.statements.closed_at is 'When. Database clock.';
comment on column ops.statements.previous_hash is 'Hash of the statement closed before; empty for the first.';
comment on column ops.statements.hash is 'SHA-256 over the month, previous_hash and all lines: `statement verify` computes it again.';
comment on column ops.statements.reporting_currency is 'Currency of the total of all lines, as configured when it was closed; null: none.';

create table ops.statement_lines (
  statement_id bigint not null,
  line_no bigint not null,
  kind text not null check (kind in ('order', 'correction', 'fixed_fee')),
  subject text not null,
  entry_id bigint,
  source text,
  order_platform text,
  order_id text,
  ordered_on date,
  due_on date not null,
  deal_id text,
  collab_id text,
  brand_id text,
  influencer_handle text,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  sent_amount numeric(18,4),
  net_amount numeric(18,4),
  rate_percent numeric,
  rate_from text,
  earned_amount numeric(18,4) not null,
  closed_before numeric(18,4) not null,
  amount numeric(18,4) not null,
  excluded_amount numeric(18,4),
  exchange_rate numeric(24,12) check (exchange_rate > 0),
  primary key (statement_id, line_no),
  constraint a_subject_is_once_in_a_statement unique (statement_id, subject, currency),
  constraint a_line_is_what_is_new check (amount = earned_amount - closed_before and amount <> 0),
  check (excluded_amount > 0 and excluded_amount <= net_amount)
);
create index statement_lines_subject on ops.statement_lines (subject);
create index statement_lines_deal on ops.statement_lines (statement_id, currency, deal_id);
-- Fees are few: a statement looks up those that were closed.
create index statement_lines_fees on ops.statement_lines (subject) where entry_id is null;
comment on table ops.statement_lines is 'Lines of closed statements. All lines of an order add up to what it had earned when the last of them was closed.';
comment on column ops.statement_lines.statement_id is 'Statement, see ops.statements.';
comment on column ops.statement_lines.line_no is 'Order within the statement, from 1.';
comment on column ops.statement_lines.kind is 'order: counts for the first time; correction: what an earlier statement said is otherwise now, for example after a refund; fixed_fee.';
comment on column ops.statement_lines.subject is 'What the line is about: order:<entry> or fee:<deal or code>:<first day>.';
comment on column ops.statement_lines.entry_id is 'Entry of the ledger; null for a fee.';
comment on column ops.statement_lines.source is 'Source of the order.';
comment on column ops.statement_lines.order_platform is 'Shop platform of the order.';
comment on column ops.statement_lines.order_id is 'Order.';
comment on column ops.statement_lines.ordered_on is 'Day of the order.';
comment on column ops.statement_lines.due_on is 'Day from which it counts: the day of the order and the return window; of a fee the first day of its terms.';
comment on column ops.statement_lines.deal_id is 'Deal that the service credited.';
comment on column ops.statement_lines.collab_id is 'Collaboration that the service credited.';
comment on column ops.statement_lines.brand_id is 'Brand.';
comment on column ops.statement_lines.influencer_handle is 'Influencer, where known.';
comment on column ops.statement_lines.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column ops.statement_lines.sent_amount is 'Revenue as the service was told.';
comment on column ops.statement_lines.net_amount is 'Revenue that counts now, net of refunds and cancellations.';
comment on column ops.statement_lines.rate_percent is 'Commission in percent.';
comment on column ops.statement_lines.rate_from is 'Where the rate is from: code or deal of the terms, or the service.';
comment on column ops.statement_lines.earned_amount is 'What it has earned in all, when the statement was closed.';
comment on column ops.statement_lines.closed_before is 'What earlier statements said of it.';
comment on column ops.statement_lines.amount is 'What this statement adds: earned_amount less closed_before.';
comment on column ops.statement_lines.excluded_amount is 'Part of net_amount that earns nothing, because the terms exclude the product; null: none.';
comment on column ops.statement_lines.exchange_rate is 'What 1 of currency was worth on due_on, in reporting_currency of the statement, when it was closed; null: there was no rate, or no reporting currency.';

-- intake: files ---------------------------------------------------------------------------------------------

create table intake.source_files (
  source_file_id bigint generated always as identity primary key,
  source text not null,
  uri text not null,
  version text not null,
  size_bytes bigint not null check (size_bytes >= 0),
  layout text not null,
  layout_hash text not null,
  state text not null default 'reading'
    check (state in ('reading', 'sealed', 'held', 'duplicate', 'released')),
  reader uuid,
  content_sha256 text,
  duplicate_of bigint references intake.source_files,
  hold_code text,
  hold_message text,
  hold_help text,
  hold_is_transient boolean not null default false,
  rows_read bigint check (rows_read >= 0),
  orders_new bigint not null default 0,
  orders_changed bigint not null default 0,
  orders_unchanged bigint not null default 0,
  order_rows bigint not null default 0,
  rejected_rows bigint not null default 0,
  run_id bigint not null references ops.runs,
  first_seen_at timestamptz not null default now(),
  sealed_at timestamptz,
  read_for text not null default 'orders' check (read_for in ('orders', 'customers', 'clicks', 'creators')),
  customer_rows bigint constraint source_files_contact_rows_not_null not null default 0,
  customers_new bigint constraint source_files_contacts_new_not_null not null default 0,
  passed_over jsonb,
  consent_columns text[],
  consent_counts jsonb,
  released_at timestamptz,
  released_by text,
  release_reason text,
  reread_at timestamptz,
  reread_by text,
  superseded_by bigint references intake.source_files,
  order_id_column text,
  other_rows bigint not null default 0,
  modified_at timestamptz,
  aged_at timestamptz,
  age_basis text check (age_basis in ('date_in_name', 'number_in_name', 'modified', 'column')),
  orders_older bigint not null default 0,
  orders_conflicting bigint not null default 0,
  rows_older bigint not null default 0,
  newest_since timestamptz,
  newest_by text,
  constraint only_a_reading_file_has_a_reader check ((state = 'reading') = (reader is not null)),
  constraint duplicates_name_their_original check ((state = 'duplicate') = (duplicate_of is not null)),
  constraint consent_is_counted_where_it_stands check ((consent_columns is null) = (consent_counts is null)),
  constraint held_files_say_why check ((state in ('held', 'released')) = (hold_code is not null)),
  constraint released_files_say_why
    check ((state = 'released') = (released_at is not null)
      and (released_at is null) = (release_reason is null) and (released_by is null or released_at is not null)),
  constraint sealed_files_add_up
    check (state <> 'sealed'
      or (sealed_at is not null and rows_read = order_rows + customer_rows + other_rows + rejected_rows)),
  constraint who_says_that_a_file_is_newest_is_known check ((newest_since is null) = (newest_by is null))
);
create index source_files_content on intake.source_files (source, content_sha256) where state = 'sealed';
create index source_files_run on intake.source_files (run_id);
create unique index source_files_identity on intake.source_files (source, read_for, uri, version)
  where superseded_by is null;
create index source_files_held on intake.source_files (source) where state = 'held';
create index source_files_order_id_column on intake.source_files (source, order_id_column)
  where state = 'sealed' and read_for = 'orders';
create index source_files_superseding on intake.source_files (superseded_by) where superseded_by is not null;
-- Files that a run must find again wherever they are: their day is listed too.
create index source_files_pending on intake.source_files (source, read_for)
  where superseded_by is null and (state in ('reading', 'held') or reread_at is not null);
comment on table intake.source_files is 'One row a version of an export file. Its orders count only once it is sealed.';
comment on column intake.source_files.source_file_id is 'Counts up.';
comment on column intake.source_files.source is 'Name of the source in pipeline.yaml.';
comment on column intake.source_files.uri is 'Where it was read.';
comment on column intake.source_files.version is 'ETag or version id (S3) or digest of the content (folder). With source and uri the identity of the file.';
comment on column intake.source_files.size_bytes is 'As stored, before decompression.';
comment on column intake.source_files.layout is 'Layout it was read with.';
comment on column intake.source_files.layout_hash is 'Digest of the layout and the source''s settings: a held file is read again when it changes.';
comment on column intake.source_files.state is 'reading (not postable), sealed (read whole, rows add up), held (kept back, see hold_…), released (was held, and is not to be missed), duplicate (same content as another file).';
comment on column intake.source_files.reader is 'Process that reads it now.';
comment on column intake.source_files.content_sha256 is 'Digest of the decoded content.';
comment on column intake.source_files.duplicate_of is 'The sealed file with the same content.';
comment on column intake.source_files.hold_code is 'Machine name of the reason for holding it; it stays when the file is released.';
comment on column intake.source_files.hold_message is 'What is wrong with it.';
comment on column intake.source_files.hold_help is 'How to fix it.';
comment on column intake.source_files.hold_is_transient is 'Nobody has to fix it: the next run reads the file again.';
comment on column intake.source_files.rows_read is 'Records in the file, header excluded.';
comment on column intake.source_files.orders_new is 'Orders first seen in this file.';
comment on column intake.source_files.orders_changed is 'Orders known before, with other content here.';
comment on column intake.source_files.orders_unchanged is 'Orders known before with the same content.';
comment on column intake.source_files.order_rows is 'Records that became part of an order.';
comment on column intake.source_files.rejected_rows is 'Records that could not be used.';
comment on column intake.source_files.run_id is 'Run that read it last.';
comment on column intake.source_files.first_seen_at is 'When it was first opened.';
comment on column intake.source_files.sealed_at is 'When its orders began to count.';
comment on column intake.source_files.read_for is 'orders, customers, clicks or creators: the same file may be read for each.';
comment on column intake.source_files.customer_rows is 'Records that were read for their customer, those in passed_over included.';
comment on column intake.source_files.customers_new is 'Customers first seen in this file.';
comment on column intake.source_files.passed_over is 'Rows whose customer is not submitted, by reason: {"no_address": 3, "refused": 2, "contradicting": 1, "unknown": 4, "forgotten": 1}. Files that were read before 0082 have no_consent and unsubscribed instead of the three in the middle.';
comment on column intake.source_files.consent_columns is 'Of a file that was read for its customers: the headers of the columns that say who has consented. Empty: it has none, and its source or job says that this is well.';
comment on column intake.source_files.consent_counts is 'Of a file that was read for its customers: how many rows with an address say yes, no (refused, unsubscribed, blacklisted, contradictory) or neither: {"yes": 412, "no": 88, "blank": 3}.';
comment on column intake.source_files.released_at is 'When its hold ended without the file being read.';
comment on column intake.source_files.released_by is 'Who released it (files release); null: the program, because its source no longer covers it.';
comment on column intake.source_files.release_reason is 'Why it is not to be missed.';
comment on column intake.source_files.reread_at is 'When it was asked that the next run reads it again; null: it was not.';
comment on column intake.source_files.reread_by is 'Who asked for it (files reread).';
comment on column intake.source_files.superseded_by is 'The later reading of the same version. Orders of this one count until a later one states them otherwise; null: this is the last reading.';
comment on column intake.source_files.order_id_column is 'Header of the column that names the orders of the file, lower case; null where it is not known: files read before it was kept, held files, files of customers.';
comment on column intake.source_files.other_rows is 'Records that were read for clicks or creators, those in passed_over included.';
comment on column intake.source_files.modified_at is 'When the file was put there, as its store says. Null: unknown, or read before this was stored; then first_seen_at stands in for it.';
comment on column intake.source_files.aged_at is 'From when the file is: the date in its name, else modified_at. Null: unknown, or read before this was stored.';
comment on column intake.source_files.age_basis is 'What says whether it is newer than another file: the date in its name, the number in its name, or modified_at. column: each of its rows says when its order last changed.';
comment on column intake.source_files.orders_older is 'Orders of which a newer file states something else. They are kept as versions that were never in force.';
comment on column intake.source_files.orders_conflicting is 'Orders of which another file states something else, and nothing says which of them is newer. They are held. Part of orders_changed.';
comment on column intake.source_files.rows_older is 'Clicks or creators of which a newer file states something else. They changed nothing.';
comment on column intake.source_files.newest_since is 'When a person said that the file is newer than all that were there by then. Null: nobody did.';
comment on column intake.source_files.newest_by is 'Who said that it is newer.';

create table intake.listings (
  source text not null,
  read_for text not null check (read_for in ('orders', 'customers', 'clicks', 'creators')),
  names_hash text not null,
  listed_at timestamptz not null,
  primary key (source, read_for)
);
comment on table intake.listings is 'When a source with lookback_days was last listed and every file found was dealt with: one row a source and purpose.';
comment on column intake.listings.source is 'Name of the source in pipeline.yaml.';
comment on column intake.listings.read_for is 'orders, customers, clicks or creators, as in intake.source_files.';
comment on column intake.listings.names_hash is 'Digest of the settings that say which files the source has. If they change, all names are listed again.';
comment on column intake.listings.listed_at is 'When that listing began. The next one starts lookback_days before this day.';

create table intake.announced_files (
  source text not null,
  read_for text not null check (read_for in ('orders', 'customers', 'clicks', 'creators')),
  uri text not null,
  announcement_id bigint generated always as identity,
  announced_at timestamptz not null default now(),
  primary key (source, read_for, uri)
);
comment on table intake.announced_files is 'Files that the queue of a source has announced and no run has dealt with yet: one row a file and purpose.';
comment on column intake.announced_files.source is 'Name of the source in pipeline.yaml.';
comment on column intake.announced_files.read_for is 'orders, customers, clicks or creators, as in intake.source_files.';
comment on column intake.announced_files.uri is 's3://bucket/key, as in intake.source_files. The object may have been replaced or removed since.';
comment on column intake.announced_files.announcement_id is 'Differs with each announcement of the file, so that a run removes only those that it has seen.';
comment on column intake.announced_files.announced_at is 'When the last announcement was received.';

create table intake.rejected_rows (
  source_file_id bigint not null references intake.source_files,
  line_no bigint not null,
  record_no bigint not null,
  code text not null,
  column_name text,
  value text,
  reason text not null,
  help text not null,
  row_count integer not null default 1 check (row_count > 0),
  run_id bigint not null references ops.runs,
  first_seen_at timestamptz not null default now(),
  primary key (source_file_id, record_no)
);
comment on table intake.rejected_rows is 'Rows that could not be used, each with its reason. The row itself stays in the file; `rejected --export` fetches it from there.';
comment on column intake.rejected_rows.source_file_id is 'File that contains it.';
comment on column intake.rejected_rows.line_no is 'Physical line on which the record begins, 1-based.';
comment on column intake.rejected_rows.record_no is '1-based, header excluded.';
comment on column intake.rejected_rows.code is 'Machine name of the problem.';
comment on column intake.rejected_rows.column_name is 'Header of the column at fault.';
comment on column intake.rejected_rows.value is 'The value at fault, cut, e-mail addresses masked.';
comment on column intake.rejected_rows.reason is 'What is wrong.';
comment on column intake.rejected_rows.help is 'How to fix it.';
comment on column intake.rejected_rows.row_count is 'Number of rows: more than one when a whole order is rejected.';
comment on column intake.rejected_rows.run_id is 'Run that rejected it.';
comment on column intake.rejected_rows.first_seen_at is 'When it was rejected.';

-- intake: what a file that is being read says, until it is sealed -------------------------------------------

create table intake.order_continuations (
  source_file_id bigint not null references intake.source_files,
  group_key text not null,
  line_no bigint not null,
  record_no bigint not null,
  row_count integer not null check (row_count > 0),
  primary key (source_file_id, line_no)
);
comment on table intake.order_continuations is 'Rows of a file being read that belong to an order whose first row is in another place. Settled and emptied when the file is sealed.';
comment on column intake.order_continuations.source_file_id is 'File being read.';
comment on column intake.order_continuations.group_key is 'The order they belong to.';
comment on column intake.order_continuations.line_no is 'Physical line of the first of them.';
comment on column intake.order_continuations.record_no is 'Record number of the first of them.';
comment on column intake.order_continuations.row_count is 'How many rows.';

create table intake.unchanged_orders (
  source_file_id bigint constraint order_sightings_source_file_id_not_null not null
    references intake.source_files,
  order_version_ids bigint[] constraint order_sightings_order_version_ids_not_null not null,
  line_nos bigint[] constraint order_sightings_line_nos_not_null not null,
  record_nos bigint[] constraint order_sightings_record_nos_not_null not null,
  row_counts bigint[] constraint order_sightings_row_counts_not_null not null,
  cancelled bigint constraint order_sightings_cancelled_not_null not null
);
create index unchanged_orders_file on intake.unchanged_orders (source_file_id);
comment on table intake.unchanged_orders is 'Unchanged orders of a file being read: orders that are known in the same form, one row for each batch. Settled and emptied when the file is sealed.';
comment on column intake.unchanged_orders.source_file_id is 'File being read.';
comment on column intake.unchanged_orders.order_version_ids is 'Current versions that the file repeats.';
comment on column intake.unchanged_orders.line_nos is 'Physical line of each.';
comment on column intake.unchanged_orders.record_nos is 'Record number of each.';
comment on column intake.unchanged_orders.row_counts is 'Rows of each.';
comment on column intake.unchanged_orders.cancelled is 'How many of them are cancelled.';

create table intake.restated_orders (
  source_file_id bigint not null references intake.source_files,
  order_version_ids int8multirange not null
);
create index restated_orders_file on intake.restated_orders (source_file_id);
comment on table intake.restated_orders is 'Versions of orders that a later file states again, a few rows a file: so a file that is older than both does not replace them.';
comment on column intake.restated_orders.source_file_id is 'File that states them again.';
comment on column intake.restated_orders.order_version_ids is 'The versions, as ranges: most of them follow one another.';

create table intake.missing_rows (
  source_file_id bigint not null references intake.source_files,
  group_key text,
  is_certain boolean not null,
  check (group_key is not null or not is_certain)
);
create index missing_rows_source_file_id on intake.missing_rows (source_file_id);
comment on table intake.missing_rows is 'Orders of a file being read that lack a row, because the row cannot be used. Settled and emptied when the file is sealed.';
comment on column intake.missing_rows.source_file_id is 'File being read.';
comment on column intake.missing_rows.group_key is 'The order that lacks the row, or may lack it. Null: any order of the file.';
comment on column intake.missing_rows.is_certain is 'Whether the row itself names the order. False: the order is beside the row in the file, which names none.';

create table intake.staged_rows (
  source_file_id bigint not null,
  line_no bigint not null,
  record_no bigint not null,
  content jsonb not null,
  primary key (source_file_id, record_no)
);
comment on table intake.staged_rows is 'Rows of a file of clicks or creators that is being read. Put in force and emptied when it is sealed.';
comment on column intake.staged_rows.source_file_id is 'File being read. Not a foreign key; staging locks the file''s row instead.';
comment on column intake.staged_rows.line_no is 'Physical line of the row.';
comment on column intake.staged_rows.record_no is 'Record number of the row.';
comment on column intake.staged_rows.content is 'What the row states.';

-- intake: checks --------------------------------------------------------------------------------------------

create table intake.file_statistics (
  source_file_id bigint primary key,
  source text not null,
  read_for text not null,
  arrived_at timestamptz not null,
  size_bytes bigint not null check (size_bytes >= 0),
  rows_read bigint not null check (rows_read >= 0),
  rejected_rows bigint not null,
  header text[] not null,
  header_hash text not null,
  orders_new bigint,
  orders_known bigint,
  orders_judged bigint,
  blank_code_orders bigint,
  currencies jsonb,
  statuses jsonb,
  amounts jsonb,
  newest_order_at timestamptz,
  customers bigint,
  customers_refused bigint,
  results jsonb not null,
  checked_at timestamptz not null default clock_timestamp(),
  coded_orders bigint,
  unowned_code_orders bigint,
  constraint file_statistics_check check (rejected_rows between 0 and rows_read),
  constraint file_statistics_check1 check (blank_code_orders between 0 and orders_judged),
  constraint file_statistics_check2 check (customers_refused between 0 and customers),
  constraint orders_are_counted_whole
    check (num_nulls(orders_new, orders_known, orders_judged, blank_code_orders, currencies, statuses,
      amounts) in (0, 7)),
  constraint customers_are_counted_whole check ((customers is null) = (customers_refused is null)),
  constraint unowned_codes_are_codes check (unowned_code_orders between 0 and coded_orders)
);
create index file_statistics_source on intake.file_statistics (source, read_for, arrived_at desc);
comment on table intake.file_statistics is 'What each file came to when it was read whole, and what the checks said of it: counts and names of columns, no cell of a row. Files that are sealed are what later ones are compared with.';
comment on column intake.file_statistics.source_file_id is 'The file. Not a foreign key: a plan covers intake.source_files with a temporary table.';
comment on column intake.file_statistics.source is 'Name of the source in pipeline.yaml.';
comment on column intake.file_statistics.read_for is 'What the file was read for.';
comment on column intake.file_statistics.arrived_at is 'When it was put there, as the store says; else when it was read.';
comment on column intake.file_statistics.size_bytes is 'As stored, before decompression.';
comment on column intake.file_statistics.rows_read is 'Records in the file, header excluded.';
comment on column intake.file_statistics.rejected_rows is 'Records that could not be used.';
comment on column intake.file_statistics.header is 'Names of its columns as written, e-mail addresses masked.';
comment on column intake.file_statistics.header_hash is 'Digest of the names of its columns.';
comment on column intake.file_statistics.orders_new is 'Orders that no earlier file of the source has stated; null: it was not read for its orders.';
comment on column intake.file_statistics.orders_known is 'Orders that earlier files of the source have stated, changed ones included.';
comment on column intake.file_statistics.orders_judged is 'New and changed orders: the columns from here to newest_order_at are of these.';
comment on column intake.file_statistics.blank_code_orders is 'Of these: without a code, link, handle or deal.';
comment on column intake.file_statistics.currencies is 'Orders of each currency.';
comment on column intake.file_statistics.statuses is 'Orders of each status word; words of few orders are counted together as (other).';
comment on column intake.file_statistics.amounts is 'By currency: orders with an amount above 0, and the median of the amounts (of a sample of them in large files).';
comment on column intake.file_statistics.newest_order_at is 'When the newest of the new orders was placed.';
comment on column intake.file_statistics.customers is 'Customers with a usable address; null: it was not read for its customers.';
comment on column intake.file_statistics.customers_refused is 'Of these: refused, unsubscribed or blacklisted.';
comment on column intake.file_statistics.results is 'What each check said: [{check, subject, verdict, seen, expected}].';
comment on column intake.file_statistics.checked_at is 'When the checks looked at it.';
comment on column intake.file_statistics.coded_orders is 'Of the new and changed orders: those with a code (of a sample of them in large files).';
comment on column intake.file_statistics.unowned_code_orders is 'Of these: none of whose codes anybody owned in the codes of any job when the file was read.';

create table intake.check_findings (
  finding_id bigint generated always as identity primary key,
  source_file_id bigint not null,
  source text not null,
  check_name text not null,
  subject text,
  verdict text not null check (verdict in ('warn', 'held')),
  seen text not null,
  expected text not null,
  message text not null,
  line_nos bigint[] not null,
  run_id bigint not null,
  found_at timestamptz not null default clock_timestamp(),
  acknowledged_at timestamptz,
  acknowledged_by text,
  acknowledge_reason text,
  constraint acknowledgements_say_who_and_why
    check (num_nulls(acknowledged_at, acknowledged_by, acknowledge_reason) in (0, 3))
);
create unique index check_findings_once
  on intake.check_findings (source_file_id, check_name, coalesce(subject, ''));
create index check_findings_open on intake.check_findings (found_at) where acknowledged_at is null;
create index check_findings_run on intake.check_findings (run_id);
comment on table intake.check_findings is 'What the checks found unusual in files, until a person acknowledges it. One row a file, check and subject.';
comment on column intake.check_findings.finding_id is 'Counts up.';
comment on column intake.check_findings.source_file_id is 'File that was looked at.';
comment on column intake.check_findings.source is 'Name of its source in pipeline.yaml.';
comment on column intake.check_findings.check_name is 'Check, as under expect of a source.';
comment on column intake.check_findings.subject is 'Currency, status or column that it is about; null: the file as a whole.';
comment on column intake.check_findings.verdict is 'warn (the file counts), held (it does not).';
comment on column intake.check_findings.seen is 'What the file has, for people.';
comment on column intake.check_findings.expected is 'What is usual, for people.';
comment on column intake.check_findings.message is 'What is unusual, in a sentence without row values.';
comment on column intake.check_findings.line_nos is 'Physical lines of the first few rows that show it.';
comment on column intake.check_findings.run_id is 'Run that found it.';
comment on column intake.check_findings.found_at is 'When.';
comment on column intake.check_findings.acknowledged_at is 'When a person said that the file is right.';
comment on column intake.check_findings.acknowledged_by is 'Who.';
comment on column intake.check_findings.acknowledge_reason is 'Why, in the words of the person.';

create table intake.expected_dates (
  expected_date_id bigint generated always as identity primary key,
  day date not null,
  source text,
  name text not null check (name <> ''),
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null
);
create unique index expected_dates_once on intake.expected_dates (day, coalesce(source, ''));
comment on table intake.expected_dates is 'Dates on which a person expects unusual amounts of orders. Checks of amounts neither judge nor learn from files of such a date and the next one.';
comment on column intake.expected_dates.expected_date_id is 'Counts up.';
comment on column intake.expected_dates.day is 'The date, in the zone of the source.';
comment on column intake.expected_dates.source is 'Source that it is about; null: all of them.';
comment on column intake.expected_dates.name is 'Why, for example Black Friday.';
comment on column intake.expected_dates.created_at is 'When it was given.';
comment on column intake.expected_dates.created_by is 'Who gave it.';

-- intake: orders, and whose they are ------------------------------------------------------------------------

create table intake.orders (
  order_version_id bigint generated always as identity primary key,
  source text not null,
  order_id text not null,
  source_file_id bigint not null,
  is_current boolean not null,
  content_hash text not null,
  group_key text not null,
  order_name text,
  status text,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  total numeric(18,4),
  subtotal numeric(18,4),
  refunded numeric(18,4),
  codes text[] not null default '{}',
  codes_folded text[] not null default '{}',
  links text[] not null default '{}',
  links_folded text[] not null default '{}',
  influencer_handle text,
  deal_id text,
  collab_id text,
  brand_id text,
  placed_at timestamptz,
  paid_at timestamptz,
  cancelled_at timestamptz,
  exclusion text,
  line_no bigint not null,
  record_no bigint not null,
  row_count integer not null check (row_count > 0),
  conflicting_line_no bigint,
  replaces bigint,
  first_seen_at timestamptz not null default now(),
  customer_key uuid,
  customer_key_no smallint check (customer_key_no > 1),
  lines jsonb check (jsonb_typeof(lines) = 'array'),
  similar_to text,
  doubt text check (doubt ~ '^[a-z][a-z_]{0,40}$'),
  items jsonb check (jsonb_typeof(items) = 'array'),
  changed_at timestamptz,
  other_ids text[] not null default '{}',
  note text check (char_length(note) <= 500)
);
create unique index orders_current on intake.orders (source, order_id) where is_current;
-- Exports are nearly in the order of their days, so a block range index does, and costs the intake next to
-- nothing.
create index orders_ordered on intake.orders
  using brin ((coalesce(placed_at, paid_at, first_seen_at))) with (pages_per_range = 32, autosummarize = on);
-- Its second column compares as bytes, so that only what asks for `order_id collate "C"` can use it. Where the
-- server knows nothing of the table yet, a look-up by source and order would read this index whole.
create unique index orders_in_file on intake.orders (source_file_id, order_id collate "C");
-- A customer's orders, and when those of a source begin to be known.
create index orders_customer on intake.orders (customer_key, coalesce(placed_at, paid_at, first_seen_at))
  where customer_key is not null;
create index orders_customer_since on intake.orders (source, coalesce(placed_at, paid_at, first_seen_at))
  where customer_key is not null;
create index orders_similar on intake.orders (source, similar_to) where similar_to is not null and is_current;
create index orders_other_ids on intake.orders using gin (other_ids) where is_current and other_ids <> '{}';
comment on table intake.orders is 'Versions of orders, append-only: one row each time an export states an order differently. A row counts once its file is sealed.';
comment on column intake.orders.order_version_id is 'Counts up; the newest version of an order is the current one.';
comment on column intake.orders.source is 'Name of the source in pipeline.yaml.';
comment on column intake.orders.order_id is 'Identity at the shop platform. Text, never a number.';
comment on column intake.orders.source_file_id is 'File that stated it. Not a foreign key, which would cost more than the row; staging locks the file''s row instead.';
comment on column intake.orders.is_current is 'The version in force (once its file is sealed). A changed version waits as not current until its file is sealed.';
comment on column intake.orders.content_hash is 'Digest of the meaning: equal hash, equal order.';
comment on column intake.orders.group_key is 'What holds the rows of one order together in the file.';
comment on column intake.orders.order_name is 'What people call the order, for example #1001.';
comment on column intake.orders.status is 'The shop''s own status word, lower-cased.';
comment on column intake.orders.currency is 'ISO 4217.';
comment on column intake.orders.total is 'Order total in currency.';
comment on column intake.orders.subtotal is 'After discounts, before shipping, in currency.';
comment on column intake.orders.refunded is 'Refunded so far, in currency.';
comment on column intake.orders.codes is 'Discount codes as written.';
comment on column intake.orders.codes_folded is 'Each of codes without blanks, case folded: what it is matched by.';
comment on column intake.orders.links is 'Candidate codes or handles from links and UTM lines in the notes.';
comment on column intake.orders.links_folded is 'Each of links without blanks, case folded: what it is matched by.';
comment on column intake.orders.influencer_handle is 'When the export names the influencer itself.';
comment on column intake.orders.deal_id is 'When the export names the deal itself.';
comment on column intake.orders.collab_id is 'When the export names the collaboration itself.';
comment on column intake.orders.brand_id is 'When the export names the brand itself.';
comment on column intake.orders.placed_at is 'When the customer ordered.';
comment on column intake.orders.paid_at is 'When it was paid.';
comment on column intake.orders.cancelled_at is 'When it was cancelled.';
comment on column intake.orders.exclusion is 'Set by a rule of the layout (test, draft, cancelled, …): never posted; a draft is where the job says drafts: credit.';
comment on column intake.orders.line_no is 'Physical line of its first row.';
comment on column intake.orders.record_no is 'Record number of its first row.';
comment on column intake.orders.row_count is 'Rows of the file folded into it.';
comment on column intake.orders.conflicting_line_no is 'Line where the same file states the order again, differently; such an order is rejected at sealing.';
comment on column intake.orders.replaces is 'Version that was in force when this one was staged; null for the first one.';
comment on column intake.orders.first_seen_at is 'When this version was stored.';
comment on column intake.orders.customer_key is 'HMAC of brand and e-mail address, as intake.customers.customer_hash has it; null where the source does not ask for it (customer_key), the order was read before it did, or the export names nobody. No part of content_hash.';
comment on column intake.orders.customer_key_no is 'Key that customer_key was made with, as in intake.customer_key; null: the first one, or no customer_key.';
comment on column intake.orders.lines is 'What was bought: SKU (folded; empty where a line has none) and amount after the discounts of its lines, as [["gift-50", "25.00"]]. Null: unknown, because order_lines of the source was off when the order was read, the export does not say, a line cannot be read, or rows of the order are far apart. No part of content_hash.';
comment on column intake.orders.similar_to is 'The order id without what tools write differently (case, #, blanks, leading zeros, separators of thousands), if that is another text; null: the id is plain. Orders of one source with an equal value may be one order.';
comment on column intake.orders.doubt is 'Why what the export states may not be the whole order: incomplete (a row of it cannot be read), may_be_incomplete (a row that may belong to it cannot be read), may_be_cut (the last row of the file may be cut), may_be_repeated (rows of it may occur twice), may_be_split (another file may have more of its rows), conflicting_states (another file states something else, and nothing says which is newer). Null: nothing is in doubt. An order in doubt is held.';
comment on column intake.orders.items is 'Items whose amounts add up to those of the order, as [["id", "total", "subtotal", "refunded"]]; null: an amount that is not added up. Null: amounts are not added up, or the export does not identify its items. No part of content_hash.';
comment on column intake.orders.changed_at is 'When the order last changed, as the latest row that states this version says (age: column of the source). infinity: a row does not say it, so it may be newer than any other. Null: the source does not go by the column.';
comment on column intake.orders.other_ids is 'Ids of orders at other channels that its tags and notes name, folded: it may be one of them.';
comment on column intake.orders.note is 'What the notes of the shop say, with e-mail addresses and phone numbers masked, cut to 500 characters. Only for jobs that send it (order_notes); null otherwise. As first read: another note makes no other version.';

create table intake.code_lists (
  job text primary key,
  content_hash text not null,
  loaded_at timestamptz not null default now()
);
comment on table intake.code_lists is 'Which codes.csv each job has loaded.';
comment on column intake.code_lists.job is 'Job that reads the file.';
comment on column intake.code_lists.content_hash is 'Digest of the loaded codes: another one, and orders are matched again.';
comment on column intake.code_lists.loaded_at is 'When they last changed.';

create table intake.codes (
  job text not null,
  code_folded text,
  code text,
  line_no integer not null,
  brand_id text,
  influencer_handle text,
  handle_folded text,
  deal_id text,
  collab_id text,
  target text not null,
  valid_from timestamptz,
  valid_to timestamptz,
  link text,
  link_folded text[],
  primary key (job, line_no),
  constraint a_code_or_a_link
    check ((code is null) = (code_folded is null) and (link is null) = (link_folded is null)
      and (code is null) <> (link is null) and cardinality(link_folded) > 0)
);
create index codes_by_code on intake.codes (job, code_folded);
comment on table intake.codes is 'Who owns which discount code, as codes.csv of each job says. Replaced as a whole when the file changes.';
comment on column intake.codes.job is 'Job that reads the file.';
comment on column intake.codes.code_folded is 'Code without blanks, case folded: what orders are matched by. Null where the row is a link.';
comment on column intake.codes.code is 'Code as written; null where the row is a link.';
comment on column intake.codes.line_no is 'Line in codes.csv; negative for an owner that was assigned in the console or comes from an event of the service.';
comment on column intake.codes.brand_id is 'Brand the code belongs to; null: the job''s brand.';
comment on column intake.codes.influencer_handle is 'Influencer who owns it.';
comment on column intake.codes.handle_folded is 'Handle without blanks and @, case folded: what links are matched by.';
comment on column intake.codes.deal_id is 'Deal it belongs to.';
comment on column intake.codes.collab_id is 'Collaboration it belongs to.';
comment on column intake.codes.target is 'What distinguishes two owners: deal, else collaboration, else handle.';
comment on column intake.codes.valid_from is 'First instant at which it counts; null: always.';
comment on column intake.codes.valid_to is 'First instant at which it no longer counts; null: never ends.';
comment on column intake.codes.link is 'Custom link, or the name of its target, as the event wrote it; null where the row is a code.';
comment on column intake.codes.link_folded is 'References in the link, folded as codes are: an order came by the link if its own links hold all of them.';

create table intake.code_assignments (
  assignment_id bigint generated always as identity primary key,
  job text not null,
  code text not null,
  code_folded text not null check (code_folded <> ''),
  brand_id text,
  influencer_handle text,
  deal_id text,
  collab_id text,
  valid_from text,
  valid_to text,
  assigned_at timestamptz not null default clock_timestamp(),
  assigned_by text not null,
  withdrawn_at timestamptz,
  check (coalesce(influencer_handle, deal_id, collab_id) is not null)
);
create unique index code_assignments_one_at_a_time on intake.code_assignments (job, code_folded)
  where withdrawn_at is null;
comment on table intake.code_assignments is 'Owners of codes that a person assigned in the console. A row of codes.csv for the same code goes first. Rows are withdrawn, never deleted.';
comment on column intake.code_assignments.assignment_id is 'Counts up.';
comment on column intake.code_assignments.job is 'Job whose orders it counts for.';
comment on column intake.code_assignments.code is 'Code as written.';
comment on column intake.code_assignments.code_folded is 'Code without blanks, case folded: what orders are matched by.';
comment on column intake.code_assignments.brand_id is 'Brand; null: that of the job.';
comment on column intake.code_assignments.influencer_handle is 'Influencer, as codes.csv would name one.';
comment on column intake.code_assignments.deal_id is 'Deal, in the same way.';
comment on column intake.code_assignments.collab_id is 'Collaboration, in the same way.';
comment on column intake.code_assignments.valid_from is 'As codes.csv would say it: a date or a time; null: always.';
comment on column intake.code_assignments.valid_to is 'In the same way.';
comment on column intake.code_assignments.assigned_at is 'When.';
comment on column intake.code_assignments.assigned_by is 'Who; ops.audit says why.';
comment on column intake.code_assignments.withdrawn_at is 'When it was withdrawn or replaced; null while it counts.';

create table intake.code_changes (
  event_id bigint primary key references ops.webhook_events,
  kind text not null check (kind in ('discount_code', 'custom_link')),
  deal_id text not null,
  collab_id text,
  old_value text,
  new_value text,
  received_at timestamptz not null default now()
);
create index code_changes_deal on intake.code_changes (deal_id, event_id);
comment on table intake.code_changes is 'Discount codes and links that events of the service changed, in the order in which they came.';
comment on column intake.code_changes.event_id is 'Event that says so.';
comment on column intake.code_changes.kind is 'discount_code or custom_link.';
comment on column intake.code_changes.deal_id is 'Deal that owns it.';
comment on column intake.code_changes.collab_id is 'Collaboration that owns it.';
comment on column intake.code_changes.old_value is 'Code or link before; null when there was none.';
comment on column intake.code_changes.new_value is 'Code or link from then on; null when it was taken away.';
comment on column intake.code_changes.received_at is 'Database clock.';

create table intake.attributed_files (
  job text not null,
  source_file_id bigint not null references intake.source_files,
  rules_hash text not null,
  attributed_at timestamptz not null default now(),
  primary key (job, source_file_id)
);
comment on table intake.attributed_files is 'Files whose orders each job has looked at, so that a run looks only at what is new to it.';
comment on column intake.attributed_files.job is 'Job.';
comment on column intake.attributed_files.source_file_id is 'Sealed file.';
comment on column intake.attributed_files.rules_hash is 'Digest of the codes and rules in force then: others, and the file''s orders are looked at again.';
comment on column intake.attributed_files.attributed_at is 'When.';

create table intake.attributions (
  job text not null,
  source text not null,
  order_id text not null,
  order_version_id bigint not null,
  outcome text not null check (outcome in ('attributed', 'unattributed', 'organic', 'excluded', 'held')),
  reason text,
  matched_by text check (matched_by in ('explicit', 'code', 'link')),
  matched_value text,
  target text,
  brand_id text,
  influencer_handle text,
  deal_id text,
  collab_id text,
  amount numeric(18,4),
  currency text not null,
  entry_id bigint,
  is_pending boolean not null,
  rules_hash text not null,
  decided_at timestamptz not null default now(),
  likeness text,
  primary key (job, source, order_id),
  constraint attributed_names_its_target check ((outcome = 'attributed') = (target is not null)),
  constraint not_attributed_says_why check (outcome in ('attributed', 'organic') or reason is not null)
);
create index attributions_entry on intake.attributions (entry_id) where entry_id is not null;
create index attributions_pending on intake.attributions (job) where is_pending;
-- Held orders are few. They are listed, and decided about again after a ruling.
create index attributions_held on intake.attributions (source, reason) where outcome = 'held';
-- Recognises an order in two sources of a brand. Most brands have one source, and then it is null.
create index attributions_likeness on intake.attributions (likeness) where likeness is not null;
comment on table intake.attributions is 'What each job made of each order: whose it is, or why it is nobody''s.';
comment on column intake.attributions.job is 'Job that decided.';
comment on column intake.attributions.source is 'Source of the order.';
comment on column intake.attributions.order_id is 'The order.';
comment on column intake.attributions.order_version_id is 'Version of the order that was looked at. Versions of sealed files are never deleted.';
comment on column intake.attributions.outcome is 'attributed, unattributed (a code, link or handle that nobody owns), organic (none at all), excluded (never posted), held (a person must decide).';
comment on column intake.attributions.reason is 'Why, for all but attributed and organic: for example status_pending, unknown_code, ambiguous_codes.';
comment on column intake.attributions.matched_by is 'What named the influencer: explicit columns, a code, or a link.';
comment on column intake.attributions.matched_value is 'The code or link that matched, or those that did not.';
comment on column intake.attributions.target is 'Deal, else collaboration, else handle.';
comment on column intake.attributions.brand_id is 'Brand the order is credited for.';
comment on column intake.attributions.influencer_handle is 'Influencer.';
comment on column intake.attributions.deal_id is 'Deal.';
comment on column intake.attributions.collab_id is 'Collaboration.';
comment on column intake.attributions.amount is 'Revenue by the job''s rule (total, subtotal, total_less_refunds), in currency.';
comment on column intake.attributions.currency is 'ISO 4217.';
comment on column intake.attributions.entry_id is 'The ledger''s entry for it; stays when the order is no longer attributed.';
comment on column intake.attributions.is_pending is 'The ledger has not yet taken note of this decision.';
comment on column intake.attributions.rules_hash is 'Digest of the codes and rules that led to this decision; later ones that lead to the same leave it as it is.';
comment on column intake.attributions.decided_at is 'When.';
comment on column intake.attributions.likeness is 'Digest of brand, code, amount, currency and minute of an attributed order, to recognise it in another source of the brand. Null if the brand has one source, or the time is not known.';

create table intake.order_claims (
  job text not null,
  source text not null,
  order_id text not null,
  place integer not null check (place >= 0),
  kind text not null check (kind in ('explicit', 'link', 'code')),
  written text not null,
  target text not null,
  influencer_handle text,
  deal_id text,
  collab_id text,
  primary key (job, source, order_id, place, target),
  constraint explicit_stands_first check ((kind = 'explicit') = (place = 0))
);
comment on table intake.order_claims is 'Owners whom the evidence of an order names, for orders that name more than one; replaced when the order is decided about again. Orders that are not credited to anybody are left out, unless because of it.';
comment on column intake.order_claims.job is 'Job that decided.';
comment on column intake.order_claims.source is 'Source of the order.';
comment on column intake.order_claims.order_id is 'The order.';
comment on column intake.order_claims.place is 'Where it stands: 0 what the export names, then links and then codes, in the order of the export. Of one code with two owners both have one place.';
comment on column intake.order_claims.kind is 'explicit (columns of the export), link or code.';
comment on column intake.order_claims.written is 'The name, link or code as the export writes it; e-mail addresses masked.';
comment on column intake.order_claims.target is 'Deal, else collaboration, else handle, as in intake.attributions.';
comment on column intake.order_claims.influencer_handle is 'Influencer, where codes.csv or the export says.';
comment on column intake.order_claims.deal_id is 'Deal.';
comment on column intake.order_claims.collab_id is 'Collaboration.';

create table intake.rulings (
  ruling_id bigint generated always as identity primary key,
  source text not null,
  status text,
  order_id text,
  reason text not null check (reason <> ''),
  content_hash text,
  decision text not null check (decision in ('credit', 'exclude')),
  decided_at timestamptz not null default clock_timestamp(),
  decided_by text not null check (decided_by <> ''),
  withdrawn_at timestamptz,
  constraint concerns_a_status_or_an_order check ((status is null) <> (order_id is null)),
  constraint of_a_status check (status is null or (reason = 'unknown_status' and content_hash is null))
);
create unique index rulings_of_statuses on intake.rulings (source, status)
  where status is not null and withdrawn_at is null;
create unique index rulings_of_orders on intake.rulings (source, order_id, reason)
  where order_id is not null and withdrawn_at is null;
comment on table intake.rulings is 'What a person decided about a status or an order that was held. Rows are withdrawn, never deleted; ops.audit says why.';
comment on column intake.rulings.ruling_id is 'Counts up.';
comment on column intake.rulings.source is 'Source of the order, or of the orders with the status.';
comment on column intake.rulings.status is 'Status that is decided, as in intake.orders; empty for orders without one. Null: one order is decided.';
comment on column intake.rulings.order_id is 'Order that is decided; null: a status is.';
comment on column intake.rulings.reason is 'Why it was held: the decision settles only this. For exclude, it is never credited, whatever holds it.';
comment on column intake.rulings.content_hash is 'Version of the order for which the decision holds; null: every version.';
comment on column intake.rulings.decision is 'credit: what was not known is settled, and the order may be credited. exclude: it is never credited.';
comment on column intake.rulings.decided_at is 'When.';
comment on column intake.rulings.decided_by is 'Who.';
comment on column intake.rulings.withdrawn_at is 'When it was withdrawn or replaced; null while it counts.';

create table intake.revenue_rules (
  job text not null,
  source text not null,
  revenue text not null check (revenue in ('total', 'subtotal', 'total_less_refunds')),
  primary key (job, source)
);
comment on table intake.revenue_rules is 'The rule by which each job last computed the amounts of the orders of a source. It says which refunds an amount already includes.';
comment on column intake.revenue_rules.job is 'Job.';
comment on column intake.revenue_rules.source is 'Source of the orders. Of a source that the job no longer reads, the rule stays as it was.';
comment on column intake.revenue_rules.revenue is 'total, subtotal or total_less_refunds: `revenue` of the job in the configuration.';

-- intake: customers -----------------------------------------------------------------------------------------

-- A customer is written once: into its batch. What became of it is what became of the batch, so the service's
-- answer costs one row a call, not one a customer. The view customer_states tells the state of each.
--
-- Consent is yes, no or unknown for each customer. A no is kept with the time until which it is known to hold,
-- and only a yes with a later date replaces it.

create table intake.customer_key (
  only_row boolean constraint contact_key_only_row_not_null not null primary key default true
    check (only_row),
  fingerprint text constraint contact_key_fingerprint_not_null not null,
  bound_at timestamptz constraint contact_key_bound_at_not_null not null default now(),
  key_no smallint not null default 1 check (key_no > 0),
  previous_fingerprint text,
  rotated_at timestamptz,
  constraint two_keys_differ check (previous_fingerprint <> fingerprint)
);
comment on table intake.customer_key is 'Which key customer_hash was made with. Another key would make every customer a new one, so it is refused.';
comment on column intake.customer_key.only_row is 'Always true: the table has at most one row.';
comment on column intake.customer_key.fingerprint is 'Tells keys apart and says nothing of them: an HMAC of a fixed text. Of the key in force.';
comment on column intake.customer_key.bound_at is 'When the first run bound this database to the key.';
comment on column intake.customer_key.key_no is 'Number of the key in force: 1 for the first one.';
comment on column intake.customer_key.previous_fingerprint is 'Of the key before, while customers are still known under it; null once it is retired.';
comment on column intake.customer_key.rotated_at is 'When the key in force took its place; null: it is the first one.';

create table intake.waiting_batches (
  batch_id bigint generated always as identity constraint contacts_batch_id_not_null not null primary key,
  job text constraint contacts_job_not_null not null,
  brand_id text constraint contacts_brand_id_not_null not null,
  source_file_id bigint constraint contacts_source_file_id_not_null not null references intake.source_files,
  purpose text constraint contacts_purpose_not_null not null check (purpose in ('submit', 'lookup')),
  influencer_list text constraint contacts_influencer_list_not_null not null,
  customer_hashes uuid[] constraint contacts_contact_hashes_not_null not null
    check (cardinality(customer_hashes) > 0),
  split_from bigint,
  created_at timestamptz constraint contacts_created_at_not_null not null default now(),
  customers integer constraint contacts_contacts_not_null not null
    generated always as (cardinality(customer_hashes)) stored,
  key_no smallint not null default 1
) with (autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0);
-- Addresses do not get much shorter, and the time is better spent otherwise.
alter table intake.waiting_batches
  alter column influencer_list set storage external,
  alter column customer_hashes set storage external;
create index waiting_batches_order on intake.waiting_batches (brand_id, purpose, batch_id);
create index waiting_batches_file on intake.waiting_batches (source_file_id);
comment on table intake.waiting_batches is 'The only place of plain addresses: one row for each batch of customers that waits to be sent. Deleted as soon as the service has taken it.';
comment on column intake.waiting_batches.batch_id is 'Counts up.';
comment on column intake.waiting_batches.job is 'Job that read them.';
comment on column intake.waiting_batches.brand_id is 'Brand that it is submitted for.';
comment on column intake.waiting_batches.source_file_id is 'File that stated them. It counts once that file is sealed.';
comment on column intake.waiting_batches.purpose is 'submit (to identify_influencers) or lookup (each to identify_influencers_real_time, within the budget of the run).';
comment on column intake.waiting_batches.influencer_list is 'Addresses as a JSON array, exactly as they are sent.';
comment on column intake.waiting_batches.customer_hashes is 'Each address'' customer_hash, in the same order.';
comment on column intake.waiting_batches.split_from is 'Batch that was refused, of which this is a half.';
comment on column intake.waiting_batches.created_at is 'When it was staged.';
comment on column intake.waiting_batches.customers is 'How many addresses.';
comment on column intake.waiting_batches.key_no is 'Key that customer_hashes were made with, as in intake.customer_key.';

create table intake.customers (
  customer_hash uuid constraint contacts_contact_hash_not_null not null primary key,
  brand_id text constraint contacts_brand_id_not_null not null,
  source text constraint contacts_source_not_null not null,
  staged_file_id bigint,
  batch_id bigint,
  orders_count integer,
  spent numeric(18,4),
  currency text check (length(currency) = 3),
  bought_with_code boolean,
  first_seen_at timestamptz constraint contacts_first_seen_at_not_null not null default now(),
  is_unsubscribed boolean constraint contacts_is_unsubscribed_not_null not null default false,
  earlier_submissions integer constraint contacts_earlier_submissions_not_null not null default 0
    check (earlier_submissions >= 0),
  earlier_submitted_at timestamptz,
  key_no smallint not null default 1,
  said_yes boolean not null default false,
  consented_at timestamptz,
  refused_at timestamptz,
  consent text
    generated always as (case when is_unsubscribed then 'no' when said_yes then 'yes' else 'unknown' end) stored,
  constraint only_the_submitted_say_when check (earlier_submitted_at is null or earlier_submissions > 0)
) with (fillfactor = 95);
create index customers_unsubscribed on intake.customers (batch_id)
  where is_unsubscribed and batch_id is not null;
comment on table intake.customers is 'One row for each customer and brand, without the address, and the last batch that it was put into. intake.customer_states shows the state that follows.';
comment on column intake.customers.customer_hash is 'First half of HMAC-SHA256(brand and address) under customers.hash_key: tells customers apart, and cannot be turned back without the key.';
comment on column intake.customers.brand_id is 'Brand that it is submitted for.';
comment on column intake.customers.source is 'Source that stated it first; of an unsubscribed one, the source that said so.';
comment on column intake.customers.staged_file_id is 'File with which it was put into that batch. Where the batch is in neither table, that file was never sealed, and the next one takes the customer over.';
comment on column intake.customers.batch_id is 'Batch that it was put into last: in intake.waiting_batches while it waits, in intake.identify_batches once the service has answered; null: none, because it has unsubscribed.';
comment on column intake.customers.orders_count is 'Orders of the customer, as the file that was read last says; null where exports don''t.';
comment on column intake.customers.spent is 'What the customer has spent, in currency, as the file that was read last says; null where exports don''t.';
comment on column intake.customers.currency is 'ISO 4217, of spent; null where neither the export nor its source says.';
comment on column intake.customers.bought_with_code is 'Whether an order with a discount code was seen; null where only customer exports were read.';
comment on column intake.customers.first_seen_at is 'When it was first read.';
comment on column intake.customers.is_unsubscribed is 'Consent is no: not sent, or not again, whatever other exports say, until one has a yes with a date after refused_at.';
comment on column intake.customers.earlier_submissions is 'How often the service took it before that batch.';
comment on column intake.customers.earlier_submitted_at is 'When it last did before that batch.';
comment on column intake.customers.key_no is 'Key that customer_hash was made with, as in intake.customer_key.';
comment on column intake.customers.said_yes is 'Whether a file said that the customer agreed. False for customers who were read before this was recorded, until a file names them again.';
comment on column intake.customers.consented_at is 'When the customer agreed, at the earliest; null: nobody said yes, or without a date.';
comment on column intake.customers.refused_at is 'Until when a no is known to hold: its date, at the latest; without a date, when its file was put there. Null: nobody said no, or a process of the previous version recorded it.';
comment on column intake.customers.consent is 'yes: agreed. no: refused, unsubscribed, bounced, suppressed or contradictory, and no later date of a yes is known. unknown: neither; submitted only under a setting that says so.';

create table intake.identify_batches (
  batch_id bigint primary key,
  split_from bigint,
  job text not null,
  brand_id text not null,
  source_type text,
  state text not null check (state in ('accepted', 'split', 'refused')),
  customers integer constraint identify_batches_contacts_not_null not null check (customers > 0),
  http_status integer,
  message text,
  run_id bigint not null references ops.runs,
  staged_at timestamptz not null,
  settled_at timestamptz not null default clock_timestamp(),
  constraint only_one_is_refused check ((state <> 'refused') or (customers = 1))
);
create index identify_batches_run on intake.identify_batches (run_id);
comment on table intake.identify_batches is 'Batches that the service has answered: the call to identify_influencers that took it, or refused it.';
comment on column intake.identify_batches.batch_id is 'As in intake.waiting_batches, while it waited there.';
comment on column intake.identify_batches.split_from is 'Refused batch of which this is a half.';
comment on column intake.identify_batches.job is 'Job that sent it.';
comment on column intake.identify_batches.brand_id is 'Brand it was submitted for.';
comment on column intake.identify_batches.source_type is 'Label it was sent with.';
comment on column intake.identify_batches.state is 'accepted (the service took it), split (refused, so each half was sent by itself), refused (a single address that the service does not take).';
comment on column intake.identify_batches.customers is 'How many addresses.';
comment on column intake.identify_batches.http_status is 'Status of the answer.';
comment on column intake.identify_batches.message is 'What the service said to a refusal, addresses and secrets masked.';
comment on column intake.identify_batches.run_id is 'Run that sent it.';
comment on column intake.identify_batches.staged_at is 'When its addresses were stored.';
comment on column intake.identify_batches.settled_at is 'When the answer was recorded, and the addresses deleted. Database clock.';

create table intake.lookups (
  customer_hash uuid constraint lookups_contact_hash_not_null not null primary key,
  brand_id text not null,
  outcome text not null check (outcome in ('influencer', 'no_match', 'refused')),
  platform text,
  user_id text,
  username text,
  followers bigint,
  is_verified boolean,
  profile_url text,
  picture_url text,
  http_status integer,
  message text,
  run_id bigint not null references ops.runs,
  looked_up_at timestamptz not null default clock_timestamp(),
  constraint a_name_only_of_influencers
    check (outcome = 'influencer' or coalesce(platform, user_id, username, profile_url) is null),
  constraint a_refused_lookup_says_why check (outcome <> 'refused' or message is not null)
);
create index lookups_influencers on intake.lookups (brand_id, looked_up_at) where outcome = 'influencer';
create index lookups_run on intake.lookups (run_id);
create index lookups_followers on intake.lookups
  ((-coalesce(followers, -1)), (coalesce(platform, '')), (coalesce(user_id, username, '')), brand_id)
  where outcome = 'influencer';
comment on table intake.lookups is 'What identify_influencers_real_time said about a customer, the last time it was asked: the public profile, no name and no address.';
comment on column intake.lookups.customer_hash is 'Customer, as in intake.customers.';
comment on column intake.lookups.brand_id is 'Brand.';
comment on column intake.lookups.outcome is 'influencer, no_match (in whichever form the service says so), refused (the service does not take the address).';
comment on column intake.lookups.platform is 'instagram, tiktok, youtube or another word of the service.';
comment on column intake.lookups.user_id is 'Id of the influencer on the platform.';
comment on column intake.lookups.username is 'Handle on the platform.';
comment on column intake.lookups.followers is 'Followers at that time.';
comment on column intake.lookups.is_verified is 'Whether the platform has verified the account.';
comment on column intake.lookups.profile_url is 'Address of the profile.';
comment on column intake.lookups.picture_url is 'Address of the profile''s picture.';
comment on column intake.lookups.http_status is 'Status of the answer.';
comment on column intake.lookups.message is 'What the service said to a refusal, addresses and secrets masked.';
comment on column intake.lookups.run_id is 'Run that asked.';
comment on column intake.lookups.looked_up_at is 'When. Database clock.';

create table intake.forgotten_customers (
  tombstone uuid primary key,
  key_fingerprint text not null,
  forgotten_at timestamptz not null default clock_timestamp(),
  searched_at timestamptz
);
comment on table intake.forgotten_customers is 'Customers who were forgotten on request. No export submits them again, for any brand, and nothing else is known of them.';
comment on column intake.forgotten_customers.tombstone is 'First half of HMAC-SHA256(address) under customers.hash_key, the same for all brands: tells whether an export names the customer, and cannot be turned back without the key.';
comment on column intake.forgotten_customers.key_fingerprint is 'Key that the tombstone was made with, as in intake.customer_key.';
comment on column intake.forgotten_customers.forgotten_at is 'When the customer was first forgotten.';
comment on column intake.forgotten_customers.searched_at is 'When all tables were last searched for the address to the end; null: a search was cut short, and forget must be repeated.';

create view intake.customer_states as
select c.customer_hash, c.brand_id,
  case
    when c.is_unsubscribed then 'unsubscribed'
    when b.state = 'accepted' then 'submitted'
    when b.state = 'refused' then 'refused'
    when c.earlier_submissions > 0 then 'submitted'
    else 'staged'
  end as state,
  case when b.state = 'refused' then b.message end as state_reason,
  w.batch_id is not null and not c.is_unsubscribed as is_waiting,
  c.source, c.batch_id, c.earlier_submissions + coalesce((b.state = 'accepted')::integer, 0) as submissions,
  case when b.state = 'accepted' then b.settled_at else c.earlier_submitted_at end as submitted_at,
  b.run_id, b.source_type, c.orders_count, c.spent, c.currency, c.bought_with_code, c.first_seen_at,
  c.consent, c.consented_at, c.refused_at
from intake.customers c
  left join intake.identify_batches b on b.batch_id = c.batch_id and b.state <> 'split'
  left join (
    intake.waiting_batches w
    join intake.source_files f on f.source_file_id = w.source_file_id and f.state = 'sealed'
  ) on w.batch_id = c.batch_id and w.purpose = 'submit'
where c.is_unsubscribed or c.earlier_submissions > 0 or b.batch_id is not null or w.batch_id is not null;
comment on view intake.customer_states is 'The state of each customer of a brand, without those of files that do not count yet.';
comment on column intake.customer_states.customer_hash is 'As in intake.customers.';
comment on column intake.customer_states.brand_id is 'Brand that it is submitted for.';
comment on column intake.customer_states.state is 'staged (waits to be submitted), submitted (the service took it), refused (by the service), unsubscribed (consent is no: not sent, or not again).';
comment on column intake.customer_states.state_reason is 'Why it was refused, in the service''s words, addresses masked.';
comment on column intake.customer_states.is_waiting is 'Waits to be submitted, for the first time or again.';
comment on column intake.customer_states.source is 'Source that stated it first; of an unsubscribed one, the source that said so.';
comment on column intake.customer_states.batch_id is 'Batch that it was put into last.';
comment on column intake.customer_states.submissions is 'How often the service took it.';
comment on column intake.customer_states.submitted_at is 'When the service last took it.';
comment on column intake.customer_states.run_id is 'Run that sent its last batch; null while it waits.';
comment on column intake.customer_states.source_type is 'Label it was last sent with.';
comment on column intake.customer_states.orders_count is 'Orders of the customer, as the file that was read last says; null where exports don''t.';
comment on column intake.customer_states.spent is 'What the customer has spent, in currency, as the file that was read last says; null where exports don''t.';
comment on column intake.customer_states.currency is 'ISO 4217, of spent; null where neither the export nor its source says.';
comment on column intake.customer_states.bought_with_code is 'Whether an order with a discount code was seen; null where only customer exports were read.';
comment on column intake.customer_states.first_seen_at is 'When it was first read.';
comment on column intake.customer_states.consent is 'As in intake.customers.';
comment on column intake.customer_states.consented_at is 'As in intake.customers.';
comment on column intake.customer_states.refused_at is 'As in intake.customers.';

-- Customers of a batch are in the same state: counting them batch by batch, and only then asking what became
-- of each batch, takes a sixth of the time of asking it of each customer.
create view intake.customer_counts as
  select c.brand_id, c.batch_id,
    case
      when c.is_unsubscribed then 'unsubscribed'
      when b.state = 'accepted' then 'submitted'
      when b.state = 'refused' then 'refused'
      when c.was_submitted then 'submitted'
      else 'staged'
    end as state,
    w.batch_id is not null and not c.is_unsubscribed as is_waiting,
    b.run_id, c.customers, c.first_seen_at
  from (
    select brand_id, batch_id, is_unsubscribed, earlier_submissions > 0 as was_submitted,
      count(*) as customers, min(first_seen_at) as first_seen_at
    from intake.customers group by 1, 2, 3, 4
  ) c
  left join intake.identify_batches b on b.batch_id = c.batch_id and b.state <> 'split'
  left join (
    intake.waiting_batches w
    join intake.source_files f on f.source_file_id = w.source_file_id and f.state = 'sealed'
  ) on w.batch_id = c.batch_id and w.purpose = 'submit'
  where c.is_unsubscribed or c.was_submitted or b.batch_id is not null or w.batch_id is not null;
comment on view intake.customer_counts is 'How many customers of each batch are in each state, without those of files that do not count yet, as in intake.customer_states.';
comment on column intake.customer_counts.brand_id is 'Brand that they are submitted for.';
comment on column intake.customer_counts.batch_id is 'Batch that they were put into last; null: none, because they have unsubscribed.';
comment on column intake.customer_counts.state is 'As in intake.customer_states.';
comment on column intake.customer_counts.is_waiting is 'They wait to be submitted, for the first time or again.';
comment on column intake.customer_counts.run_id is 'Run that sent their batch; null while they wait.';
comment on column intake.customer_counts.customers is 'How many they are.';
comment on column intake.customer_counts.first_seen_at is 'When the first of them was first read.';

-- intake: clicks, creators, outreach ------------------------------------------------------------------------

create table intake.clicks (
  click_id bigint generated always as identity primary key,
  source text not null,
  subject text not null,
  day date not null,
  country text not null,
  clicks bigint not null check (clicks >= 0),
  written text not null,
  references_folded text[] not null,
  influencer_handle text,
  deal_id text,
  collab_id text,
  source_file_id bigint not null,
  line_no bigint not null,
  first_seen_at timestamptz not null default now(),
  stated_at timestamptz not null default now(),
  job text,
  outcome text check (outcome in ('attributed', 'unattributed', 'held', 'excluded')),
  reason text,
  matched_by text,
  target text,
  owner_handle text,
  owner_deal_id text,
  owner_collab_id text,
  decided_at timestamptz,
  also_stated_by bigint[] not null default '{}',
  contradicted_by bigint[] not null default '{}',
  unique (source, subject, day, country),
  constraint attributed_clicks_have_an_owner check (outcome <> 'attributed' or target is not null),
  constraint what_is_not_attributed_says_why
    check (outcome is null or (outcome = 'attributed') = (reason is null)
      or (outcome = 'attributed' and reason = 'source_removed'))
);
create index clicks_target on intake.clicks (target, day);
comment on table intake.clicks is 'One row for each link, code or influencer, day and country of a source: the clicks that the file read last states for it, and whose they are.';
comment on column intake.clicks.click_id is 'Counts up.';
comment on column intake.clicks.source is 'Name of the source in pipeline.yaml.';
comment on column intake.clicks.subject is 'What was clicked, in a form that all spellings share.';
comment on column intake.clicks.day is 'Day of the clicks, as the export counts days.';
comment on column intake.clicks.country is 'ISO 3166-1 alpha-2; empty where the export does not say.';
comment on column intake.clicks.clicks is 'Clicks of that day, as the newest file states; rows of one file are added up.';
comment on column intake.clicks.written is 'What was clicked, for people: the address without its other parameters, the code or the handle.';
comment on column intake.clicks.references_folded is 'Texts in it that may name an influencer, folded as codes are.';
comment on column intake.clicks.influencer_handle is 'Influencer whom the export itself names.';
comment on column intake.clicks.deal_id is 'Deal that the export itself names.';
comment on column intake.clicks.collab_id is 'Collaboration that the export itself names.';
comment on column intake.clicks.source_file_id is 'File that states it.';
comment on column intake.clicks.line_no is 'Physical line of its first row in that file.';
comment on column intake.clicks.first_seen_at is 'When a file first stated it.';
comment on column intake.clicks.stated_at is 'When a file last stated another number.';
comment on column intake.clicks.job is 'Job that decided whose it is; null before the first decision.';
comment on column intake.clicks.outcome is 'attributed; unattributed (nobody owns it); held (several own it, or conflicting_states: a file that is held states another number, and nothing says which is newer); excluded.';
comment on column intake.clicks.reason is 'Why it is not attributed; source_removed on attributed clicks: the job no longer reads their source, so nothing more of them is proposed.';
comment on column intake.clicks.matched_by is 'explicit (the export names the influencer), code, handle or link.';
comment on column intake.clicks.target is 'Whose it is: deal:…, collab:… or handle:….';
comment on column intake.clicks.owner_handle is 'Influencer that the request names.';
comment on column intake.clicks.owner_deal_id is 'Deal that the request names.';
comment on column intake.clicks.owner_collab_id is 'Collaboration that the request names.';
comment on column intake.clicks.decided_at is 'When it was decided.';
comment on column intake.clicks.also_stated_by is 'Other files that state the same, and of which nothing says whether they are older.';
comment on column intake.clicks.contradicted_by is 'Files that state something else, and of which nothing says whether they are newer. While one of them is held, so are the clicks.';

create table intake.creators (
  creator_id bigint generated always as identity primary key,
  source text not null,
  handle_folded text not null check (handle_folded <> ''),
  platform text not null,
  brand_id text not null,
  dealflow_id text not null,
  influencer_handle text not null,
  stated_deal_id text,
  stage integer,
  is_active boolean,
  note text,
  code text,
  code_percent numeric check (code_percent between 0 and 100),
  commission_percent numeric check (commission_percent between 0 and 100),
  custom_link text,
  custom_link_target text,
  source_file_id bigint not null,
  line_no bigint not null,
  first_seen_at timestamptz not null default now(),
  stated_at timestamptz not null default now(),
  job text,
  outcome text check (outcome in ('create', 'known', 'held', 'superseded')),
  reason text,
  deal_id text,
  deal_key text,
  note_key text,
  differing_terms text[] not null default '{}',
  decided_at timestamptz,
  looked_up_at timestamptz,
  found_deal_id text,
  stage_taken integer,
  is_active_taken boolean,
  update_problem text,
  also_stated_by bigint[] not null default '{}',
  contradicted_by bigint[] not null default '{}',
  unique (source, handle_folded, platform, brand_id, dealflow_id),
  constraint creators_that_create_nothing_say_why
    check (outcome is null or (outcome in ('held', 'superseded')) = (reason is not null)),
  constraint known_creators_have_a_deal check (outcome <> 'known' or deal_id is not null)
);
create index creators_deal on intake.creators (deal_id);
create index creators_handle on intake.creators (handle_folded);
comment on table intake.creators is 'One row for each creator, platform, brand and dealflow of a source, as the list read last states it, and what became of it. Names, e-mail addresses, phone numbers and postal addresses are never read.';
comment on column intake.creators.creator_id is 'Counts up.';
comment on column intake.creators.source is 'Name of the source in pipeline.yaml.';
comment on column intake.creators.handle_folded is 'Handle in a form that all spellings share.';
comment on column intake.creators.platform is 'instagram, tiktok, youtube, or another word of the list.';
comment on column intake.creators.brand_id is 'Brand that the row names; empty: that of the job.';
comment on column intake.creators.dealflow_id is 'Dealflow that the row names; empty: that of the job.';
comment on column intake.creators.influencer_handle is 'Handle as written, without @.';
comment on column intake.creators.stated_deal_id is 'Deal that the row itself names.';
comment on column intake.creators.stage is 'Stage that the deal should be in.';
comment on column intake.creators.is_active is 'Whether the deal should be active.';
comment on column intake.creators.note is 'Note for the deal page. E-mail addresses in it are masked.';
comment on column intake.creators.code is 'Discount code.';
comment on column intake.creators.code_percent is 'Discount in percent.';
comment on column intake.creators.commission_percent is 'Commission in percent.';
comment on column intake.creators.custom_link is 'Affiliate link.';
comment on column intake.creators.custom_link_target is 'Where the link leads.';
comment on column intake.creators.source_file_id is 'File that states it.';
comment on column intake.creators.line_no is 'Physical line of its last row in that file.';
comment on column intake.creators.first_seen_at is 'When a file first stated it.';
comment on column intake.creators.stated_at is 'When a file last stated it. Of two rows about one creator, the one stated last counts.';
comment on column intake.creators.job is 'Job that decided; null before the first decision.';
comment on column intake.creators.outcome is 'create (no deal was known, so one is created); known (has a deal); held; superseded (a newer row states the same creator).';
comment on column intake.creators.reason is 'Why it is held or superseded.';
comment on column intake.creators.deal_id is 'The creator''s deal, once it is known.';
comment on column intake.creators.deal_key is 'Idempotency key of create_deal: handle, platform, brand, dealflow.';
comment on column intake.creators.note_key is 'Idempotency key of the note: deal and digest of the text.';
comment on column intake.creators.differing_terms is 'Terms that the service has otherwise, and that no operation changes: code, code_percent, commission_percent, custom_link, custom_link_target.';
comment on column intake.creators.decided_at is 'When it was decided.';
comment on column intake.creators.looked_up_at is 'When the service was asked for a deal of this handle; null: not yet.';
comment on column intake.creators.found_deal_id is 'Deal that it then answered with, whatever its platform and brand.';
comment on column intake.creators.stage_taken is 'Stage that the service took last for this deal.';
comment on column intake.creators.is_active_taken is 'Active status that the service took last for this deal.';
comment on column intake.creators.update_problem is 'Why the service refused the stage or the status last; null: it did not.';
comment on column intake.creators.also_stated_by is 'Other files that state the same, and of which nothing says whether they are older.';
comment on column intake.creators.contradicted_by is 'Files that state something else, and of which nothing says whether they are newer. While one of them is held, so is the creator.';

create table intake.outreach_candidates (
  job text not null,
  influencer text not null,
  outreach_id text not null,
  platform text,
  user_id text,
  username text,
  followers bigint,
  outcome text not null check (outcome in ('in_batch', 'waiting', 'excluded')),
  reason text,
  entry_id bigint,
  run_id bigint not null,
  decided_at timestamptz not null default now(),
  primary key (job, influencer),
  constraint who_is_in_a_batch_has_an_entry check ((outcome = 'in_batch') = (entry_id is not null)),
  constraint who_is_in_no_batch_says_why check ((outcome = 'in_batch') = (reason is null))
);
create index outreach_candidates_user on intake.outreach_candidates (user_id);
comment on table intake.outreach_candidates is 'One row a job of the kind submit-outreach and influencer among the customers of its brand: what the last run decided. Whoever was forgotten is dropped by the next run.';
comment on column intake.outreach_candidates.job is 'Job that decided.';
comment on column intake.outreach_candidates.influencer is 'Platform and its user id, or what else is known where there is none.';
comment on column intake.outreach_candidates.outreach_id is 'Outreach campaign of the job.';
comment on column intake.outreach_candidates.platform is 'instagram, tiktok, youtube or another word of the service, in lower case.';
comment on column intake.outreach_candidates.user_id is 'Id of the influencer on the platform.';
comment on column intake.outreach_candidates.username is 'Public handle on the platform.';
comment on column intake.outreach_candidates.followers is 'Followers when last looked up.';
comment on column intake.outreach_candidates.outcome is 'in_batch (in an entry of the ledger), waiting (chosen, and beyond what the run may submit), excluded.';
comment on column intake.outreach_candidates.reason is 'Why in no batch: credits, limit, approval; or unsubscribed, forgotten, no_user_id, other_platform, too_few_followers, …';
comment on column intake.outreach_candidates.entry_id is 'Entry of the ledger whose batch holds the influencer.';
comment on column intake.outreach_candidates.run_id is 'Run that decided so.';
comment on column intake.outreach_candidates.decided_at is 'When that was decided.';

-- ledger: effects, and what became of them ------------------------------------------------------------------

create table ledger.entries (
  entry_id bigint generated always as identity primary key,
  effect text not null check (effect in ('referral', 'click', 'create_deal', 'note', 'task', 'outreach')),
  account_id text not null,
  key text not null,
  state text not null
    check (state in ('held', 'ready', 'sending', 'accepted', 'rejected', 'in_doubt', 'written_off')),
  is_settled boolean not null generated always as (state in ('accepted', 'rejected', 'written_off')) stored,
  attempt integer not null default 0 check (attempt >= 0),
  not_sent integer not null default 0 check (not_sent >= 0),
  resends_approved integer not null default 0 check (resends_approved >= 0),
  doubtful_attempt integer,
  owner uuid,
  not_before timestamptz,
  body text not null,
  body_hash text not null,
  job text not null,
  source text,
  order_platform text,
  order_id text,
  brand_id text,
  amount numeric(18,4),
  currency text,
  state_reason text,
  deal_id text,
  collab_id text,
  run_id bigint not null references ops.runs,
  created_at timestamptz not null default now(),
  state_changed_at timestamptz not null default now(),
  backfill_id bigint references ops.backfills,
  details jsonb,
  doubted_at timestamptz,
  order_key text,
  unique (account_id, effect, key),
  check (doubtful_attempt between 1 and attempt),
  constraint sending_has_an_owner check ((state = 'sending') = (owner is not null)),
  constraint sending_was_claimed check (state <> 'sending' or attempt > 0),
  constraint in_doubt_was_sent
    check (state <> 'in_doubt' or (doubtful_attempt is not null and state_reason is not null)),
  constraint accepted_says_by_whom
    check (state <> 'accepted' or deal_id is not null or collab_id is not null or state_reason is not null),
  constraint rejected_hides_no_doubt
    check (state <> 'rejected' or (doubtful_attempt is null and state_reason is not null)),
  constraint held_says_why check (state <> 'held' or state_reason is not null),
  constraint sends_are_approved check (attempt <= 1 + not_sent + resends_approved)
) with (fillfactor = 70);
create index entries_backfill on ledger.entries (backfill_id) where backfill_id is not null;
-- Batches are few among millions of orders.
create index entries_outreach on ledger.entries (entry_id) where effect = 'outreach';
-- Entries that the service refused are settled, so no index had them: /metrics counts them with every scrape.
create index entries_rejected on ledger.entries (job) where state = 'rejected';
-- Entries that were given up are settled, so no index had them: the progress of a backfill reads the entries
-- of its plan that are not accepted.
create index entries_written_off on ledger.entries (job) where state = 'written_off';
-- Milliseconds, because pages write the key of their last row as a JavaScript Date.
create index entries_in_doubt on ledger.entries ((coalesce(doubted_at, state_changed_at)::timestamptz(3)), entry_id)
  where state = 'in_doubt';
-- Lists and sums of open entries read this index alone, page by page, however many wait: a backfill may leave a
-- million of them for days.
create index entries_open on ledger.entries (job, backfill_id, state, entry_id)
  include (currency, amount, state_changed_at, owner) where not is_settled;
-- Entries keep the key under which they were made, because journals outside of the database name it by its
-- digest.
create index entries_respelled on ledger.entries (account_id, effect, order_key) where order_key is not null;
-- By the folded id, so that what another system told under another spelling is found.
create index entries_order on ledger.entries (ledger.fold_order_id(order_id));
comment on table ledger.entries is 'One row for each effect that must not be repeated, with its frozen request. The state is a cache of attempts, answers, evidence and decisions.';
comment on column ledger.entries.entry_id is 'Counts up.';
comment on column ledger.entries.effect is 'Which operation: referral, click, create_deal, note, task, outreach.';
comment on column ledger.entries.account_id is 'Account of the service it belongs to.';
comment on column ledger.entries.key is 'Idempotency key. Of a referral: order platform and order id.';
comment on column ledger.entries.state is 'held, ready, sending, accepted, rejected, in_doubt, written_off.';
comment on column ledger.entries.is_settled is 'accepted, rejected or written_off: nothing is to be done.';
comment on column ledger.entries.attempt is 'Claims so far; results are fenced by it.';
comment on column ledger.entries.not_sent is 'Attempts that are proven not processed: not written, or throttled.';
comment on column ledger.entries.resends_approved is 'Re-sends that a person or a declared capability approved.';
comment on column ledger.entries.doubtful_attempt is 'First attempt that may have been processed without an answer that settles it; null when none is.';
comment on column ledger.entries.owner is 'Process that has claimed it.';
comment on column ledger.entries.not_before is 'Backoff: not claimed before this instant.';
comment on column ledger.entries.body is 'Frozen request body, exact JSON text. An attempt of a referral adds its reference as order_notes.';
comment on column ledger.entries.body_hash is 'SHA-256 of body: tells whether what is desired now differs from it.';
comment on column ledger.entries.job is 'Job that made it.';
comment on column ledger.entries.source is 'Source of the order.';
comment on column ledger.entries.order_platform is 'Shop platform as sent.';
comment on column ledger.entries.order_id is 'Order as sent.';
comment on column ledger.entries.brand_id is 'Brand.';
comment on column ledger.entries.amount is 'Revenue as sent, in currency.';
comment on column ledger.entries.currency is 'ISO 4217.';
comment on column ledger.entries.state_reason is 'Why it is in its state, where that needs a word.';
comment on column ledger.entries.deal_id is 'Deal that the service credited.';
comment on column ledger.entries.collab_id is 'Collaboration that the service credited.';
comment on column ledger.entries.run_id is 'Run that made it.';
comment on column ledger.entries.created_at is 'When it was made.';
comment on column ledger.entries.state_changed_at is 'When it came into its state.';
comment on column ledger.entries.backfill_id is 'Backfill that alone may post it; null: the runs of its job.';
comment on column ledger.entries.details is 'What is no part of the body, or special to the effect: of a referral the note of the shop that is sent with it, and whether without the reference; of a click target, period, from and clicks; of a deal handle, platform and dealflow; of an outreach the ids of its influencers.';
comment on column ledger.entries.doubted_at is 'When doubtful_attempt was claimed. Null for doubts of a process of the previous version: then state_changed_at is the nearest.';
comment on column ledger.entries.order_key is 'Of referrals that were made under another spelling of their key by an earlier version: ledger.order_key of the order, by which the entry is found. Null if key is that already.';

-- Journals outside of the database know these numbers, too.
create sequence ledger.claim_numbers;
comment on sequence ledger.claim_numbers is 'Numbers of claims: of the ledger, not of an entry.';

-- No foreign keys on attempts, answers and changes: each is written in the same statement as the entry it is
-- about, the checks would cost as much as the rows, and entries are never deleted.

create table ledger.attempts (
  entry_id bigint not null,
  attempt integer not null,
  claim_id uuid not null,
  owner uuid not null,
  run_id bigint not null,
  body_hash text not null,
  claimed_at timestamptz not null default clock_timestamp(),
  claim_no bigint not null default nextval('ledger.claim_numbers'),
  primary key (entry_id, attempt)
);
-- Claims are only added, so their runs and times grow along the table: those of a run, and of the last minute,
-- are found without reading the others.
create index attempts_recent on ledger.attempts using brin (run_id, claimed_at)
  with (pages_per_range = 32, autosummarize = on);
comment on table ledger.attempts is 'Append-only: one row a claim, committed before a byte of the request is written.';
comment on column ledger.attempts.entry_id is 'Entry.';
comment on column ledger.attempts.attempt is '1 for the first.';
comment on column ledger.attempts.claim_id is 'Names the commit that made it, so that a commit of unknown outcome can be read back.';
comment on column ledger.attempts.owner is 'Process that claimed it.';
comment on column ledger.attempts.run_id is 'Run that claimed it.';
comment on column ledger.attempts.body_hash is 'SHA-256 of the bytes that went out. Of attempts before version 0.2: of the body without its reference.';
comment on column ledger.attempts.claimed_at is 'Database clock.';
comment on column ledger.attempts.claim_no is 'Number of the claim in this ledger. Counts up, with gaps.';

create table ledger.answers (
  answer_id bigint generated always as identity primary key,
  entry_id bigint not null,
  attempt integer not null,
  kind text not null
    check (kind in ('accepted', 'rejected', 'not_written', 'throttled', 'in_doubt', 'lease_over')),
  http_status integer,
  message text,
  deal_id text,
  collab_id text,
  retry_after_ms bigint,
  via text not null check (via in ('direct', 'spool', 'reaper', 'journal', 'lost_claim')),
  applied boolean not null,
  answered_at timestamptz not null default clock_timestamp()
);
create index answers_entry on ledger.answers (entry_id, attempt);
-- Every double credit has such an answer, and they are few.
create index answers_accepted_late on ledger.answers (entry_id) where kind = 'accepted' and not applied;
comment on table ledger.answers is 'Append-only: what came of each attempt. A late answer is kept too.';
comment on column ledger.answers.answer_id is 'Counts up.';
comment on column ledger.answers.entry_id is 'Entry.';
comment on column ledger.answers.attempt is 'Attempt it answers.';
comment on column ledger.answers.kind is 'accepted, rejected, not_written, throttled, in_doubt, lease_over.';
comment on column ledger.answers.http_status is 'Status of the answer, if there was one.';
comment on column ledger.answers.message is 'What the service said or what went wrong, cut, addresses and secrets masked.';
comment on column ledger.answers.deal_id is 'Deal that the service named.';
comment on column ledger.answers.collab_id is 'Collaboration that the service named.';
comment on column ledger.answers.retry_after_ms is 'What a 429 asked for, in milliseconds.';
comment on column ledger.answers.via is 'direct, spool (replayed after the database was away), reaper (its owner was gone), journal (read from the journal of a process that was gone) or lost_claim (from a claim that the database had lost; until 0.2 it is written journal).';
comment on column ledger.answers.applied is 'False when fencing kept it from changing the entry.';
comment on column ledger.answers.answered_at is 'Database clock.';

create table ledger.decisions (
  decision_id bigint generated always as identity primary key,
  entry_id bigint not null references ledger.entries,
  decision text not null check (decision in ('accept', 'write_off', 'resend', 'acknowledge')),
  attempt integer not null,
  decided_by text not null,
  reason text not null check (length(trim(reason)) > 0),
  decided_at timestamptz not null default now()
);
create index decisions_entry on ledger.decisions (entry_id);
comment on table ledger.decisions is 'Append-only: what a person, or a declared capability, decided about a doubt. Written before the entry changes.';
comment on column ledger.decisions.decision_id is 'Counts up.';
comment on column ledger.decisions.entry_id is 'Entry.';
comment on column ledger.decisions.decision is 'accept (it was processed), write_off (let it go), resend (send once more), acknowledge (a known double credit was dealt with outside).';
comment on column ledger.decisions.attempt is 'Attempt that was in doubt.';
comment on column ledger.decisions.decided_by is 'Login name of the person, or the capability, for example duplicate_orders: ignored.';
comment on column ledger.decisions.reason is 'Why.';
comment on column ledger.decisions.decided_at is 'When.';

create table ledger.changes (
  change_id bigint generated always as identity primary key,
  entry_id bigint not null,
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
comment on table ledger.changes is 'Append-only: what happened to an entry while no request was in flight. It was held, released again, or its request was replaced.';
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

create table ledger.adjustments (
  adjustment_id bigint generated always as identity primary key,
  entry_id bigint not null references ledger.entries,
  order_version_id bigint,
  kind text not null check (kind in ('changed', 'refunded', 'cancelled', 'excluded', 'reattributed', 'held')),
  old_amount numeric(18,4),
  new_amount numeric(18,4),
  currency text,
  old_body_hash text not null,
  new_body_hash text,
  detail text,
  run_id bigint not null references ops.runs,
  noted_at timestamptz not null default now(),
  is_elsewhere boolean not null default false
);
create index adjustments_entry on ledger.adjustments (entry_id);
create index adjustments_run on ledger.adjustments (run_id);
create index adjustments_held on ledger.adjustments (entry_id) where kind = 'held';
comment on table ledger.adjustments is 'An order that changed after it was sent. Nothing is sent for it: the service has no operation to correct an order.';
comment on column ledger.adjustments.adjustment_id is 'Counts up.';
comment on column ledger.adjustments.entry_id is 'Entry that was sent.';
comment on column ledger.adjustments.order_version_id is 'Version of the order that differs.';
comment on column ledger.adjustments.kind is 'changed (another amount), refunded, cancelled, excluded (no longer to be credited), reattributed (another influencer), held (the order is held, or states another currency, so what it comes to now is unknown).';
comment on column ledger.adjustments.old_amount is 'As sent, in currency.';
comment on column ledger.adjustments.new_amount is 'As it would be sent now, in currency; of a held order, as its export states it. Null when it would not be sent, or if it states another currency.';
comment on column ledger.adjustments.currency is 'ISO 4217.';
comment on column ledger.adjustments.old_body_hash is 'Digest of what was sent.';
comment on column ledger.adjustments.new_body_hash is 'Digest of what would be sent now.';
comment on column ledger.adjustments.detail is 'What changed, in words.';
comment on column ledger.adjustments.run_id is 'Run that noticed.';
comment on column ledger.adjustments.noted_at is 'When.';
comment on column ledger.adjustments.is_elsewhere is 'Whether a source states it that is not responsible for the order. Then what the order earns does not change. Rows of earlier versions say so only in their detail.';

-- ledger: what is known from elsewhere ----------------------------------------------------------------------

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

create table ledger.evidence (
  evidence_id bigint generated always as identity primary key,
  kind text not null check (kind in ('webhook_order', 'seeded')),
  order_platform text,
  order_id text,
  entry_id bigint references ledger.entries,
  deal_id text,
  collab_id text,
  amount numeric(18,4),
  currency text,
  body_sha256 text not null,
  received_at timestamptz not null default now(),
  seed_id bigint references ledger.seeds,
  reason text,
  unique (kind, body_sha256),
  constraint seeded_names_its_seed check ((kind = 'seeded') = (seed_id is not null))
);
create index evidence_entry on ledger.evidence (entry_id);
create index evidence_seed on ledger.evidence (seed_id) where seed_id is not null;
-- Events of the orders of one deal.
create index evidence_deal on ledger.evidence (deal_id) where kind = 'webhook_order';
create index evidence_order on ledger.evidence (ledger.fold_order_id(order_id));
comment on table ledger.evidence is 'Append-only: what others say about an order, for example a signed event that carries its id.';
comment on column ledger.evidence.evidence_id is 'Counts up.';
comment on column ledger.evidence.kind is 'webhook_order (a signed event of the service) or seeded (credited elsewhere before).';
comment on column ledger.evidence.order_platform is 'Shop platform, if it says.';
comment on column ledger.evidence.order_id is 'Order it is about.';
comment on column ledger.evidence.entry_id is 'Entry of the same order when the evidence came; null when there was none yet.';
comment on column ledger.evidence.deal_id is 'Deal it names.';
comment on column ledger.evidence.collab_id is 'Collaboration it names.';
comment on column ledger.evidence.amount is 'Revenue it names, in currency.';
comment on column ledger.evidence.currency is 'ISO 4217.';
comment on column ledger.evidence.body_sha256 is 'Digest of its raw body: the same event counts once.';
comment on column ledger.evidence.received_at is 'When.';
comment on column ledger.evidence.seed_id is 'With kind seeded: the file that says so.';
comment on column ledger.evidence.reason is 'With kind seeded: what the file gives as the reason of this order.';

create table ledger.evidence_lock (
  only_row boolean primary key default true check (only_row)
);
comment on table ledger.evidence_lock is 'Always empty: the table itself is locked. Transactions that write evidence lock it in ROW EXCLUSIVE mode, a run that waits for them in SHARE mode.';
comment on column ledger.evidence_lock.only_row is 'Not used.';

-- Looked up by its order, and not by its kind, which nearly all evidence may have in common.
create view ledger.seeded_orders as
  select v.order_platform, v.order_id, v.seed_id
  from ledger.evidence v
  where v.kind is not distinct from 'seeded'
    and not exists (select from ledger.seed_undos u where u.seed_id = v.seed_id);
comment on view ledger.seeded_orders is 'Orders that were credited elsewhere before, as files say that nobody has taken back.';
comment on column ledger.seeded_orders.order_platform is 'Shop platform.';
comment on column ledger.seeded_orders.order_id is 'Order.';
comment on column ledger.seeded_orders.seed_id is 'File that says so.';

-- ledger: one ledger, continuous in time --------------------------------------------------------------------

-- A ledger that knows itself: its identity, a number for every claim, and what a database that was restored
-- or swapped no longer knows about claims that were made (docs/ledger.md).

create table ledger.identity (
  only_row boolean primary key default true check (only_row),
  ledger_id uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now(),
  place text
);
comment on table ledger.identity is 'Which ledger this is. Made by the first run, and part of every backup.';
comment on column ledger.identity.only_row is 'Always true: the table has at most one row.';
comment on column ledger.identity.ledger_id is 'Random. The journals outside of the database carry it too.';
comment on column ledger.identity.created_at is 'When the first run made it.';
comment on column ledger.identity.place is 'Where the database was when it was last found whole: cluster, timeline, database and this table. Null where the server does not tell.';

create table ledger.machines (
  machine_id uuid primary key,
  host text not null,
  posted_at timestamptz not null default clock_timestamp(),
  whole_at text
);
comment on table ledger.machines is 'Data folders that claims were made from. Each has journals that the others lack, unless they share a mark.';
comment on column ledger.machines.machine_id is 'Random; the data folder has it too.';
comment on column ledger.machines.host is 'Name of the machine, for people.';
comment on column ledger.machines.posted_at is 'When it last began to post.';
comment on column ledger.machines.whole_at is 'Place of the database at which all that its journals know was found here, or recovered.';

create table ledger.recoveries (
  recovery_id bigint generated always as identity primary key,
  kind text not null check (kind in ('recover', 'new_ledger')),
  decided_by text not null,
  reason text not null check (length(trim(reason)) > 0),
  lost_claims bigint not null default 0 check (lost_claims >= 0),
  ranges jsonb not null default '[]',
  accepts_undescribed boolean not null default false,
  decided_at timestamptz not null default now()
);
comment on table ledger.recoveries is 'Append-only: decisions to go on with a database that lacks claims which were made.';
comment on column ledger.recoveries.recovery_id is 'Counts up.';
comment on column ledger.recoveries.kind is 'recover (`ledger recover`: what is known of the missing claims counts here) or new_ledger (`run --new-ledger`: what another ledger posted does not count here).';
comment on column ledger.recoveries.decided_by is 'Login name of the person.';
comment on column ledger.recoveries.reason is 'Why.';
comment on column ledger.recoveries.lost_claims is 'Claims that were found outside of the database and stored with this decision.';
comment on column ledger.recoveries.ranges is 'Numbers of claims that this database lost, each as {ledger_id, above, up_to}. Nothing is posted until each is described, or it is accepted that some are not.';
comment on column ledger.recoveries.accepts_undescribed is 'The person accepts that orders behind numbers which nothing describes may be posted again.';
comment on column ledger.recoveries.decided_at is 'When.';

create table ledger.lost_claims (
  lost_claim_id bigint generated always as identity primary key,
  recovery_id bigint references ledger.recoveries,
  ledger_id uuid not null,
  claim_no bigint not null,
  claim_id uuid not null,
  account_id text not null,
  effect text not null check (effect in ('referral', 'click', 'create_deal', 'note', 'task', 'outreach')),
  key_hash text not null,
  body_hash text not null,
  amount numeric(18,4),
  currency text,
  disposition text not null check (disposition in ('accepted', 'in_doubt', 'not_processed', 'disregarded')),
  http_status integer,
  deal_id text,
  collab_id text,
  message text,
  claimed_at timestamptz,
  found_at timestamptz not null default now(),
  unique (claim_id, claim_no, disposition)
);
comment on table ledger.lost_claims is 'Append-only: claims that were made and that this database does not have, because it was restored, failed over or swapped. Read from journals and spools.';
comment on column ledger.lost_claims.lost_claim_id is 'Counts up.';
comment on column ledger.lost_claims.recovery_id is 'Decision that stored it; null when a run found it by itself.';
comment on column ledger.lost_claims.ledger_id is 'Ledger in which it was made.';
comment on column ledger.lost_claims.claim_no is 'Its number there.';
comment on column ledger.lost_claims.claim_id is 'The commit that made it there.';
comment on column ledger.lost_claims.account_id is 'Account of the service.';
comment on column ledger.lost_claims.effect is 'Which operation.';
comment on column ledger.lost_claims.key_hash is 'Digest of account, effect and idempotency key: names the entry without its order id.';
comment on column ledger.lost_claims.body_hash is 'Digest of the body.';
comment on column ledger.lost_claims.amount is 'Revenue as sent, in currency.';
comment on column ledger.lost_claims.currency is 'ISO 4217.';
comment on column ledger.lost_claims.disposition is 'accepted (the service said so), in_doubt (it may have been processed), not_processed (proven), disregarded (`run --new-ledger`).';
comment on column ledger.lost_claims.http_status is 'Status of the answer, if there was one.';
comment on column ledger.lost_claims.deal_id is 'Deal that the service named.';
comment on column ledger.lost_claims.collab_id is 'Collaboration that the service named.';
comment on column ledger.lost_claims.message is 'What the service said or what went wrong, cut, addresses and secrets masked.';
comment on column ledger.lost_claims.claimed_at is 'By the clock of the machine that made it.';
comment on column ledger.lost_claims.found_at is 'When it was stored here.';

create table ledger.recovered_claims (
  lost_claim_id bigint primary key references ledger.lost_claims,
  entry_id bigint not null references ledger.entries,
  attempt integer not null,
  recovered_at timestamptz not null default now()
);
create index recovered_claims_entry on ledger.recovered_claims (entry_id);
comment on table ledger.recovered_claims is 'Append-only: which entry a lost claim was found to be about. Until then no file has stated its order to this database.';
comment on column ledger.recovered_claims.lost_claim_id is 'Lost claim.';
comment on column ledger.recovered_claims.entry_id is 'Entry.';
comment on column ledger.recovered_claims.attempt is 'Attempt of the entry that represents it.';
comment on column ledger.recovered_claims.recovered_at is 'When.';

create view ledger.double_credits as
  with accepted as (
    select n.entry_id, n.attempt::text as request, n.answered_at as known_at
    from ledger.answers n
    where n.kind = 'accepted' and n.via <> 'lost_claim' and n.entry_id in (
      select late.entry_id from ledger.answers late where late.kind = 'accepted' and not late.applied
      union select r.entry_id from ledger.recovered_claims r)
    union all
    -- The claim is that of an attempt if the entry has it.
    select r.entry_id, coalesce(t.attempt::text, l.claim_id || '/' || l.claim_no), r.recovered_at
    from ledger.recovered_claims r
    join ledger.lost_claims l using (lost_claim_id)
    left join ledger.attempts t on t.entry_id = r.entry_id and t.claim_id = l.claim_id
    where l.disposition = 'accepted'
  ),
  requests as (select entry_id, request, min(known_at) as known_at from accepted group by 1, 2),
  credits as (
    select entry_id, count(*) as credits, max(known_at) as known_at from requests group by 1 having count(*) > 1
  )
  select e.entry_id, e.job, e.order_platform, e.order_id, e.amount, e.currency, e.deal_id, e.collab_id,
    c.credits
  from credits c
  join ledger.entries e using (entry_id)
  where not exists (
    select from ledger.decisions d
    where d.entry_id = e.entry_id and d.decision = 'acknowledge' and d.decided_at >= c.known_at);
comment on view ledger.double_credits is 'Orders for which the service has accepted more than one request, until a person acknowledges it (`review ENTRY --acknowledge`); again if another one becomes known after that.';
comment on column ledger.double_credits.entry_id is 'Entry.';
comment on column ledger.double_credits.job is 'Job that made it.';
comment on column ledger.double_credits.order_platform is 'Shop platform as sent.';
comment on column ledger.double_credits.order_id is 'Order as sent.';
comment on column ledger.double_credits.amount is 'Revenue as sent with each request, in currency.';
comment on column ledger.double_credits.currency is 'ISO 4217.';
comment on column ledger.double_credits.deal_id is 'Deal that the service credited.';
comment on column ledger.double_credits.collab_id is 'Collaboration that the service credited.';
comment on column ledger.double_credits.credits is 'Requests that the service accepted.';

-- mirror: history of the records ----------------------------------------------------------------------------

-- A version is stored once and in one place. The views at the end show the newest one of each record.

create table mirror.publications (
  run_id bigint primary key references ops.runs,
  published_at timestamptz not null default clock_timestamp(),
  counts jsonb not null
);
comment on table mirror.publications is 'One row a run that published. Brands, dealflows, deals and collaborations change only in the commit that adds a row here, so a reader sees all of a run or nothing of it.';
comment on column mirror.publications.run_id is 'Run of the job that published.';
comment on column mirror.publications.published_at is 'When what it had read became visible. Database clock.';
comment on column mirror.publications.counts is 'By kind of record: {new, changed, unchanged, gone}.';

create table mirror.brand_versions (
  brand_id text not null,
  name text,
  raw jsonb not null,
  row_hash text not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  is_current boolean not null generated always as (valid_to is null) stored,
  is_latest boolean not null default true,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  run_id bigint not null references ops.runs,
  primary key (brand_id, valid_from),
  constraint brand_versions_last_a_while check (valid_to > valid_from)
);
create unique index brand_versions_latest on mirror.brand_versions (brand_id) where is_latest;
comment on table mirror.brand_versions is 'History of brands: one row each time a brand was first seen or had changed.';
comment on column mirror.brand_versions.brand_id is 'Identity at the service. Opaque text.';
comment on column mirror.brand_versions.name is 'Name of the brand.';
comment on column mirror.brand_versions.raw is 'All that the service sent, unknown fields included.';
comment on column mirror.brand_versions.row_hash is 'Digest of raw: equal hash, no new version.';
comment on column mirror.brand_versions.valid_from is 'When it was first seen in this form: the time before the request.';
comment on column mirror.brand_versions.valid_to is 'When it was first seen otherwise, or missing from a complete listing; null while it is in force.';
comment on column mirror.brand_versions.is_current is 'In force: valid_to is null. A brand that is gone has none.';
comment on column mirror.brand_versions.is_latest is 'Newest version of its brand, in force or not. Exactly one a brand.';
comment on column mirror.brand_versions.first_seen_at is 'When the brand was first seen at all.';
comment on column mirror.brand_versions.seen_at is 'When it was last seen so.';
comment on column mirror.brand_versions.run_id is 'Run that published this version.';

create table mirror.dealflow_versions (
  dealflow_id text not null,
  brand_id text,
  name text,
  raw jsonb not null,
  row_hash text not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  is_current boolean not null generated always as (valid_to is null) stored,
  is_latest boolean not null default true,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  run_id bigint not null references ops.runs,
  primary key (dealflow_id, valid_from),
  constraint dealflow_versions_last_a_while check (valid_to > valid_from)
);
create unique index dealflow_versions_latest on mirror.dealflow_versions (dealflow_id) where is_latest;
comment on table mirror.dealflow_versions is 'History of dealflows: one row each time a dealflow was first seen or had changed.';
comment on column mirror.dealflow_versions.dealflow_id is 'Identity at the service. Opaque text.';
comment on column mirror.dealflow_versions.brand_id is 'Brand it belongs to, where the service says so.';
comment on column mirror.dealflow_versions.name is 'Name of the dealflow.';
comment on column mirror.dealflow_versions.raw is 'All that the service sent, unknown fields included.';
comment on column mirror.dealflow_versions.row_hash is 'Digest of raw: equal hash, no new version.';
comment on column mirror.dealflow_versions.valid_from is 'When it was first seen in this form: the time before the request.';
comment on column mirror.dealflow_versions.valid_to is 'When it was first seen otherwise, or missing from a complete listing; null while it is in force.';
comment on column mirror.dealflow_versions.is_current is 'In force: valid_to is null. A dealflow that is gone has none.';
comment on column mirror.dealflow_versions.is_latest is 'Newest version of its dealflow, in force or not. Exactly one a dealflow.';
comment on column mirror.dealflow_versions.first_seen_at is 'When the dealflow was first seen at all.';
comment on column mirror.dealflow_versions.seen_at is 'When it was last seen so.';
comment on column mirror.dealflow_versions.run_id is 'Run that published this version.';

create table mirror.deal_versions (
  deal_id text not null,
  influencer_handle text,
  platform text,
  brand_id text,
  dealflow_id text,
  is_active boolean,
  funnel_step integer,
  total_clicks numeric,
  total_referrals numeric,
  total_sales numeric,
  total_payouts numeric,
  total_commission_earned numeric,
  total_fixed_fee_earned numeric,
  raw jsonb not null,
  row_hash text not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  is_current boolean not null generated always as (valid_to is null) stored,
  is_latest boolean not null default true,
  first_seen_at timestamptz not null,
  run_id bigint not null references ops.runs,
  primary key (deal_id, valid_from),
  constraint deal_versions_last_a_while check (valid_to > valid_from)
);
create unique index deal_versions_latest on mirror.deal_versions (deal_id) where is_latest;
create index deal_versions_handle on mirror.deal_versions (lower(ltrim(influencer_handle, '@')), deal_id)
  where is_latest and is_current;
comment on table mirror.deal_versions is 'History of deals: one row each time a deal was first read or had changed.';
comment on column mirror.deal_versions.deal_id is 'Identity at the service. Opaque text.';
comment on column mirror.deal_versions.influencer_handle is 'Influencer, as the service writes the handle.';
comment on column mirror.deal_versions.platform is 'Social platform of the handle.';
comment on column mirror.deal_versions.brand_id is 'Brand. Text, whatever the service sends.';
comment on column mirror.deal_versions.dealflow_id is 'Dealflow it is in.';
comment on column mirror.deal_versions.is_active is 'Active status.';
comment on column mirror.deal_versions.funnel_step is 'Stage in its dealflow. What the numbers mean is not shown by the service.';
comment on column mirror.deal_versions.total_clicks is 'Clicks counted by the service.';
comment on column mirror.deal_versions.total_referrals is 'Orders counted by the service.';
comment on column mirror.deal_versions.total_sales is 'Sales counted by the service; in which currency is not shown.';
comment on column mirror.deal_versions.total_payouts is 'Payouts made; in which currency is not shown.';
comment on column mirror.deal_versions.total_commission_earned is 'Commission earned; in which currency is not shown.';
comment on column mirror.deal_versions.total_fixed_fee_earned is 'Fixed fees earned; in which currency is not shown.';
comment on column mirror.deal_versions.raw is 'All that the service sent but the collaborations, unknown fields included. What is personal (name, e-mail, address, phone) reads [redacted].';
comment on column mirror.deal_versions.row_hash is 'Digest of raw: equal hash, no new version.';
comment on column mirror.deal_versions.valid_from is 'When it was first read in this form: the time before the request.';
comment on column mirror.deal_versions.valid_to is 'When it was first read otherwise, or the service first said that there is no such deal; null while it is in force.';
comment on column mirror.deal_versions.is_current is 'In force: valid_to is null. A deal that is gone has none.';
comment on column mirror.deal_versions.is_latest is 'Newest version of its deal, in force or not. Exactly one a deal.';
comment on column mirror.deal_versions.first_seen_at is 'When the deal was first read at all.';
comment on column mirror.deal_versions.run_id is 'Run that published this version.';

create table mirror.collaboration_versions (
  collab_id text not null,
  deal_id text not null,
  brand_id text,
  dealflow_id text,
  code text,
  code_perc numeric,
  commission_perc numeric,
  custom_url text,
  custom_url_target text,
  clicks numeric,
  referrals numeric,
  raw jsonb not null,
  row_hash text not null,
  valid_from timestamptz not null,
  valid_to timestamptz,
  is_current boolean not null generated always as (valid_to is null) stored,
  is_latest boolean not null default true,
  first_seen_at timestamptz not null,
  run_id bigint not null references ops.runs,
  primary key (collab_id, valid_from),
  constraint collaboration_versions_last_a_while check (valid_to > valid_from)
);
create unique index collaboration_versions_latest on mirror.collaboration_versions (collab_id)
  where is_latest;
create index collaboration_versions_deal on mirror.collaboration_versions (deal_id) where is_latest;
comment on table mirror.collaboration_versions is 'History of collaborations: one row each time a collaboration was first read or had changed.';
comment on column mirror.collaboration_versions.collab_id is 'Identity at the service. Opaque text.';
comment on column mirror.collaboration_versions.deal_id is 'Deal it belongs to.';
comment on column mirror.collaboration_versions.brand_id is 'Brand. Text, whatever the service sends.';
comment on column mirror.collaboration_versions.dealflow_id is 'Dealflow it is in.';
comment on column mirror.collaboration_versions.code is 'Discount code.';
comment on column mirror.collaboration_versions.code_perc is 'Discount of the code in percent.';
comment on column mirror.collaboration_versions.commission_perc is 'Commission in percent.';
comment on column mirror.collaboration_versions.custom_url is 'Affiliate link.';
comment on column mirror.collaboration_versions.custom_url_target is 'Where the link leads.';
comment on column mirror.collaboration_versions.clicks is 'Clicks counted by the service.';
comment on column mirror.collaboration_versions.referrals is 'Orders counted by the service.';
comment on column mirror.collaboration_versions.raw is 'All that the service sent, sales included, unknown fields too. What is personal (name, e-mail, address, phone) reads [redacted].';
comment on column mirror.collaboration_versions.row_hash is 'Digest of raw and deal: equal hash, no new version.';
comment on column mirror.collaboration_versions.valid_from is 'When it was first read in this form: the time before the request.';
comment on column mirror.collaboration_versions.valid_to is 'When it was first read otherwise, or missing from its deal''s list; null while it is in force.';
comment on column mirror.collaboration_versions.is_current is 'In force: valid_to is null. A collaboration that is gone has none.';
comment on column mirror.collaboration_versions.is_latest is 'Newest version of its collaboration, in force or not. Exactly one a collaboration.';
comment on column mirror.collaboration_versions.first_seen_at is 'When the collaboration was first read at all.';
comment on column mirror.collaboration_versions.run_id is 'Run that published this version.';

-- mirror: how deals are discovered --------------------------------------------------------------------------

create table mirror.known_deals (
  deal_id text primary key check (length(deal_id) between 1 and 200),
  first_way text not null,
  ways text[] not null,
  first_seen_at timestamptz not null default clock_timestamp(),
  event_at timestamptz,
  read_at timestamptz,
  answer_hash text,
  not_found_at timestamptz,
  deleted_at timestamptz,
  failures integer not null default 0 check (failures >= 0),
  last_error text,
  not_before timestamptz,
  constraint ways_begin_with_the_first check (first_way = ways[1]),
  constraint deleted_was_not_found check (deleted_at is null or not_found_at is not null),
  constraint failures_say_why check ((failures > 0) = (last_error is not null))
) with (fillfactor = 70);
comment on table mirror.known_deals is 'Every deal that was discovered, how it was discovered, and how reading it went. The service has no list of deals.';
comment on column mirror.known_deals.deal_id is 'Identity at the service. Opaque text.';
comment on column mirror.known_deals.first_way is 'How it was first discovered: referral, click, create_deal, note, task (answers to what the ledger sent), event, codes, order, handle, autocomplete, deal (another deal''s answer).';
comment on column mirror.known_deals.ways is 'Everything that it was discovered through, the first one first.';
comment on column mirror.known_deals.first_seen_at is 'When it was first discovered.';
comment on column mirror.known_deals.event_at is 'When an event last named it: read again then, however fresh.';
comment on column mirror.known_deals.read_at is 'Time before the request that last read it; null: never read. Deals read longest ago are read next.';
comment on column mirror.known_deals.answer_hash is 'Digest of that answer: an equal one only moves read_at.';
comment on column mirror.known_deals.not_found_at is 'Since when the service says that there is no such deal; null: it does not.';
comment on column mirror.known_deals.deleted_at is 'Set when a second run got the same answer: the deal is then gone as of not_found_at.';
comment on column mirror.known_deals.failures is 'Runs in a row in which it could not be read.';
comment on column mirror.known_deals.last_error is 'Why, without addresses and secrets; null when the last reading went well.';
comment on column mirror.known_deals.not_before is 'Not read again before this instant, because it failed.';

create table mirror.known_handles (
  handle_folded text primary key check (length(handle_folded) between 1 and 200),
  handle text not null,
  first_way text not null,
  ways text[] not null,
  first_seen_at timestamptz not null default clock_timestamp(),
  asked_at timestamptz,
  deals_found integer,
  last_error text,
  constraint handle_ways_begin_with_the_first check (first_way = ways[1])
);
comment on table mirror.known_handles is 'Handles of influencers that were discovered without a deal id: runs request their deals.';
comment on column mirror.known_handles.handle_folded is 'Handle without blanks and @, lower case.';
comment on column mirror.known_handles.handle is 'Handle as first discovered.';
comment on column mirror.known_handles.first_way is 'How it was first discovered: codes, order, autocomplete.';
comment on column mirror.known_handles.ways is 'Everything that it was discovered through, the first one first.';
comment on column mirror.known_handles.first_seen_at is 'When it was first discovered.';
comment on column mirror.known_handles.asked_at is 'When the service was last asked for its deals; null: never.';
comment on column mirror.known_handles.deals_found is 'How many deals it named then.';
comment on column mirror.known_handles.last_error is 'Why it could not be asked, without addresses and secrets; null when it went well.';

create table mirror.prefixes (
  prefix text primary key check (length(prefix) between 1 and 30),
  asked_at timestamptz,
  results integer,
  answer_hash text,
  is_split boolean not null default false,
  last_error text,
  says_more boolean not null default false
);
comment on table mirror.prefixes is 'Prefixes of handles to request from autocomplete. A prefix whose answer looks cut off is split into longer ones.';
comment on column mirror.prefixes.prefix is 'The prefix.';
comment on column mirror.prefixes.asked_at is 'When it was last requested; null: not yet.';
comment on column mirror.prefixes.results is 'How many records the answer had.';
comment on column mirror.prefixes.answer_hash is 'Digest of the ids in the answer: detects a service that ignores the prefix.';
comment on column mirror.prefixes.is_split is 'Its answer looked cut off, and longer ones were added.';
comment on column mirror.prefixes.last_error is 'Why it could not be requested, without addresses and secrets; null after a success.';
comment on column mirror.prefixes.says_more is 'Whether the last answer said itself that it was cut off, for example by a larger total.';

-- mirror: what was read and is not published yet ------------------------------------------------------------

-- Not logged: a crash of the database only means that it is read again.

create unlogged table mirror.staged (
  record_kind text not null check (record_kind in ('brand', 'dealflow', 'deal')),
  record_id text not null,
  outcome text not null check (outcome in ('read', 'unchanged', 'not_found', 'failed')),
  fetched_at timestamptz not null,
  run_id bigint not null,
  answer_hash text,
  row_hash text,
  fields jsonb,
  raw jsonb,
  drift jsonb,
  problem text,
  primary key (record_kind, record_id),
  constraint read_has_content
    check (outcome <> 'read' or (row_hash is not null and fields is not null and raw is not null)),
  constraint failed_says_why check (outcome not in ('not_found', 'failed') or problem is not null)
);
comment on table mirror.staged is 'What was read since the last publication. Emptied by the next one; what a killed run leaves here is published by the run after it and not read again.';
comment on column mirror.staged.record_kind is 'brand, dealflow or deal.';
comment on column mirror.staged.record_id is 'Identity at the service.';
comment on column mirror.staged.outcome is 'read, unchanged (as published: only seen), not_found (the service says that there is none), failed.';
comment on column mirror.staged.fetched_at is 'The time before the request.';
comment on column mirror.staged.run_id is 'Run that read it.';
comment on column mirror.staged.answer_hash is 'Digest of the whole answer, collaborations included.';
comment on column mirror.staged.row_hash is 'Digest of raw.';
comment on column mirror.staged.fields is 'What goes into columns.';
comment on column mirror.staged.raw is 'What the service sent, personal fields redacted.';
comment on column mirror.staged.drift is 'What did not fit: [{field, kind, expected, found}].';
comment on column mirror.staged.problem is 'Why it could not be read.';

create unlogged table mirror.staged_listings (
  record_kind text primary key check (record_kind in ('brand', 'dealflow')),
  fetched_at timestamptz not null,
  run_id bigint not null,
  is_complete boolean not null,
  problem text,
  constraint partial_says_why check (is_complete = (problem is null))
);
comment on table mirror.staged_listings is 'Listings of brands and dealflows that were read since the last publication.';
comment on column mirror.staged_listings.record_kind is 'brand or dealflow.';
comment on column mirror.staged_listings.fetched_at is 'The time before the request.';
comment on column mirror.staged_listings.run_id is 'Run that read it.';
comment on column mirror.staged_listings.is_complete is 'What is missing from it is gone. A partial listing deletes nothing.';
comment on column mirror.staged_listings.problem is 'Why it is not complete.';

-- Rows of their own: unpacking them from the answers of their deals, once for each statement of a
-- publication, took longer than writing them.
create unlogged table mirror.staged_collaborations (
  collab_id text not null,
  deal_id text not null,
  fetched_at timestamptz not null,
  row_hash text not null,
  fields jsonb not null,
  raw jsonb not null,
  drift jsonb,
  is_newest boolean not null default true,
  primary key (deal_id, collab_id, fetched_at)
);
comment on table mirror.staged_collaborations is 'Collaborations of the answers in mirror.staged. One whose deal has since been answered otherwise is dropped by the publication.';
comment on column mirror.staged_collaborations.collab_id is 'Identity at the service.';
comment on column mirror.staged_collaborations.deal_id is 'Deal whose answer contained it.';
comment on column mirror.staged_collaborations.fetched_at is 'The time before the request; with the deal it identifies the answer.';
comment on column mirror.staged_collaborations.row_hash is 'Digest of raw and deal.';
comment on column mirror.staged_collaborations.fields is 'What goes into columns.';
comment on column mirror.staged_collaborations.raw is 'What the service sent, personal fields redacted.';
comment on column mirror.staged_collaborations.drift is 'What did not fit: [{field, kind, expected, found}].';
comment on column mirror.staged_collaborations.is_newest is 'Goes into the history. Of several deals that show it, the one that was asked for last: settled by the publication.';

-- mirror: what does not fit, and how complete it is ---------------------------------------------------------

create table mirror.drift (
  drift_id bigint generated always as identity primary key,
  run_id bigint not null references ops.runs,
  record_kind text not null,
  field text not null,
  kind text not null check (kind in ('type_changed', 'vanished', 'missing', 'unreadable')),
  expected text,
  found text,
  records integer not null check (records > 0),
  sample_id text,
  noted_at timestamptz not null default clock_timestamp()
);
create index drift_run on mirror.drift (run_id);
comment on table mirror.drift is 'What the service sends otherwise than before, or than the contract says. The records themselves are kept, in raw.';
comment on column mirror.drift.drift_id is 'Counts up.';
comment on column mirror.drift.run_id is 'Run that noticed.';
comment on column mirror.drift.record_kind is 'brand, dealflow, deal, collaboration, or the listing: brands, dealflows, autocomplete.';
comment on column mirror.drift.field is 'Field of the record; of a listing, what was looked at.';
comment on column mirror.drift.kind is 'type_changed (another JSON type than in the version before), vanished (no record that was read has it any more), missing (the contract promises it), unreadable (its column cannot take the value and is null).';
comment on column mirror.drift.expected is 'Type before, or what the column takes.';
comment on column mirror.drift.found is 'Type that came.';
comment on column mirror.drift.records is 'How many records.';
comment on column mirror.drift.sample_id is 'One of them.';
comment on column mirror.drift.noted_at is 'When.';

create table mirror.unreadable (
  record_kind text not null,
  record_hash text not null,
  raw jsonb not null,
  reason text not null,
  first_seen_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  run_id bigint not null references ops.runs,
  primary key (record_kind, record_hash)
);
comment on table mirror.unreadable is 'Records and answers that could not be taken for what they should be, for example without an id. Kept so that none is lost.';
comment on column mirror.unreadable.record_kind is 'What it should have been: brand, dealflow, deal, collaboration, or the listing: brands, dealflows, autocomplete.';
comment on column mirror.unreadable.record_hash is 'Digest of raw.';
comment on column mirror.unreadable.raw is 'What the service sent, personal fields redacted, cut to a text where it was no JSON.';
comment on column mirror.unreadable.reason is 'Why.';
comment on column mirror.unreadable.first_seen_at is 'When it came first.';
comment on column mirror.unreadable.seen_at is 'When it came last.';
comment on column mirror.unreadable.run_id is 'Last run that received it.';

create table mirror.coverage (
  run_id bigint not null references mirror.publications,
  way text not null,
  known integer not null,
  also_known integer not null,
  fresh integer not null,
  stale integer not null,
  unread integer not null,
  failing integer not null,
  deleted integer not null,
  oldest_read_at timestamptz,
  newest_read_at timestamptz,
  primary key (run_id, way),
  constraint coverage_adds_up check (known = fresh + stale + unread + failing + deleted)
);
comment on table mirror.coverage is 'How many deals are known after each publication, how they were discovered, how fresh they are, and what could not be read. Never the number of existing deals: only the service knows it.';
comment on column mirror.coverage.run_id is 'Publication.';
comment on column mirror.coverage.way is 'As in known_deals.first_way; all: every deal, each once.';
comment on column mirror.coverage.known is 'Deals first discovered this way. The rows add up to all.';
comment on column mirror.coverage.also_known is 'Deals first discovered in another way, and in this one too.';
comment on column mirror.coverage.fresh is 'Of known: read within refresh_after_hours.';
comment on column mirror.coverage.stale is 'Of known: read longer ago.';
comment on column mirror.coverage.unread is 'Of known: not read yet.';
comment on column mirror.coverage.failing is 'Of known: could not be read the last time it was tried.';
comment on column mirror.coverage.deleted is 'Of known: gone, the service said so.';
comment on column mirror.coverage.oldest_read_at is 'Longest ago that one of them was last read, deleted ones left out.';
comment on column mirror.coverage.newest_read_at is 'Most recent reading of one of them.';

-- mirror: the newest version of each record -----------------------------------------------------------------

create view mirror.brands as
  select brand_id, name, raw, row_hash, not is_current as is_deleted, valid_to as deleted_at, first_seen_at,
    valid_from as changed_at, seen_at, run_id
  from mirror.brand_versions where is_latest;
comment on view mirror.brands is 'Brands of the account, each as it was last seen. Gone ones too: is_deleted.';
comment on column mirror.brands.brand_id is 'Identity at the service. Opaque text.';
comment on column mirror.brands.name is 'Name of the brand.';
comment on column mirror.brands.raw is 'All that the service sent, unknown fields included.';
comment on column mirror.brands.row_hash is 'Digest of raw.';
comment on column mirror.brands.is_deleted is 'Missing from a complete listing.';
comment on column mirror.brands.deleted_at is 'When that listing was asked for; null while the brand is there.';
comment on column mirror.brands.first_seen_at is 'When it was first seen.';
comment on column mirror.brands.changed_at is 'When it was first seen as it is now.';
comment on column mirror.brands.seen_at is 'When it was last seen so.';
comment on column mirror.brands.run_id is 'Run that published its last change.';

create view mirror.dealflows as
  select dealflow_id, brand_id, name, raw, row_hash, not is_current as is_deleted, valid_to as deleted_at,
    first_seen_at, valid_from as changed_at, seen_at, run_id
  from mirror.dealflow_versions where is_latest;
comment on view mirror.dealflows is 'Dealflows of the account, each as it was last seen. Gone ones too: is_deleted.';
comment on column mirror.dealflows.dealflow_id is 'Identity at the service. Opaque text.';
comment on column mirror.dealflows.brand_id is 'Brand it belongs to, where the service says so.';
comment on column mirror.dealflows.name is 'Name of the dealflow.';
comment on column mirror.dealflows.raw is 'All that the service sent, unknown fields included.';
comment on column mirror.dealflows.row_hash is 'Digest of raw.';
comment on column mirror.dealflows.is_deleted is 'Missing from a complete listing.';
comment on column mirror.dealflows.deleted_at is 'When that listing was asked for; null while the dealflow is there.';
comment on column mirror.dealflows.first_seen_at is 'When it was first seen.';
comment on column mirror.dealflows.changed_at is 'When it was first seen as it is now.';
comment on column mirror.dealflows.seen_at is 'When it was last seen so.';
comment on column mirror.dealflows.run_id is 'Run that published its last change.';

create view mirror.deals as
  select d.deal_id, d.influencer_handle, d.platform, d.brand_id, d.dealflow_id, d.is_active, d.funnel_step,
    d.total_clicks, d.total_referrals, d.total_sales, d.total_payouts, d.total_commission_earned,
    d.total_fixed_fee_earned, d.raw, d.row_hash, not d.is_current as is_deleted, d.valid_to as deleted_at,
    d.first_seen_at, d.valid_from as changed_at, k.read_at as seen_at, k.first_way, d.run_id
  from mirror.deal_versions d join mirror.known_deals k using (deal_id)
  where d.is_latest;
comment on view mirror.deals is 'Deals that were found and read, each as it was last read. Gone ones too: is_deleted. What is not here may still exist at the service: see mirror.coverage.';
comment on column mirror.deals.deal_id is 'Identity at the service. Opaque text.';
comment on column mirror.deals.influencer_handle is 'Influencer, as the service writes the handle.';
comment on column mirror.deals.platform is 'Social platform of the handle.';
comment on column mirror.deals.brand_id is 'Brand.';
comment on column mirror.deals.dealflow_id is 'Dealflow it is in.';
comment on column mirror.deals.is_active is 'Active status.';
comment on column mirror.deals.funnel_step is 'Stage in its dealflow.';
comment on column mirror.deals.total_clicks is 'Clicks counted by the service.';
comment on column mirror.deals.total_referrals is 'Orders counted by the service.';
comment on column mirror.deals.total_sales is 'Sales counted by the service; in which currency is not shown.';
comment on column mirror.deals.total_payouts is 'Payouts made; in which currency is not shown.';
comment on column mirror.deals.total_commission_earned is 'Commission earned; in which currency is not shown.';
comment on column mirror.deals.total_fixed_fee_earned is 'Fixed fees earned; in which currency is not shown.';
comment on column mirror.deals.raw is 'All that the service sent but the collaborations; personal fields read [redacted].';
comment on column mirror.deals.row_hash is 'Digest of raw.';
comment on column mirror.deals.is_deleted is 'The service said twice that there is no such deal.';
comment on column mirror.deals.deleted_at is 'When it said so first; null while the deal is there.';
comment on column mirror.deals.first_seen_at is 'When it was first read.';
comment on column mirror.deals.changed_at is 'When it was first read as it is now.';
comment on column mirror.deals.seen_at is 'When it was last read.';
comment on column mirror.deals.first_way is 'How it was found: see known_deals.first_way.';
comment on column mirror.deals.run_id is 'Run that published its last change.';

create view mirror.collaborations as
  select c.collab_id, c.deal_id, c.brand_id, c.dealflow_id, c.code, c.code_perc, c.commission_perc,
    c.custom_url, c.custom_url_target, c.clicks, c.referrals, c.raw, c.row_hash,
    not c.is_current as is_deleted, c.valid_to as deleted_at, c.first_seen_at, c.valid_from as changed_at,
    k.read_at as seen_at, c.run_id
  from mirror.collaboration_versions c join mirror.known_deals k using (deal_id)
  where c.is_latest;
comment on view mirror.collaborations is 'Collaborations of the deals that were read, each as it was last read. Gone ones too: is_deleted.';
comment on column mirror.collaborations.collab_id is 'Identity at the service. Opaque text.';
comment on column mirror.collaborations.deal_id is 'Deal it belongs to.';
comment on column mirror.collaborations.brand_id is 'Brand.';
comment on column mirror.collaborations.dealflow_id is 'Dealflow it is in.';
comment on column mirror.collaborations.code is 'Discount code.';
comment on column mirror.collaborations.code_perc is 'Discount of the code in percent.';
comment on column mirror.collaborations.commission_perc is 'Commission in percent.';
comment on column mirror.collaborations.custom_url is 'Affiliate link.';
comment on column mirror.collaborations.custom_url_target is 'Where the link leads.';
comment on column mirror.collaborations.clicks is 'Clicks counted by the service.';
comment on column mirror.collaborations.referrals is 'Orders counted by the service.';
comment on column mirror.collaborations.raw is 'All that the service sent, sales included; personal fields read [redacted].';
comment on column mirror.collaborations.row_hash is 'Digest of raw and deal.';
comment on column mirror.collaborations.is_deleted is 'Missing from its deal''s list, or its deal is gone.';
comment on column mirror.collaborations.deleted_at is 'When that was first read; null while it is there.';
comment on column mirror.collaborations.first_seen_at is 'When it was first read.';
comment on column mirror.collaborations.changed_at is 'When it was first read as it is now.';
comment on column mirror.collaborations.seen_at is 'When its deal was last read.';
comment on column mirror.collaborations.run_id is 'Run that published its last change.';

-- reporting: how far the reports are ------------------------------------------------------------------------

-- What the views of schema bi read where computing it each time would be too slow. All of it follows from
-- intake, ledger and mirror; the steps in src/rollups/ bring it up to date.

create table reporting.applied_views (
  only_row boolean primary key default true check (only_row),
  content_hash text not null,
  applied_at timestamptz not null default now()
);
comment on table reporting.applied_views is 'Which sql/views this database has.';
comment on column reporting.applied_views.only_row is 'Always true: the table has at most one row.';
comment on column reporting.applied_views.content_hash is 'Digest of the files: another one, and they are applied again.';
comment on column reporting.applied_views.applied_at is 'When.';

create table reporting.refresh (
  only_row boolean primary key default true check (only_row),
  refreshed_at timestamptz,
  counted_entry_id bigint not null default 0,
  totalled_at timestamptz,
  conflicts_at timestamptz
);
comment on table reporting.refresh is 'When the tables of this schema were last brought up to date. Its one row is locked by each step, so that one refresh works at a time.';
comment on column reporting.refresh.only_row is 'Always true: the table has one row.';
comment on column reporting.refresh.refreshed_at is 'Database clock; null: never yet.';
comment on column reporting.refresh.counted_entry_id is 'Up to this id, entries are in accepted_sums or in uncounted_entries.';
comment on column reporting.refresh.totalled_at is 'Equals refreshed_at if deal_totals includes that refresh. Otherwise an older version refreshed the reports, and the totals must be added up again.';
comment on column reporting.refresh.conflicts_at is 'Equals refreshed_at if conflicts includes that refresh. Otherwise an older version refreshed the reports, and all conflicts must be read again.';

create table reporting.refresh_partitions (
  partition_no smallint primary key
);
comment on table reporting.refresh_partitions is 'Halves of a large refresh, which two sessions work through at the same time. A step locks the row of its half, so that no other refresh writes there.';
comment on column reporting.refresh_partitions.partition_no is '0 or 1: by the hash of an order id, or by the number of a day.';

create table reporting.counted_files (
  job text not null,
  source_file_id bigint not null,
  attributed_at timestamptz not null,
  primary key (job, source_file_id)
);
comment on table reporting.counted_files is 'Decisions that order_dispositions has taken note of, by file: what differs from intake.attributed_files is looked at by the next refresh.';
comment on column reporting.counted_files.job is 'Job that decided.';
comment on column reporting.counted_files.source_file_id is 'File whose orders it decided about.';
comment on column reporting.counted_files.attributed_at is 'When it decided, as intake.attributed_files says.';

create table reporting.changed_days (
  day_utc date primary key
);
comment on table reporting.changed_days is 'Days with orders whose disposition differs from the daily sums: the next step of a refresh adds them up.';
comment on column reporting.changed_days.day_utc is 'Day in UTC.';

create table reporting.changed_deals (
  deal_id text not null,
  month_utc date not null,
  primary key (deal_id, month_utc)
);
comment on table reporting.changed_deals is 'Deals and months with orders that stand otherwise than reporting.return_months says: the next step of a refresh adds them up.';
comment on column reporting.changed_deals.deal_id is 'Deal.';
comment on column reporting.changed_deals.month_utc is 'First day of the month.';

create table reporting.changed_earnings (
  change_no bigint generated always as identity primary key,
  entry_id bigint,
  collab_id text,
  constraint changed_earnings_name_one check (num_nonnulls(entry_id, collab_id) = 1)
);
comment on table reporting.changed_earnings is 'Entries and collaborations that have changed since order_earnings was last updated. Written by triggers, emptied by the update.';
comment on column reporting.changed_earnings.change_no is 'Counts up.';
comment on column reporting.changed_earnings.entry_id is 'Entry of the ledger that may earn something else now.';
comment on column reporting.changed_earnings.collab_id is 'Collaboration whose rate has changed: all of its orders may earn something else now.';

-- reporting: orders, and sums of them -----------------------------------------------------------------------

create table reporting.order_dispositions (
  job text constraint order_standings_job_not_null not null,
  source text constraint order_standings_source_not_null not null,
  order_id text constraint order_standings_order_id_not_null not null,
  order_version_id bigint constraint order_standings_order_version_id_not_null not null,
  entry_id bigint,
  ordered_at timestamptz constraint order_standings_ordered_at_not_null not null,
  day_utc date constraint order_standings_day_utc_not_null not null,
  disposition text constraint order_standings_standing_not_null not null
    check (disposition in ('accepted', 'ready', 'rejected', 'in_doubt', 'held', 'excluded', 'unattributed',
      'organic', 'unaccounted')),
  disposition_reason text,
  disposition_at timestamptz constraint order_standings_standing_at_not_null not null,
  is_open boolean constraint order_standings_is_open_not_null not null,
  matched_by text,
  matched_value text,
  target text,
  brand_id text,
  deal_id text,
  collab_id text,
  influencer_handle text,
  currency text constraint order_standings_currency_not_null not null,
  amount numeric(18,4) constraint order_standings_amount_not_null not null,
  primary key (job, source, order_id)
) with (fillfactor = 90);
create index order_dispositions_day on reporting.order_dispositions (day_utc);
create index order_dispositions_deal on reporting.order_dispositions (deal_id, day_utc)
  where deal_id is not null;
create index order_dispositions_open on reporting.order_dispositions (job, source, order_id) where is_open;
-- A run looks up what was accepted since it began, in whichever order the table was written and even if
-- nothing summarises a BRIN index.
create index order_dispositions_accepted on reporting.order_dispositions (job, disposition_at)
  where disposition = 'accepted';
-- The console lists held orders. Those of two owners have no entry and are not open, so the index of open
-- orders does not have them all.
create index order_dispositions_held on reporting.order_dispositions (day_utc) where disposition = 'held';
comment on table reporting.order_dispositions is 'The disposition of each order of each job, as of the last refresh.';
comment on column reporting.order_dispositions.job is 'Job that decided about the order.';
comment on column reporting.order_dispositions.source is 'Source of the order.';
comment on column reporting.order_dispositions.order_id is 'Identity at the shop platform.';
comment on column reporting.order_dispositions.order_version_id is 'Version of the order in force.';
comment on column reporting.order_dispositions.entry_id is 'Entry of the ledger, if the disposition follows from it.';
comment on column reporting.order_dispositions.ordered_at is 'When it was placed, else paid, else first read.';
comment on column reporting.order_dispositions.day_utc is 'Day of ordered_at in UTC.';
comment on column reporting.order_dispositions.disposition is 'accepted, ready, rejected, in_doubt, held, excluded, unattributed, organic, unaccounted (never, unless by a bug).';
comment on column reporting.order_dispositions.disposition_reason is 'Why, for rejected, in_doubt, held, excluded, unattributed.';
comment on column reporting.order_dispositions.disposition_at is 'Since when: the entry''s last change, else the decision of the job.';
comment on column reporting.order_dispositions.is_open is 'May change without another decision about its file: each refresh checks it.';
comment on column reporting.order_dispositions.matched_by is 'What named the influencer: explicit, code, link.';
comment on column reporting.order_dispositions.matched_value is 'The code or link that matched, or those that did not; e-mail addresses masked.';
comment on column reporting.order_dispositions.target is 'deal:, collab: or handle:, and the owner of the order; null without an owner.';
comment on column reporting.order_dispositions.brand_id is 'Brand.';
comment on column reporting.order_dispositions.deal_id is 'Deal that the service credited, else the one it is attributed to.';
comment on column reporting.order_dispositions.collab_id is 'Collaboration, in the same order.';
comment on column reporting.order_dispositions.influencer_handle is 'Influencer.';
comment on column reporting.order_dispositions.currency is 'ISO 4217.';
comment on column reporting.order_dispositions.amount is 'Revenue as sent, else by the job''s rule, else of the order, in currency.';

create table reporting.funnel_days (
  day_utc date not null,
  job text not null,
  source text not null,
  currency text not null,
  disposition text constraint funnel_days_standing_not_null not null,
  disposition_reason text,
  orders bigint not null check (orders > 0),
  amount numeric(24,4) not null
);
create index funnel_days_day on reporting.funnel_days (day_utc);
comment on table reporting.funnel_days is 'order_dispositions added up by day, job, source, currency, disposition and reason.';
comment on column reporting.funnel_days.day_utc is 'Day in UTC.';
comment on column reporting.funnel_days.job is 'Job.';
comment on column reporting.funnel_days.source is 'Source.';
comment on column reporting.funnel_days.currency is 'ISO 4217.';
comment on column reporting.funnel_days.disposition is 'As in order_dispositions.';
comment on column reporting.funnel_days.disposition_reason is 'As in order_dispositions.';
comment on column reporting.funnel_days.orders is 'How many.';
comment on column reporting.funnel_days.amount is 'Their revenue, in currency.';

create table reporting.deal_days (
  day_utc date not null,
  target text not null,
  brand_id text,
  deal_id text,
  collab_id text,
  influencer_handle text,
  currency text not null,
  attributed_orders bigint not null,
  accepted_orders bigint not null,
  ready_orders bigint not null,
  in_doubt_orders bigint not null,
  held_orders bigint not null,
  rejected_orders bigint not null,
  attributed_amount numeric(24,4) not null,
  accepted_amount numeric(24,4) not null,
  in_doubt_amount numeric(24,4) not null
);
create index deal_days_day on reporting.deal_days (day_utc);
create index deal_days_deal on reporting.deal_days (deal_id, day_utc) where deal_id is not null;
comment on table reporting.deal_days is 'Orders that are somebody''s, added up by day, deal (collaboration, handle), brand and currency.';
comment on column reporting.deal_days.day_utc is 'Day in UTC.';
comment on column reporting.deal_days.target is 'deal:, collab: or handle: and whose orders they are.';
comment on column reporting.deal_days.brand_id is 'Brand.';
comment on column reporting.deal_days.deal_id is 'Deal.';
comment on column reporting.deal_days.collab_id is 'Collaboration, where the orders name one.';
comment on column reporting.deal_days.influencer_handle is 'Influencer.';
comment on column reporting.deal_days.currency is 'ISO 4217.';
comment on column reporting.deal_days.attributed_orders is 'All of them.';
comment on column reporting.deal_days.accepted_orders is 'Accepted by the service.';
comment on column reporting.deal_days.ready_orders is 'Yet to be sent, or in flight.';
comment on column reporting.deal_days.in_doubt_orders is 'In doubt.';
comment on column reporting.deal_days.held_orders is 'Held, or written off.';
comment on column reporting.deal_days.rejected_orders is 'Refused by the service.';
comment on column reporting.deal_days.attributed_amount is 'Revenue of all of them, in currency.';
comment on column reporting.deal_days.accepted_amount is 'Revenue of the accepted ones, in currency.';
comment on column reporting.deal_days.in_doubt_amount is 'Revenue of those in doubt, in currency.';

create table reporting.brand_days (
  day_utc date not null,
  brand_id text not null,
  currency text not null,
  deals bigint not null,
  attributed_orders bigint not null,
  accepted_orders bigint not null,
  ready_orders bigint not null,
  in_doubt_orders bigint not null,
  held_orders bigint not null,
  rejected_orders bigint not null,
  attributed_amount numeric(24,4) not null,
  accepted_amount numeric(24,4) not null,
  in_doubt_amount numeric(24,4) not null,
  primary key (day_utc, brand_id, currency)
);
comment on table reporting.brand_days is 'deal_days added up by day, brand and currency.';
comment on column reporting.brand_days.day_utc is 'Day in UTC.';
comment on column reporting.brand_days.brand_id is 'Brand.';
comment on column reporting.brand_days.currency is 'ISO 4217.';
comment on column reporting.brand_days.deals is 'Deals (collaborations, handles) with an order on the day.';
comment on column reporting.brand_days.attributed_orders is 'All orders that are somebody''s.';
comment on column reporting.brand_days.accepted_orders is 'Accepted by the service.';
comment on column reporting.brand_days.ready_orders is 'Yet to be sent, or in flight.';
comment on column reporting.brand_days.in_doubt_orders is 'In doubt.';
comment on column reporting.brand_days.held_orders is 'Held, or written off.';
comment on column reporting.brand_days.rejected_orders is 'Refused by the service.';
comment on column reporting.brand_days.attributed_amount is 'Revenue of all of them, in currency.';
comment on column reporting.brand_days.accepted_amount is 'Revenue of the accepted ones, in currency.';
comment on column reporting.brand_days.in_doubt_amount is 'Revenue of those in doubt, in currency.';

create table reporting.code_days (
  day_utc date not null,
  job text not null,
  source text not null,
  code_folded text not null,
  code text not null,
  carried_as text not null check (carried_as in ('code', 'link', 'explicit')),
  currency text not null,
  orders bigint not null,
  amount numeric(24,4) not null
);
create index code_days_day on reporting.code_days (day_utc);
comment on table reporting.code_days is 'Unattributed orders added up by day, job, source and the code, link or handle that nobody owns. An order with two such codes counts for both.';
comment on column reporting.code_days.day_utc is 'Day in UTC.';
comment on column reporting.code_days.job is 'Job.';
comment on column reporting.code_days.source is 'Source.';
comment on column reporting.code_days.code_folded is 'The code without blanks, in capitals: what spellings have in common.';
comment on column reporting.code_days.code is 'One spelling of it; e-mail addresses masked.';
comment on column reporting.code_days.carried_as is 'code, link (an order without a code), explicit (the export names a deal or handle).';
comment on column reporting.code_days.currency is 'ISO 4217.';
comment on column reporting.code_days.orders is 'Orders that carry it.';
comment on column reporting.code_days.amount is 'Their revenue, in currency.';

create table reporting.code_use_days (
  day_utc date not null,
  code_folded text not null,
  orders bigint not null check (orders > 0),
  without_link bigint not null,
  check (without_link between 0 and orders)
);
create index code_use_days_day on reporting.code_use_days (day_utc);
create index code_use_days_code on reporting.code_use_days (code_folded, day_utc);
comment on table reporting.code_use_days is 'Orders that carry a code, by day; cancelled orders and tests are left out, and so are codes that contain an e-mail address.';
comment on column reporting.code_use_days.day_utc is 'Day of the orders, in UTC.';
comment on column reporting.code_use_days.code_folded is 'The code without blanks, case folded: what it is matched by.';
comment on column reporting.code_use_days.orders is 'Orders that carry it.';
comment on column reporting.code_use_days.without_link is 'Of those: carry no link, so that only the code leads to a creator.';

create table reporting.deal_totals (
  target text not null,
  currency text not null,
  deal_id text,
  influencer_handle text,
  orders bigint not null,
  amount numeric(24,4) not null,
  primary key (target, currency)
);
create index deal_totals_rank on reporting.deal_totals (currency, amount desc, target) where orders > 0;
comment on table reporting.deal_totals is 'Accepted orders of deal_days added up over all days, one row for each influencer and currency.';
comment on column reporting.deal_totals.target is 'As in deal_days.';
comment on column reporting.deal_totals.currency is 'ISO 4217.';
comment on column reporting.deal_totals.deal_id is 'Deal, where an order names one.';
comment on column reporting.deal_totals.influencer_handle is 'Influencer, where an order names one.';
comment on column reporting.deal_totals.orders is 'How many; 0 if they were all credited to somebody else afterwards.';
comment on column reporting.deal_totals.amount is 'Their revenue, in currency.';

create table reporting.accepted_sums (
  job text not null,
  currency text not null,
  entries bigint not null check (entries > 0),
  amount numeric not null,
  oldest timestamptz not null,
  primary key (job, currency)
);
comment on table reporting.accepted_sums is 'Accepted entries of the ledger, added up: those with an id up to refresh.counted_entry_id that are not in uncounted_entries.';
comment on column reporting.accepted_sums.job is 'Job.';
comment on column reporting.accepted_sums.currency is 'ISO 4217; empty for entries without an amount.';
comment on column reporting.accepted_sums.entries is 'Number of entries.';
comment on column reporting.accepted_sums.amount is 'Their revenue as sent, in currency.';
comment on column reporting.accepted_sums.oldest is 'When the first of them was accepted.';

create table reporting.uncounted_entries (
  entry_id bigint primary key
);
comment on table reporting.uncounted_entries is 'Entries with an id up to refresh.counted_entry_id that were not accepted when they were last looked at.';
comment on column reporting.uncounted_entries.entry_id is 'Entry.';

create table reporting.conflicts (
  job text not null,
  source text not null,
  order_id text not null,
  ordered_at timestamptz not null,
  day_utc date not null,
  conflict text not null check (conflict in ('named', 'link_and_code', 'codes', 'links')),
  currency text not null,
  amount numeric(18,4) not null,
  disposition text not null check (disposition in ('accepted', 'ready', 'rejected', 'in_doubt', 'held')),
  target text,
  first_target text,
  last_target text,
  explicit_target text,
  primary key (job, source, order_id)
);
create index conflicts_day on reporting.conflicts (day_utc desc, job, source, order_id);
comment on table reporting.conflicts is 'Orders of intake.order_claims, one row each, as of the last refresh. Orders that are not credited to anybody are left out, unless they are held.';
comment on column reporting.conflicts.job is 'Job that decided.';
comment on column reporting.conflicts.source is 'Source of the order.';
comment on column reporting.conflicts.order_id is 'The order.';
comment on column reporting.conflicts.ordered_at is 'As in order_dispositions.';
comment on column reporting.conflicts.day_utc is 'Day of ordered_at in UTC.';
comment on column reporting.conflicts.conflict is 'named (the export names one owner, and a code or link another), link_and_code, codes or links.';
comment on column reporting.conflicts.currency is 'ISO 4217.';
comment on column reporting.conflicts.amount is 'Revenue, in currency, as in order_dispositions.';
comment on column reporting.conflicts.disposition is 'As in order_dispositions.';
comment on column reporting.conflicts.target is 'Who is credited, as in order_dispositions.';
comment on column reporting.conflicts.first_target is 'Owner of the first link or code. Null: it has two owners.';
comment on column reporting.conflicts.last_target is 'Owner of the last link or code. Null: it has two owners.';
comment on column reporting.conflicts.explicit_target is 'Owner whom the export names. Null: it names nobody.';

create table reporting.reconciliation (
  deal_id text primary key,
  first_read_at timestamptz,
  read_at timestamptz,
  theirs numeric,
  ours bigint not null,
  before numeric,
  others bigint not null,
  doubts bigint not null,
  written_off bigint not null,
  late bigint not null,
  credited_twice bigint not null,
  afterwards bigint not null,
  unexplained numeric,
  account_currency text,
  theirs_amount numeric,
  ours_amount numeric(24,4),
  other_currency bigint not null,
  unexplained_amount numeric(24,4),
  paid_amount numeric,
  run_id bigint not null,
  unproven numeric,
  unproven_amount numeric(24,4),
  doubts_amount numeric(24,4),
  doubt_ids bigint[]
);
comment on table reporting.reconciliation is 'What we posted against what the service counts, one row a deal. Replaced whole each time the mirror publishes.';
comment on column reporting.reconciliation.deal_id is 'Deal.';
comment on column reporting.reconciliation.first_read_at is 'When the mirror first read a total of orders; null: never.';
comment on column reporting.reconciliation.read_at is 'When it last did.';
comment on column reporting.reconciliation.theirs is 'Orders that the service counts, of all channels; null where it does not say.';
comment on column reporting.reconciliation.ours is 'Orders that we posted, and whose acceptance was recorded by read_at.';
comment on column reporting.reconciliation.before is 'What the service counted beyond ours at first_read_at.';
comment on column reporting.reconciliation.others is 'Orders posted by somebody else since, as events say.';
comment on column reporting.reconciliation.doubts is 'In doubt: may be counted or not.';
comment on column reporting.reconciliation.written_off is 'Written off: may be counted or not.';
comment on column reporting.reconciliation.late is 'On their way while the deal was read: may be counted or not.';
comment on column reporting.reconciliation.credited_twice is 'Further requests that the service accepted for an order: may be counted or not.';
comment on column reporting.reconciliation.afterwards is 'Accepted after read_at: not counted yet.';
comment on column reporting.reconciliation.unexplained is 'Orders that nothing else explains; above 0 the service counts more, below 0 fewer.';
comment on column reporting.reconciliation.account_currency is 'ISO 4217, of the amounts; null: unknown.';
comment on column reporting.reconciliation.theirs_amount is 'Sales that the service counts.';
comment on column reporting.reconciliation.ours_amount is 'Revenue of ours; null where an order is in another currency.';
comment on column reporting.reconciliation.other_currency is 'Orders in another currency whose amount in that of the account nobody says.';
comment on column reporting.reconciliation.unexplained_amount is 'Amount that nothing else explains; null: cannot be compared.';
comment on column reporting.reconciliation.paid_amount is 'Paid out in all, as the service says.';
comment on column reporting.reconciliation.run_id is 'Run of the mirror that published the totals.';
comment on column reporting.reconciliation.unproven is 'Growth of the total of orders beyond those that were certainly counted. Null: a total is unknown.';
comment on column reporting.reconciliation.unproven_amount is 'The same for sales, in account_currency. Null: cannot be compared.';
comment on column reporting.reconciliation.doubts_amount is 'Revenue of the orders in doubt, in account_currency. Null: none, or cannot be compared.';
comment on column reporting.reconciliation.doubt_ids is 'Entries in doubt, see ledger.entries. Null: none, more than 20, or growth says nothing about them, as for orders that were sent twice.';

-- reporting: what deals earned, brought and cost ------------------------------------------------------------

create table reporting.earning_rules (
  only_row boolean primary key default true check (only_row),
  rules_hash text not null
);
comment on table reporting.earning_rules is 'The rules by which order_earnings was computed. A reader with other rules does not use it.';
comment on column reporting.earning_rules.only_row is 'There is one row.';
comment on column reporting.earning_rules.rules_hash is 'Digest of the terms, the return window and the time zone. Empty: never computed.';

create table reporting.order_earnings (
  entry_id bigint primary key,
  source text,
  order_platform text,
  order_id text,
  ordered_on date not null,
  due_on date not null,
  deal_id text,
  collab_id text,
  brand_id text,
  influencer_handle text,
  currency text not null,
  sent_amount numeric(18,4) not null,
  net_amount numeric(18,4),
  excluded_amount numeric(18,4),
  rate_percent numeric,
  rate_from text,
  earned_amount numeric(18,4),
  closed_amount numeric(18,4),
  standing text not null
    check (standing in ('new', 'nothing', 'correction', 'settled', 'unknown_rate', 'unknown_lines',
      'unknown_net')),
  constraint only_an_unknown_net_is_null check ((net_amount is null) = (standing = 'unknown_net'))
);
create index order_earnings_deal on reporting.order_earnings (deal_id) where standing <> 'settled';
create index order_earnings_collab on reporting.order_earnings (collab_id) where collab_id is not null;
comment on table reporting.order_earnings is 'What each accepted order has earned, one row per order that this tool posted. Orders in changed_earnings may earn something else by now.';
comment on column reporting.order_earnings.entry_id is 'Entry of the ledger.';
comment on column reporting.order_earnings.source is 'Source of the order.';
comment on column reporting.order_earnings.order_platform is 'Shop platform as sent.';
comment on column reporting.order_earnings.order_id is 'Order as sent.';
comment on column reporting.order_earnings.ordered_on is 'Day of the order, in the time zone of the statements.';
comment on column reporting.order_earnings.due_on is 'Day from which it counts.';
comment on column reporting.order_earnings.deal_id is 'Deal that the service credited.';
comment on column reporting.order_earnings.collab_id is 'Collaboration that the service credited.';
comment on column reporting.order_earnings.brand_id is 'Brand.';
comment on column reporting.order_earnings.influencer_handle is 'Influencer, if known.';
comment on column reporting.order_earnings.currency is 'ISO 4217.';
comment on column reporting.order_earnings.sent_amount is 'Revenue as it was sent, in currency.';
comment on column reporting.order_earnings.net_amount is 'Revenue net of refunds and cancellations, in currency. Null: unknown, because what was refunded is.';
comment on column reporting.order_earnings.excluded_amount is 'Part of net_amount that earns nothing, because the terms exclude the product. Null: unknown.';
comment on column reporting.order_earnings.rate_percent is 'Commission in percent. Null: unknown.';
comment on column reporting.order_earnings.rate_from is 'Where the rate comes from: code or deal (of the terms), or service.';
comment on column reporting.order_earnings.earned_amount is 'What it has earned, in currency. Null: unknown.';
comment on column reporting.order_earnings.closed_amount is 'Sum of its lines in closed statements. Null: it has none.';
comment on column reporting.order_earnings.standing is 'new (it has earned something, and is in no closed statement), nothing (in none, and it has earned 0), correction (it has earned something else than its closed statements say), settled (the same), unknown_rate, unknown_lines, unknown_net.';

create table reporting.deal_earnings (
  currency text not null,
  deal_id text not null,
  standing text not null,
  ordered_month date not null,
  due_month date not null,
  influencer_handle text not null,
  orders bigint not null,
  net_amount numeric(24,4) not null,
  earned_amount numeric(24,4) not null,
  closed_amount numeric(24,4) not null,
  primary key (deal_id, currency, standing, ordered_month, due_month, influencer_handle)
);
create index deal_earnings_lines on reporting.deal_earnings (currency, deal_id)
  where standing in ('new', 'correction');
create index deal_earnings_ordered on reporting.deal_earnings (ordered_month)
  where standing in ('new', 'nothing');
create index deal_earnings_empty on reporting.deal_earnings (deal_id) where orders = 0;
create index deal_earnings_unknown on reporting.deal_earnings (standing, deal_id)
  where standing in ('unknown_rate', 'unknown_lines', 'unknown_net');
comment on table reporting.deal_earnings is 'order_earnings added up by deal, currency, standing, months and influencer, without settled orders.';
comment on column reporting.deal_earnings.currency is 'ISO 4217.';
comment on column reporting.deal_earnings.deal_id is 'Deal; empty if unknown.';
comment on column reporting.deal_earnings.standing is 'As in order_earnings.';
comment on column reporting.deal_earnings.ordered_month is 'First day of the month of ordered_on.';
comment on column reporting.deal_earnings.due_month is 'First day of the month of due_on.';
comment on column reporting.deal_earnings.influencer_handle is 'Influencer; empty if unknown.';
comment on column reporting.deal_earnings.orders is 'How many.';
comment on column reporting.deal_earnings.net_amount is 'Revenue net of refunds and cancellations, in currency.';
comment on column reporting.deal_earnings.earned_amount is 'What they have earned; 0 if unknown.';
comment on column reporting.deal_earnings.closed_amount is 'Sum of their lines in closed statements.';

create table reporting.earning_days (
  currency text not null,
  standing text not null,
  ordered_on date not null,
  due_on date not null,
  orders bigint not null,
  net_amount numeric(24,4) not null,
  earned_amount numeric(24,4) not null,
  closed_amount numeric(24,4) not null,
  primary key (currency, standing, ordered_on, due_on)
);
comment on table reporting.earning_days is 'order_earnings added up by currency, standing and day, without settled orders.';
comment on column reporting.earning_days.currency is 'ISO 4217.';
comment on column reporting.earning_days.standing is 'As in order_earnings.';
comment on column reporting.earning_days.ordered_on is 'Day of the orders.';
comment on column reporting.earning_days.due_on is 'Day from which they count.';
comment on column reporting.earning_days.orders is 'How many.';
comment on column reporting.earning_days.net_amount is 'Revenue net of refunds and cancellations, in currency.';
comment on column reporting.earning_days.earned_amount is 'What they have earned; 0 if unknown.';
comment on column reporting.earning_days.closed_amount is 'Sum of their lines in closed statements.';

create table reporting.statement_deals (
  statement_id bigint not null,
  deal_id text not null,
  currency text not null,
  orders bigint not null,
  commission_amount numeric(24,4) not null,
  correction_amount numeric(24,4) not null,
  fee_amount numeric(24,4) not null,
  paid_amount numeric(24,4) not null,
  primary key (statement_id, deal_id, currency)
);
create index statement_deals_deal on reporting.statement_deals (deal_id);
comment on table reporting.statement_deals is 'Lines of closed statements (ops.statement_lines), added up by deal and currency in the transaction that writes them.';
comment on column reporting.statement_deals.statement_id is 'Statement, see ops.statements.';
comment on column reporting.statement_deals.deal_id is 'Deal; empty for lines without one.';
comment on column reporting.statement_deals.currency is 'ISO 4217.';
comment on column reporting.statement_deals.orders is 'Orders that count for the first time.';
comment on column reporting.statement_deals.commission_amount is 'Commission for these orders, in currency.';
comment on column reporting.statement_deals.correction_amount is 'Corrections of earlier statements, in currency.';
comment on column reporting.statement_deals.fee_amount is 'Fixed fees, in currency.';
comment on column reporting.statement_deals.paid_amount is 'All three together, in currency.';

create table reporting.exchange_rates (
  currency text not null,
  day_local date not null,
  rate numeric(24,12) not null check (rate > 0),
  primary key (currency, day_local)
);
comment on table reporting.exchange_rates is 'Rates of statements.fx into statements.reporting_currency. Replaced when the file changes.';
comment on column reporting.exchange_rates.currency is 'ISO 4217.';
comment on column reporting.exchange_rates.day_local is 'Day, in statements.time_zone.';
comment on column reporting.exchange_rates.rate is 'What 1 of currency was worth on the day, in statements.reporting_currency.';

create table reporting.return_rules (
  only_row boolean primary key default true check (only_row),
  rules_hash text not null,
  margin_percent numeric(7,4),
  reporting_currency text
);
comment on table reporting.return_rules is 'By what reporting.return_months was added up: with other rules all of it is added up anew.';
comment on column reporting.return_rules.only_row is 'There is one row.';
comment on column reporting.return_rules.rules_hash is 'Digest of terms, rates, time zone, and since when customers are known.';
comment on column reporting.return_rules.margin_percent is 'statements.margin_percent; null: not configured.';
comment on column reporting.return_rules.reporting_currency is 'statements.reporting_currency; null: not configured.';

create table reporting.return_fees (
  month_utc date not null,
  deal_id text not null,
  currency text not null,
  fee_amount numeric(18,4) not null,
  fee_converted numeric(24,4),
  primary key (deal_id, month_utc, currency)
);
comment on table reporting.return_fees is 'Fixed fees of the terms. Replaced whole when the terms change.';
comment on column reporting.return_fees.month_utc is 'First day of the month in which it is owed.';
comment on column reporting.return_fees.deal_id is 'Deal; empty for the fee of a code.';
comment on column reporting.return_fees.currency is 'ISO 4217.';
comment on column reporting.return_fees.fee_amount is 'Fee, in currency.';
comment on column reporting.return_fees.fee_converted is 'Fee in the reporting currency, at the rate of valid_from; null: unknown.';

create table reporting.return_months (
  month_utc date not null,
  deal_id text not null,
  brand_id text not null,
  currency text not null,
  influencer_handle text,
  orders bigint not null check (orders > 0),
  sent_amount numeric(24,4) not null,
  net_amount numeric(24,4) not null,
  commission_amount numeric(24,4) not null,
  unrated_orders bigint not null,
  new_customers bigint not null,
  returning_orders bigint not null,
  unknown_orders bigint not null,
  repeat_customers bigint not null,
  net_30_amount numeric(24,4) not null,
  net_90_amount numeric(24,4) not null,
  net_365_amount numeric(24,4) not null,
  last_won_at timestamptz,
  fee_amount numeric(18,4) not null default 0,
  net_converted numeric(24,4) not null default 0,
  commission_converted numeric(24,4) not null default 0,
  fee_converted numeric(24,4),
  unconverted_orders bigint not null default 0,
  unlined_orders bigint not null default 0,
  unvalued_orders bigint not null default 0,
  primary key (deal_id, month_utc, brand_id, currency)
);
create index return_months_month on reporting.return_months (month_utc);
comment on table reporting.return_months is 'What accepted orders of a deal came to, and the customers whose first order they are, one row a month, deal, brand and currency.';
comment on column reporting.return_months.month_utc is 'First day of the month of the orders, in UTC.';
comment on column reporting.return_months.deal_id is 'Deal that the service credited.';
comment on column reporting.return_months.brand_id is 'Brand; empty where it is unknown.';
comment on column reporting.return_months.currency is 'ISO 4217.';
comment on column reporting.return_months.influencer_handle is 'Influencer, where an order names one.';
comment on column reporting.return_months.orders is 'Orders that we posted and the service accepted.';
comment on column reporting.return_months.sent_amount is 'Revenue as sent.';
comment on column reporting.return_months.net_amount is 'Revenue net of refunds and cancellations.';
comment on column reporting.return_months.commission_amount is 'Commission of orders whose rate is known, as in statements.';
comment on column reporting.return_months.unrated_orders is 'Orders whose rate nobody says: their commission is not in commission_amount.';
comment on column reporting.return_months.new_customers is 'Orders that are the first known one of their customer.';
comment on column reporting.return_months.returning_orders is 'Orders of customers who had ordered before.';
comment on column reporting.return_months.unknown_orders is 'Orders of which it is unknown: without a key of the customer, or too soon after keys begin.';
comment on column reporting.return_months.repeat_customers is 'Of new_customers: those who have ordered again since, whatever brought them.';
comment on column reporting.return_months.net_30_amount is 'Net revenue of all orders of new_customers in this currency, in 30 days from the first.';
comment on column reporting.return_months.net_90_amount is 'The same, in 90 days.';
comment on column reporting.return_months.net_365_amount is 'The same, in 365 days.';
comment on column reporting.return_months.last_won_at is 'First order of the last of new_customers.';
comment on column reporting.return_months.fee_amount is 'Fixed fees of the terms that begin in the month; of a deal with several brands, beside the first.';
comment on column reporting.return_months.net_converted is 'net_amount in the reporting currency, each order at the rate of its day.';
comment on column reporting.return_months.commission_converted is 'The same of commission_amount.';
comment on column reporting.return_months.fee_converted is 'The same of fee_amount; null: unknown.';
comment on column reporting.return_months.unconverted_orders is 'Orders in another currency for whose day no rate is known: they are in no converted amount.';
comment on column reporting.return_months.unlined_orders is 'Orders whose terms exclude products, and of which it is unknown what was bought.';
comment on column reporting.return_months.unvalued_orders is 'Orders whose net revenue is unknown, because what was refunded is: they are in no amount but sent_amount.';

-- What is append-only stays so, whoever tries ---------------------------------------------------------------

-- What is append-only stays so, whoever tries.
create function ledger.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger.% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
comment on function ledger.refuse_change() is 'Trigger: refuses UPDATE, DELETE and TRUNCATE.';
create trigger append_only before update or delete or truncate on ledger.attempts
  for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.answers
  for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.evidence
  for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.decisions
  for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.adjustments
  for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.seeds
  for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.seed_undos
  for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.recoveries
  for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.lost_claims
  for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.recovered_claims
  for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.changes
  for each statement execute function ledger.refuse_change();

create function ops.refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'ops.audit is append-only';
end $$;
comment on function ops.refuse_audit_change() is 'Refuses to change or delete a row of ops.audit.';
create trigger audit_is_append_only before update or delete on ops.audit
  for each row execute function ops.refuse_audit_change();

create function ops.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'Closed statements are never changed: % of %.%', tg_op, tg_table_schema, tg_table_name
    using hint = 'What has changed since is a correction in the next statement.';
end $$;
comment on function ops.refuse_change() is 'Refuses whatever would change a closed statement.';
create trigger statements_are_closed before update or delete or truncate on ops.statements
  for each statement execute function ops.refuse_change();
create trigger statement_lines_are_closed before update or delete or truncate on ops.statement_lines
  for each statement execute function ops.refuse_change();

-- Entries note what happens to them -------------------------------------------------------------------------

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

-- A process of the version before would not find an order under its folded key, and make a second entry.
create function ledger.refuse_written_key() returns trigger language plpgsql as $refuse$
begin
  raise exception 'the key of this order is spelled as earlier versions did: stop the processes of the earlier version'
    using errcode = 'check_violation';
end $refuse$;
comment on function ledger.refuse_written_key() is 'Trigger: refuses a new referral whose key is not folded, which only processes of an earlier version make.';
create trigger key_is_folded before insert on ledger.entries for each row
  when (new.effect = 'referral' and new.order_key is null
    and new.key = ledger.written_key(new.order_platform, new.order_id)
    and new.key <> ledger.order_key(new.order_platform, new.order_id))
  execute function ledger.refuse_written_key();

-- Changes are recorded under the name of who makes them -----------------------------------------------------

-- Whoever may only decide about entries, and not write the tables of the ledger and the audit, does it
-- through these functions. They record the user of the database session, so that nobody decides under the
-- name of somebody else, or without a decision.

create function ops.acting_name(p_name text) returns text
  language sql stable set search_path = pg_catalog, pg_temp as $body$
  select case when has_table_privilege(session_user, 'ops.audit', 'insert') then p_name else session_user || ' (' || p_name || ')' end
$body$;
comment on function ops.acting_name(text) is 'Name under which a change is recorded. The program, which may write ops.audit, tells it (a console signs people in); anybody else is the user of the session, with the given name behind it.';

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
create trigger record_actor before update of acknowledged_by on intake.check_findings
  for each row execute function ops.record_actor('acknowledged_by');
create trigger record_actor before insert or update of created_by on intake.expected_dates
  for each row execute function ops.record_actor('created_by');
create trigger record_actor before insert or update of assigned_by on intake.code_assignments
  for each row execute function ops.record_actor('assigned_by');
create trigger record_actor before insert or update of decided_by on intake.rulings
  for each row execute function ops.record_actor('decided_by');
create trigger record_actor before insert or update of decided_by on ledger.recoveries
  for each row execute function ops.record_actor('decided_by');
create trigger record_actor before insert or update of seeded_by on ledger.seeds
  for each row execute function ops.record_actor('seeded_by');
create trigger record_actor before insert or update of undone_by on ledger.seed_undos
  for each row execute function ops.record_actor('undone_by');
create trigger record_actor before insert or update of approved_by on ops.backfills
  for each row execute function ops.record_actor('approved_by');
create trigger record_actor before insert or update of created_by, confirmed_by, aborted_by on ops.bulk_actions
  for each row execute function ops.record_actor('created_by', 'confirmed_by', 'aborted_by');
create trigger record_actor before insert or update of paused_by on ops.paused_jobs
  for each row execute function ops.record_actor('paused_by');
create trigger record_actor before insert or update of requested_by on ops.slots
  for each row execute function ops.record_actor('requested_by');
create trigger record_actor before insert or update of closed_by on ops.statements
  for each row execute function ops.record_actor('closed_by');

create function ops.record_audit(p_record jsonb) returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp as $body$
  insert into ops.audit (actor, via, action, subject_kind, subject, summary, reason, before, after, filter, bulk_id)
  values (ops.acting_name(p_record ->> 'actor'),
    case when has_table_privilege(session_user, 'ops.audit', 'insert') then p_record ->> 'via' else 'command' end,
    p_record ->> 'action', p_record ->> 'subject_kind', p_record ->> 'subject', p_record ->> 'summary', p_record ->> 'reason',
    nullif(p_record -> 'before', 'null'), nullif(p_record -> 'after', 'null'), nullif(p_record -> 'filter', 'null'),
    (p_record ->> 'bulk_id')::bigint)
  returning audit_id
$body$;
revoke execute on function ops.record_audit(jsonb) from public;
comment on function ops.record_audit(jsonb) is 'Writes a row of ops.audit, and returns its audit_id. The members are the columns.';

create function ledger.decide(p_entry_id bigint, p_decision text, p_shown_state text, p_shown_attempt integer,
    p_decided_by text, p_reason text, p_deal_id text, p_collab_id text)
  returns table (done boolean, state text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  found_state text;
  found_attempt integer;
  applies boolean;
begin
  select e.state, e.attempt into found_state, found_attempt from ledger.entries e where e.entry_id = p_entry_id for update;
  applies := case p_decision when 'accept' then found_state = 'in_doubt' when 'write_off' then found_state = 'in_doubt'
    when 'resend' then found_state in ('in_doubt', 'rejected') end;
  if applies is not true or (p_shown_state is not null and (p_shown_state, p_shown_attempt) is distinct from (found_state, found_attempt)) then
    return query select false, found_state;
    return;
  end if;
  insert into ledger.decisions (entry_id, decision, attempt, decided_by, reason)
  values (p_entry_id, p_decision, found_attempt, ops.acting_name(p_decided_by), p_reason);
  return query update ledger.entries e set
    state = case p_decision when 'accept' then 'accepted' when 'write_off' then 'written_off' else 'ready' end,
    state_reason = case p_decision when 'accept' then 'accepted by decision' when 'write_off' then 'written off by decision' end,
    deal_id = case when p_decision = 'accept' then coalesce(p_deal_id, e.deal_id) else e.deal_id end,
    collab_id = case when p_decision = 'accept' then coalesce(p_collab_id, e.collab_id) else e.collab_id end,
    resends_approved = e.resends_approved + (p_decision = 'resend')::integer,
    not_before = case when p_decision = 'resend' then null else e.not_before end,
    state_changed_at = clock_timestamp()
    where e.entry_id = p_entry_id returning true, e.state;
end $body$;
revoke execute on function ledger.decide(bigint, text, text, integer, text, text, text, text) from public;
comment on function ledger.decide(bigint, text, text, integer, text, text, text, text) is 'Changes an entry by a decision of a person (accept, write_off, resend), and records the decision. Does nothing if the entry is in a state that the decision may not change, or is not as it was shown. Returns whether it did, and the state of the entry now; null: there is no such entry.';

create function ledger.acknowledge_double_credit(p_entry_id bigint, p_credits bigint, p_decided_by text,
    p_reason text)
  returns table (done boolean, state text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  found_state text;
  found_attempt integer;
begin
  select e.state, e.attempt into found_state, found_attempt from ledger.entries e
  where e.entry_id = p_entry_id and exists (
    select from ledger.double_credits d where d.entry_id = e.entry_id and (p_credits is null or d.credits = p_credits))
  for update of e;
  if found_state is null then
    return query select false, null::text;
    return;
  end if;
  insert into ledger.decisions (entry_id, decision, attempt, decided_by, reason)
  values (p_entry_id, 'acknowledge', found_attempt, ops.acting_name(p_decided_by), p_reason);
  return query select true, found_state;
end $body$;
revoke execute on function ledger.acknowledge_double_credit(bigint, bigint, text, text) from public;
comment on function ledger.acknowledge_double_credit(bigint, bigint, text, text) is 'Records that a person has dealt with a double credit at the service. The entry does not change.';

create function ledger.reap_lost() returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp as $body$
  with durable as materialized (select set_config('synchronous_commit', 'on', true)),
  lost as (
    update ledger.entries e
    set state = 'in_doubt', owner = null, doubtful_attempt = coalesce(e.doubtful_attempt, e.attempt),
        doubted_at = coalesce(e.doubted_at, e.state_changed_at),
        state_reason = 'its process was gone before the answer was recorded', state_changed_at = clock_timestamp()
    from durable
    where not e.is_settled and e.state = 'sending'
      and not exists (select 1 from ops.leases l where l.owner = e.owner and l.expires_at > clock_timestamp())
    returning e.entry_id, e.attempt, e.state_reason
  ),
  logged as (
    insert into ledger.answers (entry_id, attempt, kind, message, via, applied)
    select entry_id, attempt, 'lease_over', state_reason, 'reaper', true from lost
  )
  select count(*) from lost
$body$;
revoke execute on function ledger.reap_lost() from public;
comment on function ledger.reap_lost() is 'Makes the entries whose process is gone doubts, and returns their number.';

-- What only the owner of the tables may do, for the role that runs jobs -------------------------------------

-- Only its owner may analyse a table, and runs are to be done by another role.
create function ops.analyze_table(wanted regclass) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
  set default_statistics_target = 25 as $analyze$
begin
  if not exists (
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = wanted and c.relkind = 'r' and n.nspname in ('ops', 'intake', 'ledger', 'mirror', 'reporting')) then
    raise exception '% is not one of our tables', wanted using errcode = 'invalid_parameter_value';
  end if;
  execute format('analyze (skip_locked) %s', wanted);
end $analyze$;
revoke execute on function ops.analyze_table(regclass) from public;
comment on function ops.analyze_table(regclass) is 'Analyses a table of ours, with the rights of its owner. Where another process is at it, it does nothing.';

create function ops.rename_job(p_old text, p_new text) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  entries bigint;
begin
  update ledger.entries set job = p_new where job = p_old;
  get diagnostics entries = row_count;
  update intake.attributions set job = p_new where job = p_old;
  update intake.attributed_files set job = p_new where job = p_old;
  update intake.order_claims set job = p_new where job = p_old;
  update intake.code_lists set job = p_new where job = p_old;
  update intake.codes set job = p_new where job = p_old;
  update intake.code_assignments set job = p_new where job = p_old;
  update intake.revenue_rules set job = p_new where job = p_old;
  update intake.clicks set job = p_new where job = p_old;
  update intake.creators set job = p_new where job = p_old;
  update intake.outreach_candidates set job = p_new where job = p_old;
  update intake.identify_batches set job = p_new where job = p_old;
  update intake.waiting_batches set job = p_new where job = p_old;
  update reporting.accepted_sums set job = p_new where job = p_old;
  update reporting.counted_files set job = p_new where job = p_old;
  update reporting.order_dispositions set job = p_new where job = p_old;
  update reporting.conflicts set job = p_new where job = p_old;
  update reporting.code_days set job = p_new where job = p_old;
  update reporting.funnel_days set job = p_new where job = p_old;
  update ops.backfills set job = p_new where job = p_old;
  -- Whoever paused it wants nothing to be sent, under whatever name.
  update ops.paused_jobs set job = p_new where job = p_old and not exists (select from ops.paused_jobs where job = p_new);
  return entries;
end $body$;
revoke execute on function ops.rename_job(text, text) from public;
comment on function ops.rename_job(text, text) is 'Gives what a job has decided, sent and earned to the job that continues it under another name, and returns the number of its entries. What tells its history (runs, schedules, problems, units of work) keeps the old name.';

create function ledger.raise_claim_numbers(above bigint) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $raise$
begin
  -- It changes nothing, but no other session draws a number from here until this transaction ends. Without it, a number
  -- that is drawn between the comparison and setval could be drawn again. Only the owner may do this.
  alter sequence ledger.claim_numbers increment by 1;
  perform setval('ledger.claim_numbers', above) from ledger.claim_numbers
    where last_value < above or (last_value = above and not is_called);
end $raise$;
revoke execute on function ledger.raise_claim_numbers(bigint) from public;
comment on function ledger.raise_claim_numbers(bigint) is 'Makes sure that the next claim has a number above the given one, and above each that was drawn.';

-- A dump that is restored is another database or cluster, and a standby that takes over begins a new timeline.
-- `pg_restore --clean` keeps all three, but makes every table anew. Null where a server keeps that to itself.
create function ledger.place() returns text language plpgsql volatile as $$
begin
  return (select system_identifier::text from pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (select oid::text from pg_database where datname = current_database())
    || '/' || ('ledger.identity'::regclass)::oid::text;
exception when others then
  return null;
end
$$;
comment on function ledger.place() is 'Where this database is: cluster, timeline, database and the table that says so.';

-- Earnings that have to be computed again -------------------------------------------------------------------

-- Each change that can affect what an order has earned is noted in its transaction, once for each statement:
-- a reader computes the noted orders, and takes the others from reporting.order_earnings. The functions have
-- the rights of the owner, since a person who settles a doubt may change the ledger and not the reports.

create function reporting.note_inserted_entries() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id)
  select entry_id from new_rows where effect = 'referral' and state = 'accepted';
  return null;
end $note$;
comment on function reporting.note_inserted_entries() is 'Notes that entries which were accepted at once have earned something.';
create trigger note_earnings_inserted after insert on ledger.entries referencing new table as new_rows
  for each statement execute function reporting.note_inserted_entries();

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
create trigger note_earnings_updated after update on ledger.entries
  referencing old table as old_rows new table as new_rows
  for each statement execute function reporting.note_updated_entries();

create function reporting.note_changed_entry() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id) values (new.entry_id);
  return null;
end $note$;
comment on function reporting.note_changed_entry() is 'Notes that the entry of a row may have earned something else.';
create trigger note_earnings after insert on ledger.adjustments
  for each row execute function reporting.note_changed_entry();

create function reporting.note_inserted_attributions() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id) select entry_id from new_rows where entry_id is not null;
  return null;
end $note$;
comment on function reporting.note_inserted_attributions() is 'Notes that the entries of new attributions may have earned something else.';
create trigger note_earnings_inserted after insert on intake.attributions referencing new table as new_rows
  for each statement execute function reporting.note_inserted_attributions();

-- The outcome decides whether an order earns, and the code that won decides its rate.
create function reporting.note_changed_attribution() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id)
  select c.entry_id
  from (
    select entry_id from (
      select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle from new_rows
      except select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle from old_rows) n
    union
    select entry_id from (
      select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle from old_rows
      except select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle from new_rows) o
  ) c
  left join lateral (
    select e.xmin from ledger.entries e where e.entry_id = c.entry_id limit 1) e on true
  where c.entry_id is not null and e.xmin is distinct from pg_current_xact_id()::xid;
  return null;
end $note$;
comment on function reporting.note_changed_attribution() is 'Notes that the entries of changed attributions may have earned something else, except those that the transaction has made.';
create trigger note_earnings_updated after update on intake.attributions
  referencing old table as old_rows new table as new_rows
  for each statement execute function reporting.note_changed_attribution();

create function reporting.note_deleted_attributions() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id) select entry_id from old_rows where entry_id is not null;
  return null;
end $note$;
comment on function reporting.note_deleted_attributions() is 'Notes that the entries of deleted attributions may have earned something else.';
create trigger note_earnings_deleted after delete on intake.attributions referencing old table as old_rows
  for each statement execute function reporting.note_deleted_attributions();

create function reporting.note_changed_rate() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (collab_id) select distinct c from unnest(array[old.collab_id, new.collab_id]) as c where c is not null;
  return null;
end $note$;
comment on function reporting.note_changed_rate() is 'Notes that the orders of a collaboration may have earned something else.';
create trigger note_earnings_inserted after insert on mirror.collaboration_versions
  for each row when (new.commission_perc is not null) execute function reporting.note_changed_rate();
create trigger note_earnings_updated
  after update of collab_id, commission_perc, valid_from on mirror.collaboration_versions
  for each row
  when ((old.collab_id, old.commission_perc, old.valid_from)
    is distinct from (new.collab_id, new.commission_perc, new.valid_from))
  execute function reporting.note_changed_rate();
create trigger note_earnings_deleted after delete on mirror.collaboration_versions
  for each row when (old.commission_perc is not null) execute function reporting.note_changed_rate();

create function reporting.note_changed_revenue() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id)
  select entry_id from intake.attributions where job = new.job and source = new.source and entry_id is not null;
  return null;
end $note$;
comment on function reporting.note_changed_revenue() is 'Notes that the orders of a job and a source may have earned something else, because their amounts may now include other refunds.';
create trigger note_earnings after insert or update on intake.revenue_rules
  for each row execute function reporting.note_changed_revenue();

create function reporting.note_closed_lines() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id) select entry_id from closed_lines where entry_id is not null;
  return null;
end $note$;
comment on function reporting.note_closed_lines() is 'Notes that the orders of a closed statement have been closed.';
create trigger note_earnings after insert on ops.statement_lines referencing new table as closed_lines
  for each statement execute function reporting.note_closed_lines();

create function reporting.add_closed_lines() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.statement_deals as d
    (statement_id, deal_id, currency, orders, commission_amount, correction_amount, fee_amount, paid_amount)
  select statement_id, coalesce(deal_id, ''), currency, count(*) filter (where kind = 'order'),
    coalesce(sum(amount) filter (where kind = 'order'), 0), coalesce(sum(amount) filter (where kind = 'correction'), 0),
    coalesce(sum(amount) filter (where kind = 'fixed_fee'), 0), sum(amount)
  from closed_lines group by 1, 2, 3
  on conflict (statement_id, deal_id, currency) do update
  set orders = d.orders + excluded.orders, commission_amount = d.commission_amount + excluded.commission_amount,
    correction_amount = d.correction_amount + excluded.correction_amount, fee_amount = d.fee_amount + excluded.fee_amount,
    paid_amount = d.paid_amount + excluded.paid_amount;
  return null;
end $note$;
comment on function reporting.add_closed_lines() is 'Adds lines of closed statements to reporting.statement_deals.';
create trigger add_up after insert on ops.statement_lines referencing new table as closed_lines
  for each statement execute function reporting.add_closed_lines();

-- First rows ------------------------------------------------------------------------------------------------

insert into reporting.refresh default values;
insert into reporting.refresh_partitions values (0), (1);
insert into reporting.earning_rules (rules_hash) values ('');
insert into reporting.return_rules (rules_hash) values ('');
