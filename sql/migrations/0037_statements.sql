-- What influencers have earned, month by month: closed statements, which nobody changes afterwards.

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
  hash text not null
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
  primary key (statement_id, line_no),
  constraint a_line_is_what_is_new check (amount = earned_amount - closed_before and amount <> 0),
  constraint a_subject_is_once_in_a_statement unique (statement_id, subject)
);
create index statement_lines_subject on ops.statement_lines (subject);
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

comment on column ops.audit.subject_kind is 'What it was done to: entry, file, code, job, backfill, bulk, check, statement.';
