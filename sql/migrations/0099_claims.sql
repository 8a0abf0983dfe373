-- Orders that creators and agencies say were not credited, and the answer that each got.

create table ops.credit_claims (
  claim_id bigint generated always as identity primary key,
  claim_key text not null unique,
  creator text not null check (creator <> ''),
  creator_folded text not null check (creator_folded <> ''),
  order_id text,
  amount numeric(18,4),
  currency text check (currency ~ '^[A-Z]{3}$'),
  claimed_on date,
  code text,
  deadline_on date,
  file_name text,
  line_no integer check (line_no > 0),
  state text not null default 'open' check (state in ('open', 'answered', 'upheld', 'rejected', 'withdrawn')),
  added_at timestamptz not null default clock_timestamp(),
  added_by text not null check (added_by <> ''),
  answer text check (answer ~ '^[a-z][a-z_]{0,40}$'),
  explanation text,
  reply text,
  credited_amount numeric(18,4),
  credited_currency text check (credited_currency ~ '^[A-Z]{3}$'),
  statement_month date,
  answered_at timestamptz,
  answered_by text check (answered_by <> ''),
  closed_at timestamptz,
  closed_by text check (closed_by <> ''),
  close_reason text check (close_reason <> ''),
  constraint a_claim_names_an_order check (order_id is not null or (amount is not null and claimed_on is not null)),
  constraint an_amount_has_its_currency check ((amount is null) = (currency is null) and (credited_amount is null) = (credited_currency is null)),
  constraint an_answer_is_whole check (num_nulls(answer, explanation, reply, answered_at, answered_by) in (0, 5)),
  constraint an_answer_is_kept_once_given check (
    case state when 'open' then answer is null when 'withdrawn' then true else answer is not null end),
  constraint who_closed_it_says_why check (
    (state in ('upheld', 'rejected', 'withdrawn')) = (closed_at is not null)
    and num_nulls(closed_at, closed_by, close_reason) in (0, 3))
);
comment on table ops.credit_claims is 'Orders that creators and agencies say were not credited. A claim never credits an order: it is answered, and its answer names the act. Not the claims of the ledger, which are attempts to send an entry.';
comment on column ops.credit_claims.claim_id is 'Counts up.';
comment on column ops.credit_claims.claim_key is 'Equal for lines that are one claim: the creator and the order, else the amount, currency, day and code.';
comment on column ops.credit_claims.creator is 'Handle or deal of the creator, as written.';
comment on column ops.credit_claims.creator_folded is 'The same, folded for comparison.';
comment on column ops.credit_claims.order_id is 'Order that is claimed, as written. Null: it is named by amount and day.';
comment on column ops.credit_claims.amount is 'Amount of the order as claimed, in currency. Null: the claim does not say it.';
comment on column ops.credit_claims.currency is 'ISO 4217. Null only without an amount.';
comment on column ops.credit_claims.claimed_on is 'Day of the order as claimed, in the time zone of the statements.';
comment on column ops.credit_claims.code is 'Discount code as claimed.';
comment on column ops.credit_claims.deadline_on is 'Day by which an answer is due.';
comment on column ops.credit_claims.file_name is 'File that the claim came in. Null: the form of the console.';
comment on column ops.credit_claims.line_no is 'Line of the file.';
comment on column ops.credit_claims.state is 'open: its answer is decided anew whenever it is read. answered: the answer is kept. upheld, rejected, withdrawn: closed by a person.';
comment on column ops.credit_claims.added_at is 'When it was added.';
comment on column ops.credit_claims.added_by is 'Who added it.';
comment on column ops.credit_claims.answer is 'Machine name of the answer that was given, for example credited or held. Null while it is open.';
comment on column ops.credit_claims.explanation is 'The answer with its proof, for people of the brand.';
comment on column ops.credit_claims.reply is 'The answer for the creator: it names no other creator.';
comment on column ops.credit_claims.credited_amount is 'Revenue that was credited to the creator for the order, in credited_currency.';
comment on column ops.credit_claims.credited_currency is 'ISO 4217.';
comment on column ops.credit_claims.statement_month is 'First day of the month of the first closed statement that counts the order. Null: none yet.';
comment on column ops.credit_claims.answered_at is 'When the answer was given.';
comment on column ops.credit_claims.answered_by is 'Who gave it.';
comment on column ops.credit_claims.closed_at is 'When a person closed it.';
comment on column ops.credit_claims.closed_by is 'Who closed it.';
comment on column ops.credit_claims.close_reason is 'Why it was upheld, rejected or withdrawn.';
create index credit_claims_creator on ops.credit_claims (creator_folded);
create index credit_claims_open on ops.credit_claims (deadline_on, claim_id) where state = 'open';
create trigger record_actor before insert or update of added_by, answered_by, closed_by on ops.credit_claims
  for each row execute function ops.record_actor('added_by', 'answered_by', 'closed_by');
