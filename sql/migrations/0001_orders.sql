-- Orders end to end: what was read (intake), what may be sent and what became of it (ledger), what ran (ops).
-- Runs on Postgres 15 and later, and on PGlite.

create schema ops;
comment on schema ops is 'What ran, when, and who holds what.';
create schema intake;
comment on schema intake is 'What was read from exports: files, orders, rejected rows, codes.';
create schema ledger;
comment on schema ledger is 'What may be sent to the service, what was sent, and what became of it. The truth about money.';

-- ops ------------------------------------------------------------------------------------------------------------------

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
  status text not null default 'running' check (status in ('running', 'ok', 'issues', 'failed', 'interrupted')),
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  host text not null,
  pid integer not null,
  exit_code integer,
  counts jsonb,
  amounts jsonb,
  problem text,
  check ((status = 'running') = (finished_at is null))
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
comment on column ops.runs.exit_code is 'What the process told its caller.';
comment on column ops.runs.counts is 'The counts of the run_finished event.';
comment on column ops.runs.amounts is 'Accepted in this run, per currency: [{currency, accepted}].';
comment on column ops.runs.problem is 'Why it failed, with no secrets, row values or addresses.';

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
comment on column ops.leases.name is 'worker:<owner>, job:<job> or source:<source>.';
comment on column ops.leases.owner is 'Random id of the process that holds it.';
comment on column ops.leases.fence is 'Grows each time the lease changes hands.';
comment on column ops.leases.expires_at is 'Pushed forward by heartbeats.';
comment on column ops.leases.acquired_at is 'When this owner took it.';
comment on column ops.leases.host is 'Name of the machine.';
comment on column ops.leases.pid is 'Process id on that machine.';

-- intake ---------------------------------------------------------------------------------------------------------------

create table intake.source_files (
  source_file_id bigint generated always as identity primary key,
  source text not null,
  uri text not null,
  version text not null,
  size_bytes bigint not null check (size_bytes >= 0),
  layout text not null,
  layout_hash text not null,
  state text not null default 'reading' check (state in ('reading', 'sealed', 'held', 'duplicate')),
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
  unique (source, uri, version),
  constraint sealed_files_add_up check (state <> 'sealed' or (sealed_at is not null and rows_read = order_rows + rejected_rows)),
  constraint held_files_say_why check ((state = 'held') = (hold_code is not null)),
  constraint only_a_reading_file_has_a_reader check ((state = 'reading') = (reader is not null)),
  constraint duplicates_name_their_original check ((state = 'duplicate') = (duplicate_of is not null))
);
create index source_files_content on intake.source_files (source, content_sha256) where state = 'sealed';
create index source_files_run on intake.source_files (run_id);
comment on table intake.source_files is 'One row a version of an export file. Its orders count only once it is sealed.';
comment on column intake.source_files.source_file_id is 'Counts up.';
comment on column intake.source_files.source is 'Name of the source in pipeline.yaml.';
comment on column intake.source_files.uri is 'Where it was read.';
comment on column intake.source_files.version is 'ETag or version id (S3) or digest of the content (folder). With source and uri the identity of the file.';
comment on column intake.source_files.size_bytes is 'As stored, before decompression.';
comment on column intake.source_files.layout is 'Layout it was read with.';
comment on column intake.source_files.layout_hash is 'Digest of the layout and the source''s settings: a held file is read again when it changes.';
comment on column intake.source_files.state is 'reading (not postable), sealed (read whole, rows add up), held (kept back, see hold_…), duplicate (same content as another file).';
comment on column intake.source_files.reader is 'Process that reads it now.';
comment on column intake.source_files.content_sha256 is 'Digest of the decoded content.';
comment on column intake.source_files.duplicate_of is 'The sealed file with the same content.';
comment on column intake.source_files.hold_code is 'Machine name of the reason for holding it.';
comment on column intake.source_files.hold_message is 'What is wrong with it.';
comment on column intake.source_files.hold_help is 'How to mend it.';
comment on column intake.source_files.hold_is_transient is 'Nobody has to mend it: the next run reads the file again.';
comment on column intake.source_files.rows_read is 'Records in the file, header excluded.';
comment on column intake.source_files.orders_new is 'Orders first seen in this file.';
comment on column intake.source_files.orders_changed is 'Orders known before, with other content here.';
comment on column intake.source_files.orders_unchanged is 'Orders known before with the same content.';
comment on column intake.source_files.order_rows is 'Records that became part of an order.';
comment on column intake.source_files.rejected_rows is 'Records that could not be used.';
comment on column intake.source_files.run_id is 'Run that read it last.';
comment on column intake.source_files.first_seen_at is 'When it was first opened.';
comment on column intake.source_files.sealed_at is 'When its orders began to count.';

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
  first_seen_at timestamptz not null default now()
);
create unique index orders_current on intake.orders (source, order_id) where is_current;
create unique index orders_in_file on intake.orders (source_file_id, order_id);
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
comment on column intake.orders.exclusion is 'Set by a rule of the layout (test, draft, cancelled, …): never posted.';
comment on column intake.orders.line_no is 'Physical line of its first row.';
comment on column intake.orders.record_no is 'Record number of its first row.';
comment on column intake.orders.row_count is 'Rows of the file folded into it.';
comment on column intake.orders.conflicting_line_no is 'Line where the same file states the order again, differently; such an order is rejected at sealing.';
comment on column intake.orders.replaces is 'Version that was in force when this one was staged; null for the first one.';
comment on column intake.orders.first_seen_at is 'When this version was stored.';

create table intake.order_continuations (
  source_file_id bigint not null references intake.source_files,
  group_key text not null,
  line_no bigint not null,
  record_no bigint not null,
  row_count integer not null check (row_count > 0),
  primary key (source_file_id, line_no)
);
comment on table intake.order_continuations is 'Rows of a file being read that belong to an order whose first row stands elsewhere. Settled and emptied at sealing.';
comment on column intake.order_continuations.source_file_id is 'File being read.';
comment on column intake.order_continuations.group_key is 'The order they belong to.';
comment on column intake.order_continuations.line_no is 'Physical line of the first of them.';
comment on column intake.order_continuations.record_no is 'Record number of the first of them.';
comment on column intake.order_continuations.row_count is 'How many rows.';

create table intake.order_sightings (
  source_file_id bigint not null references intake.source_files,
  order_version_ids bigint[] not null,
  line_nos bigint[] not null,
  record_nos bigint[] not null,
  row_counts bigint[] not null,
  cancelled bigint not null
);
create index order_sightings_file on intake.order_sightings (source_file_id);
comment on table intake.order_sightings is 'Orders of a file being read that say what is known already, one row a batch. Settled and emptied at sealing.';
comment on column intake.order_sightings.source_file_id is 'File being read.';
comment on column intake.order_sightings.order_version_ids is 'Current versions that the file repeats.';
comment on column intake.order_sightings.line_nos is 'Physical line of each.';
comment on column intake.order_sightings.record_nos is 'Record number of each.';
comment on column intake.order_sightings.row_counts is 'Rows of each.';
comment on column intake.order_sightings.cancelled is 'How many of them are cancelled.';

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
comment on column intake.rejected_rows.source_file_id is 'File it stands in.';
comment on column intake.rejected_rows.line_no is 'Physical line on which the record begins, 1-based.';
comment on column intake.rejected_rows.record_no is '1-based, header excluded.';
comment on column intake.rejected_rows.code is 'Machine name of the problem.';
comment on column intake.rejected_rows.column_name is 'Header of the column at fault.';
comment on column intake.rejected_rows.value is 'The value at fault, cut, e-mail addresses masked.';
comment on column intake.rejected_rows.reason is 'What is wrong.';
comment on column intake.rejected_rows.help is 'How to mend it.';
comment on column intake.rejected_rows.row_count is 'Rows it stands for: more than one when a whole order is rejected.';
comment on column intake.rejected_rows.run_id is 'Run that met it.';
comment on column intake.rejected_rows.first_seen_at is 'When it was met.';

create table intake.codes (
  job text not null,
  code_folded text not null,
  code text not null,
  line_no integer not null,
  brand_id text,
  influencer_handle text,
  handle_folded text,
  deal_id text,
  collab_id text,
  target text not null,
  valid_from timestamptz,
  valid_to timestamptz,
  primary key (job, line_no)
);
create index codes_by_code on intake.codes (job, code_folded);
comment on table intake.codes is 'Who owns which discount code, as codes.csv of each job says. Replaced as a whole when the file changes.';
comment on column intake.codes.job is 'Job that reads the file.';
comment on column intake.codes.code_folded is 'Code without blanks, case folded: what orders are matched by.';
comment on column intake.codes.code is 'Code as written.';
comment on column intake.codes.line_no is 'Line in codes.csv.';
comment on column intake.codes.brand_id is 'Brand the code belongs to; null: the job''s brand.';
comment on column intake.codes.influencer_handle is 'Influencer who owns it.';
comment on column intake.codes.handle_folded is 'Handle without blanks and @, case folded: what links are matched by.';
comment on column intake.codes.deal_id is 'Deal it belongs to.';
comment on column intake.codes.collab_id is 'Collaboration it belongs to.';
comment on column intake.codes.target is 'What tells two owners apart: deal, else collaboration, else handle.';
comment on column intake.codes.valid_from is 'First instant at which it counts; null: always.';
comment on column intake.codes.valid_to is 'First instant at which it no longer counts; null: never ends.';

create table intake.code_lists (
  job text primary key,
  content_hash text not null,
  loaded_at timestamptz not null default now()
);
comment on table intake.code_lists is 'Which codes.csv each job has loaded.';
comment on column intake.code_lists.job is 'Job that reads the file.';
comment on column intake.code_lists.content_hash is 'Digest of the loaded codes: another one, and orders are matched again.';
comment on column intake.code_lists.loaded_at is 'When they last changed.';

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
  primary key (job, source, order_id),
  constraint attributed_names_its_target check ((outcome = 'attributed') = (target is not null)),
  constraint not_attributed_says_why check (outcome in ('attributed', 'organic') or reason is not null)
);
create index attributions_entry on intake.attributions (entry_id) where entry_id is not null;
create index attributions_pending on intake.attributions (job) where is_pending;
create index attributions_outcome on intake.attributions (job, outcome, reason);
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

-- ledger ---------------------------------------------------------------------------------------------------------------

create table ledger.entries (
  entry_id bigint generated always as identity primary key,
  effect text not null check (effect in ('referral', 'click', 'create_deal', 'note', 'task')),
  account_id text not null,
  key text not null,
  state text not null check (state in ('held', 'ready', 'sending', 'accepted', 'rejected', 'in_doubt', 'written_off')),
  is_settled boolean not null generated always as (state in ('accepted', 'rejected', 'written_off')) stored,
  attempt integer not null default 0 check (attempt >= 0),
  not_sent integer not null default 0 check (not_sent >= 0),
  resends_approved integer not null default 0 check (resends_approved >= 0),
  doubtful_attempt integer check (doubtful_attempt between 1 and attempt),
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
  unique (account_id, effect, key),
  constraint sending_has_an_owner check ((state = 'sending') = (owner is not null)),
  constraint sending_was_claimed check (state <> 'sending' or attempt > 0),
  constraint in_doubt_was_sent check (state <> 'in_doubt' or (doubtful_attempt is not null and state_reason is not null)),
  constraint accepted_says_by_whom check (state <> 'accepted' or deal_id is not null or collab_id is not null or state_reason is not null),
  constraint rejected_hides_no_doubt check (state <> 'rejected' or (doubtful_attempt is null and state_reason is not null)),
  constraint held_says_why check (state <> 'held' or state_reason is not null),
  constraint sends_are_approved check (attempt <= 1 + not_sent + resends_approved)
) with (fillfactor = 70);
-- On is_settled, not on state: so a claim (ready → sending) changes no indexed column and stays a cheap heap-only update.
create index entries_unsettled on ledger.entries (job, entry_id) where not is_settled;
comment on table ledger.entries is 'One row for each effect that must not be repeated, with its frozen request. The state is a cache of attempts, answers, evidence and decisions.';
comment on column ledger.entries.entry_id is 'Counts up.';
comment on column ledger.entries.effect is 'Which operation: referral, click, create_deal, note, task.';
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
comment on column ledger.entries.body is 'Frozen request body, exact JSON text.';
comment on column ledger.entries.body_hash is 'Digest of body.';
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

-- No foreign keys on attempts and answers: each is written in the same statement as the entry it is about (claim.ts, record.ts), and the
-- checks would cost as much as the rows.
create table ledger.attempts (
  entry_id bigint not null,
  attempt integer not null,
  claim_id uuid not null,
  owner uuid not null,
  run_id bigint not null,
  body_hash text not null,
  claimed_at timestamptz not null default clock_timestamp(),
  primary key (entry_id, attempt)
);
comment on table ledger.attempts is 'Append-only: one row a claim, committed before a byte of the request is written.';
comment on column ledger.attempts.entry_id is 'Entry.';
comment on column ledger.attempts.attempt is '1 for the first.';
comment on column ledger.attempts.claim_id is 'Names the commit that made it, so that a commit of unknown outcome can be read back.';
comment on column ledger.attempts.owner is 'Process that claimed it.';
comment on column ledger.attempts.run_id is 'Run that claimed it.';
comment on column ledger.attempts.body_hash is 'Digest of the body that it sends.';
comment on column ledger.attempts.claimed_at is 'Database clock.';

create table ledger.answers (
  answer_id bigint generated always as identity primary key,
  entry_id bigint not null,
  attempt integer not null,
  kind text not null check (kind in ('accepted', 'rejected', 'not_written', 'throttled', 'in_doubt', 'lease_over')),
  http_status integer,
  message text,
  deal_id text,
  collab_id text,
  retry_after_ms bigint,
  via text not null check (via in ('direct', 'spool', 'reaper')),
  applied boolean not null,
  answered_at timestamptz not null default clock_timestamp()
);
create index answers_entry on ledger.answers (entry_id, attempt);
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
comment on column ledger.answers.via is 'direct, spool (replayed after the database was away) or reaper (its owner was gone).';
comment on column ledger.answers.applied is 'False when fencing kept it from changing the entry.';
comment on column ledger.answers.answered_at is 'Database clock.';

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
  unique (kind, body_sha256)
);
create index evidence_order on ledger.evidence (order_id);
create index evidence_entry on ledger.evidence (entry_id);
comment on table ledger.evidence is 'Append-only: what others say about an order, for example a signed event that carries its id.';
comment on column ledger.evidence.evidence_id is 'Counts up.';
comment on column ledger.evidence.kind is 'webhook_order (a signed event of the service) or seeded (credited elsewhere before).';
comment on column ledger.evidence.order_platform is 'Shop platform, if it says.';
comment on column ledger.evidence.order_id is 'Order it is about.';
comment on column ledger.evidence.entry_id is 'Entry it settled.';
comment on column ledger.evidence.deal_id is 'Deal it names.';
comment on column ledger.evidence.collab_id is 'Collaboration it names.';
comment on column ledger.evidence.amount is 'Revenue it names, in currency.';
comment on column ledger.evidence.currency is 'ISO 4217.';
comment on column ledger.evidence.body_sha256 is 'Digest of its raw body: the same event counts once.';
comment on column ledger.evidence.received_at is 'When.';

create table ledger.decisions (
  decision_id bigint generated always as identity primary key,
  entry_id bigint not null references ledger.entries,
  decision text not null check (decision in ('accept', 'write_off', 'resend')),
  attempt integer not null,
  decided_by text not null,
  reason text not null check (length(trim(reason)) > 0),
  decided_at timestamptz not null default now()
);
create index decisions_entry on ledger.decisions (entry_id);
comment on table ledger.decisions is 'Append-only: what a person, or a declared capability, decided about a doubt. Written before the entry changes.';
comment on column ledger.decisions.decision_id is 'Counts up.';
comment on column ledger.decisions.entry_id is 'Entry.';
comment on column ledger.decisions.decision is 'accept (it was processed), write_off (let it go), resend (send once more).';
comment on column ledger.decisions.attempt is 'Attempt that was in doubt.';
comment on column ledger.decisions.decided_by is 'Login name of the person, or the capability, for example duplicate_orders: ignored.';
comment on column ledger.decisions.reason is 'Why.';
comment on column ledger.decisions.decided_at is 'When.';

create table ledger.adjustments (
  adjustment_id bigint generated always as identity primary key,
  entry_id bigint not null references ledger.entries,
  order_version_id bigint,
  kind text not null check (kind in ('changed', 'refunded', 'cancelled', 'excluded', 'reattributed')),
  old_amount numeric(18,4),
  new_amount numeric(18,4),
  currency text,
  old_body_hash text not null,
  new_body_hash text,
  detail text,
  run_id bigint not null references ops.runs,
  noted_at timestamptz not null default now()
);
create index adjustments_entry on ledger.adjustments (entry_id);
comment on table ledger.adjustments is 'An order that changed after it was sent. Nothing is sent for it: the service has no operation to correct an order.';
comment on column ledger.adjustments.adjustment_id is 'Counts up.';
comment on column ledger.adjustments.entry_id is 'Entry that was sent.';
comment on column ledger.adjustments.order_version_id is 'Version of the order that differs.';
comment on column ledger.adjustments.kind is 'changed (another amount), refunded, cancelled, excluded (no longer to be credited), reattributed (another influencer).';
comment on column ledger.adjustments.old_amount is 'As sent, in currency.';
comment on column ledger.adjustments.new_amount is 'As it would be sent now, in currency; null when it would not be.';
comment on column ledger.adjustments.currency is 'ISO 4217.';
comment on column ledger.adjustments.old_body_hash is 'Digest of what was sent.';
comment on column ledger.adjustments.new_body_hash is 'Digest of what would be sent now.';
comment on column ledger.adjustments.detail is 'What changed, in words.';
comment on column ledger.adjustments.run_id is 'Run that noticed.';
comment on column ledger.adjustments.noted_at is 'When.';

-- What is append-only stays so, whoever tries.
create function ledger.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'ledger.% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
comment on function ledger.refuse_change() is 'Trigger: refuses UPDATE, DELETE and TRUNCATE.';
create trigger append_only before update or delete or truncate on ledger.attempts for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.answers for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.evidence for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.decisions for each statement execute function ledger.refuse_change();
create trigger append_only before update or delete or truncate on ledger.adjustments for each statement execute function ledger.refuse_change();
