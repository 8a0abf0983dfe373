-- Who changed what by hand, in the console or on the command line.

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
comment on table ops.audit is 'Append-only: every change that a person made, in the console or with a command. It is written in the transaction of the change.';
comment on column ops.audit.audit_id is 'Counts up.';
comment on column ops.audit.occurred_at is 'When.';
comment on column ops.audit.actor is 'Who: login name on the machine, or the name that the console signed in.';
comment on column ops.audit.via is 'console or command.';
comment on column ops.audit.action is 'What was done, for example settle_doubt.';
comment on column ops.audit.subject_kind is 'What it was done to: entry, file, code, job, backfill, bulk.';
comment on column ops.audit.subject is 'Its id or name; null where the action concerned many.';
comment on column ops.audit.summary is 'What was done, in a sentence.';
comment on column ops.audit.reason is 'Why, in the words of the person. E-mail addresses are masked.';
comment on column ops.audit.before is 'The fields that changed, as they were.';
comment on column ops.audit.after is 'The same fields afterwards.';
comment on column ops.audit.filter is 'For an action on many rows: the filter that chose them; null otherwise.';
comment on column ops.audit.bulk_id is 'Bulk action that this one was a part of: the audit_id of the row that began it; null otherwise.';

create function ops.refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'ops.audit is append-only';
end $$;
create trigger audit_is_append_only before update or delete on ops.audit
  for each row execute function ops.refuse_audit_change();
comment on function ops.refuse_audit_change() is 'Refuses to change or delete a row of ops.audit.';
