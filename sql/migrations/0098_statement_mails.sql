create table ops.statement_mails (
  mail_id bigint generated always as identity primary key,
  statement_id bigint not null,
  deal_id text not null check (deal_id <> ''),
  replaces bigint references ops.statement_mails,
  channel text not null check (channel <> ''),
  language text not null check (language <> ''),
  document_hash text not null check (document_hash ~ '^[0-9a-f]{64}$'),
  recipient text,
  message bytea,
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'sent', 'unclear', 'failed')),
  failure text,
  requested_by text not null check (requested_by <> ''),
  requested_at timestamptz not null default clock_timestamp(),
  claimed_at timestamptz,
  settled_at timestamptz,
  settled_by text,
  unique nulls not distinct (statement_id, deal_id, replaces),
  constraint kept_until_sent check (
    (state in ('waiting', 'sending')) = (recipient is not null) and (recipient is null) = (message is null)),
  constraint sending_was_claimed check (state <> 'sending' or claimed_at is not null),
  constraint settled_says_when check ((state in ('waiting', 'sending')) = (settled_at is null)),
  constraint trouble_says_why check (state not in ('unclear', 'failed') or failure is not null)
);
create index statement_mails_open on ops.statement_mails (state) where state in ('waiting', 'sending', 'unclear');
create trigger record_actor before insert or update of requested_by, settled_by on ops.statement_mails
  for each row execute function ops.record_actor('requested_by', 'settled_by');
comment on table ops.statement_mails is 'The outbox of statements for creators, a row for each mail. It is claimed before SMTP begins, and never sent again by itself.';
comment on column ops.statement_mails.mail_id is 'Counts up.';
comment on column ops.statement_mails.statement_id is 'The closed statement, which is never deleted, so no foreign key is needed.';
comment on column ops.statement_mails.deal_id is 'The deal that the document is about.';
comment on column ops.statement_mails.replaces is 'The mail before about the same statement and deal, which the person saw who asked for this one. Two people cannot replace the same one.';
comment on column ops.statement_mails.channel is 'Channel in pipeline.yaml by which it is sent.';
comment on column ops.statement_mails.language is 'Language of the document: en, de, …';
comment on column ops.statement_mails.document_hash is 'SHA-256 of the PDF that is attached.';
comment on column ops.statement_mails.recipient is 'Address; deleted as soon as the mail is not to be sent any more.';
comment on column ops.statement_mails.message is 'The whole mail; deleted with the recipient.';
comment on column ops.statement_mails.state is 'waiting, sending (claimed), sent (the mail server took it), unclear (interrupted, or no answer: a person decides), failed (not taken).';
comment on column ops.statement_mails.failure is 'Why it is unclear or failed: a code, never an address.';
comment on column ops.statement_mails.requested_by is 'Who sent it.';
comment on column ops.statement_mails.requested_at is 'When.';
comment on column ops.statement_mails.claimed_at is 'When a process began to send it.';
comment on column ops.statement_mails.settled_at is 'When it was sent, failed or became unclear, or a person decided.';
comment on column ops.statement_mails.settled_by is 'Who decided what became of an unclear mail; null: nobody had to.';

create table ops.console_sign_outs (
  session_id text primary key,
  ends_at timestamptz not null
);
comment on table ops.console_sign_outs is 'Sessions of an OpenID Connect provider that were signed out, so that copies of their cookies are worth nothing.';
comment on column ops.console_sign_outs.session_id is 'Random id in the cookie.';
comment on column ops.console_sign_outs.ends_at is 'When the cookie would have ended; the row is deleted after that.';
