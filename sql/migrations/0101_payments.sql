-- What creators are to be paid from closed statements, what was handed to the bank, and what the bank says was paid.

create table ops.payment_proposals (
  proposal_id bigint generated always as identity primary key,
  month date not null check (extract(day from month) = 1),
  message_id text not null unique check (message_id ~ '^[A-Z0-9-]{1,35}$'),
  proposed_at timestamptz not null default clock_timestamp(),
  proposed_by text not null check (proposed_by <> ''),
  reason text not null check (reason <> '')
);
comment on table ops.payment_proposals is 'Decisions to pay what is unpaid of the statements up to a month. Their payments: ops.payments.';
comment on column ops.payment_proposals.proposal_id is 'Counts up.';
comment on column ops.payment_proposals.month is 'First day of the last closed month in it.';
comment on column ops.payment_proposals.message_id is 'MsgId of its pain.001 file, a digest of its payments. It never changes, so that a bank can refuse the same file twice.';
comment on column ops.payment_proposals.proposed_at is 'When it was made.';
comment on column ops.payment_proposals.proposed_by is 'Who made it.';
comment on column ops.payment_proposals.reason is 'Why, in the words of this person.';
create trigger record_actor before insert or update of proposed_by on ops.payment_proposals
  for each row execute function ops.record_actor('proposed_by');

create table ops.payments (
  payment_id bigint generated always as identity primary key,
  proposal_id bigint not null references ops.payment_proposals,
  creator text not null check (creator <> ''),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount numeric(24,4) not null check (amount > 0),
  reference text not null unique check (reference ~ '^[A-Z0-9-]{1,35}$'),
  state text not null default 'proposed' check (state in ('proposed', 'exported', 'partly_paid', 'paid', 'returned', 'cancelled')),
  is_live boolean not null generated always as (state not in ('returned', 'cancelled')) stored,
  exported_as text check (exported_as in ('pain.001', 'csv')),
  exported_at timestamptz,
  exported_by text check (exported_by <> ''),
  account_mark text check (account_mark ~ '^[A-Z]{2}[0-9]{2}[A-Z0-9]{4}$'),
  paid_amount numeric(24,4) not null default 0 check (paid_amount >= 0 and paid_amount <= amount),
  paid_on date,
  settled_by text check (settled_by <> ''),
  settle_reason text check (settle_reason <> ''),
  unique (payment_id, currency, is_live),
  unique (proposal_id, creator, currency),
  constraint an_export_is_whole check (num_nulls(exported_as, exported_at, exported_by, account_mark) in (0, 4)),
  constraint the_bank_pays_what_was_exported check (
    case state when 'proposed' then exported_at is null when 'cancelled' then true
      when 'paid' then exported_at is not null or settled_by is not null else exported_at is not null end),
  constraint the_state_says_what_was_paid check (
    case state when 'paid' then paid_amount = amount when 'partly_paid' then paid_amount > 0 and paid_amount < amount else paid_amount = 0 end
    and (paid_on is null) = (paid_amount = 0)),
  constraint who_settles_it_says_why check (
    num_nulls(settled_by, settle_reason) in (0, 2) and (state <> 'cancelled' or settled_by is not null))
);
comment on table ops.payments is 'One payment for each creator and currency of a proposal. While it is live, nothing else can pay its items.';
comment on column ops.payments.payment_id is 'Counts up.';
comment on column ops.payments.proposal_id is 'See ops.payment_proposals.';
comment on column ops.payments.creator is 'Whom it pays: the handle, folded, or the deal, as payees.csv names it. The file has the bank data, which is read when it is exported and not stored.';
comment on column ops.payments.currency is 'ISO 4217.';
comment on column ops.payments.amount is 'Sum of its items, in currency.';
comment on column ops.payments.reference is 'EndToEndId, a digest of what it pays. It never changes, and comes back in the file of the bank.';
comment on column ops.payments.state is 'proposed, exported (a file for the bank was written), partly_paid or paid (the bank says so, or a person paid it elsewhere), returned (the money came back), cancelled.';
comment on column ops.payments.is_live is 'Whether its items are claimed by it. False if it was cancelled or returned: they can be proposed again.';
comment on column ops.payments.exported_as is 'Kind of file: pain.001 or csv. It is in no file of the other kind, so that it is not sent twice. Null: not exported.';
comment on column ops.payments.exported_at is 'When it was first exported, before the file was written.';
comment on column ops.payments.exported_by is 'Who exported it.';
comment on column ops.payments.account_mark is 'Country, check digits and last four characters of the IBAN in the file, by which a change is noticed. Not the IBAN.';
comment on column ops.payments.paid_amount is 'What the bank says was paid, less what came back, in currency.';
comment on column ops.payments.paid_on is 'Day of the last booking that paid it.';
comment on column ops.payments.settled_by is 'Who cancelled it, or paid it elsewhere.';
comment on column ops.payments.settle_reason is 'Why, in the words of this person.';
create index payments_open on ops.payments (state) where state in ('proposed', 'exported', 'partly_paid');
create trigger record_actor before insert or update of exported_by, settled_by on ops.payments
  for each row execute function ops.record_actor('exported_by', 'settled_by');

create table ops.payment_items (
  payment_id bigint not null,
  statement_id bigint not null,
  subject text not null check (subject <> ''),
  deal_id text,
  currency text not null,
  amount numeric(24,4) not null,
  is_live boolean not null default true,
  primary key (payment_id, statement_id, subject),
  foreign key (payment_id, currency, is_live) references ops.payments (payment_id, currency, is_live) on update cascade
);
comment on table ops.payment_items is 'Amounts of closed statements that a payment pays: one of a statement, a deal and a currency. The unique index lets one live payment claim each.';
comment on column ops.payment_items.payment_id is 'See ops.payments.';
comment on column ops.payment_items.statement_id is 'The closed statement, which is never deleted, so no foreign key is needed.';
comment on column ops.payment_items.subject is 'deal: and the deal, or for a fee of a code without a deal the subject of its lines.';
comment on column ops.payment_items.deal_id is 'The deal; null: a fee of a code without one.';
comment on column ops.payment_items.currency is 'ISO 4217, that of the payment.';
comment on column ops.payment_items.amount is 'Sum of the lines of the statement, in currency; negative if corrections prevail.';
comment on column ops.payment_items.is_live is 'Follows the payment. False: another payment may claim the amount.';
create unique index payment_items_claimed_once on ops.payment_items (statement_id, subject, currency) where is_live;
create index payment_items_deal on ops.payment_items (deal_id, statement_id);

create table ops.bank_entries (
  bank_entry_id bigint generated always as identity primary key,
  entry_key text not null unique check (entry_key ~ '^[0-9a-f]{64}$'),
  payment_id bigint references ops.payments,
  matched_by text check (matched_by in ('reference', 'account')),
  kind text not null check (kind in ('paid', 'returned')),
  booked_on date not null,
  amount numeric(24,4) not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  outcome text not null check (outcome in ('counted', 'held', 'dismissed')),
  hold_reason text check (hold_reason in ('to_confirm', 'unknown_reference', 'other_currency', 'too_much', 'not_exported', 'nothing_to_return')),
  file_name text not null check (file_name <> ''),
  read_at timestamptz not null default clock_timestamp(),
  read_by text not null check (read_by <> ''),
  decided_by text check (decided_by <> ''),
  decided_reason text check (decided_reason <> ''),
  constraint a_match_says_by_what check ((payment_id is null) = (matched_by is null)),
  constraint held_says_why check ((outcome = 'held') = (hold_reason is not null)),
  constraint counted_has_a_payment check (outcome <> 'counted' or payment_id is not null),
  constraint who_decides_says_why check (num_nulls(decided_by, decided_reason) in (0, 2) and (outcome <> 'dismissed' or decided_by is not null)),
  constraint an_account_is_confirmed check (matched_by <> 'account' or outcome <> 'counted' or decided_by is not null)
);
comment on table ops.bank_entries is 'Bookings in files of the bank that are about payments, once each. Other bookings are never stored.';
comment on column ops.bank_entries.bank_entry_id is 'Counts up.';
comment on column ops.bank_entries.entry_key is 'SHA-256 of the reference of the bank, day, amount, direction and EndToEndId, so that a booking in two files counts once.';
comment on column ops.bank_entries.payment_id is 'Payment that it is about. Null: its EndToEndId is of no payment that is known.';
comment on column ops.bank_entries.matched_by is 'reference: its EndToEndId. account: amount and account, which a person must confirm.';
comment on column ops.bank_entries.kind is 'paid: money left the account. returned: money came back.';
comment on column ops.bank_entries.booked_on is 'Day of the booking.';
comment on column ops.bank_entries.amount is 'Amount of the booking, in currency.';
comment on column ops.bank_entries.currency is 'ISO 4217.';
comment on column ops.bank_entries.outcome is 'counted, held (it does not count; see hold_reason), dismissed (a person said that it is about something else).';
comment on column ops.bank_entries.hold_reason is 'to_confirm, unknown_reference, other_currency, too_much (more than the payment), not_exported, nothing_to_return.';
comment on column ops.bank_entries.file_name is 'File in which it was read first.';
comment on column ops.bank_entries.read_at is 'When it was read.';
comment on column ops.bank_entries.read_by is 'Who read the file.';
comment on column ops.bank_entries.decided_by is 'Who confirmed or dismissed it.';
comment on column ops.bank_entries.decided_reason is 'Why.';
create index bank_entries_payment on ops.bank_entries (payment_id);
create trigger record_actor before insert or update of read_by, decided_by on ops.bank_entries
  for each row execute function ops.record_actor('read_by', 'decided_by');
