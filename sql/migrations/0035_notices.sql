-- What is wrong and since when, and what was told to whom about it.

alter table ops.runs add column problem_code text;
comment on column ops.runs.problem_code is 'Stable machine name of the problem, for example key_refused. Null: none, or a run of a version that did not store it.';

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
  constraint digest_has_a_day check ((event = 'digest') = (digest_day is not null)),
  constraint others_have_a_problem check ((event = 'digest') = (problem_id is null)),
  constraint reminders_count check ((event = 'reminded') = (reminder > 0)),
  -- A change of a problem is told once, whoever notices it.
  unique (problem_id, event, reminder)
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
