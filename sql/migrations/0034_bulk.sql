-- One decision about many entries: frozen when it is previewed, then carried out entry by entry.

create table ops.bulk_actions (
  bulk_id bigint generated always as identity primary key,
  state text not null default 'preview' check (state in ('preview', 'running', 'finished', 'aborted', 'expired')),
  decision text not null check (decision in ('accepted', 'write_off', 'resend')),
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
  constraint bulk_actions_deal_check check (decision = 'accepted' or (deal_id is null and collab_id is null)),
  constraint bulk_actions_confirmed_check check (
    (confirmed_at is null) = (confirmed_by is null) and (confirmed_at is not null) = (state in ('running', 'finished', 'aborted'))),
  constraint bulk_actions_aborted_check check (
    (aborted_at is null) = (aborted_by is null) and (aborted_at is not null) = (state = 'aborted')),
  -- One that was aborted has ended once the reports know what it has settled.
  constraint bulk_actions_ended_check check (
    (state <> 'finished' or ended_at is not null) and (ended_at is null or state in ('finished', 'aborted'))
    and (ended_at is null) = (settled is null) and (ended_at is null) = (changed is null) and (ended_at is null) = (failed is null))
);
-- Those that a process still has something to do for.
create index bulk_actions_open on ops.bulk_actions (bulk_id) where ended_at is null and state <> 'expired';
comment on table ops.bulk_actions is 'One decision about many entries of the ledger, as it was previewed and confirmed in the console.';
comment on column ops.bulk_actions.bulk_id is 'Counts up. Column bulk_id of ops.audit and ops.bulk_items names it.';
comment on column ops.bulk_actions.state is 'preview (nothing is changed), running, finished, aborted by a person, or expired (never confirmed).';
comment on column ops.bulk_actions.decision is 'What is decided about each entry: accepted, write_off or resend.';
comment on column ops.bulk_actions.deal_id is 'With accepted: the deal of entries that name none; null where each must name its own.';
comment on column ops.bulk_actions.collab_id is 'The same for the collaboration.';
comment on column ops.bulk_actions.chosen is 'Which entries were chosen, in a sentence. Times are instants: an age was counted back from the page that showed it.';
comment on column ops.bulk_actions.filter is 'The filter that chose them; null where a person picked each. It is a record: the entries are those of ops.bulk_items.';
comment on column ops.bulk_actions.reason is 'Why, in the words of the person. E-mail addresses are masked.';
comment on column ops.bulk_actions.created_by is 'Who made the preview.';
comment on column ops.bulk_actions.created_at is 'When the entries were frozen. Database clock.';
comment on column ops.bulk_actions.expires_at is 'A preview cannot be confirmed from this instant on.';
comment on column ops.bulk_actions.entries is 'Entries that can be settled.';
comment on column ops.bulk_actions.ineligible is 'Entries that were chosen and cannot be settled so; ops.bulk_items says why.';
comment on column ops.bulk_actions.amounts is 'Of the entries that can be settled: [{currency, amount}], one for each currency.';
comment on column ops.bulk_actions.confirmed_by is 'Who confirmed it; null for a preview.';
comment on column ops.bulk_actions.confirmed_at is 'When.';
comment on column ops.bulk_actions.aborted_by is 'Who aborted it. Entries that were settled before stay so.';
comment on column ops.bulk_actions.aborted_at is 'When. No entry was settled afterwards.';
comment on column ops.bulk_actions.ended_at is 'When its last entry was dealt with, and the reports were told.';
comment on column ops.bulk_actions.settled is 'Entries that it settled; null until it has ended, as the next two.';
comment on column ops.bulk_actions.changed is 'Entries that were left alone, because they were no longer as the preview showed them.';
comment on column ops.bulk_actions.failed is 'Entries that could not be settled because of an error, which the log names.';

create table ops.bulk_items (
  bulk_id bigint not null,
  entry_id bigint not null,
  job text not null,
  state text not null check (state in ('held', 'ready', 'sending', 'accepted', 'rejected', 'in_doubt', 'written_off')),
  attempt integer not null check (attempt >= 0),
  amount numeric(18, 4),
  currency text,
  deal_id text,
  collab_id text,
  is_eligible boolean not null,
  outcome text check (outcome in ('settled', 'changed', 'failed', 'not_in_doubt', 'deal_unknown', 'has_evidence')),
  outcome_at timestamptz,
  primary key (bulk_id, entry_id),
  constraint bulk_items_eligible_check check (
    case when is_eligible then outcome is null or outcome in ('settled', 'changed', 'failed')
      else coalesce(outcome in ('not_in_doubt', 'deal_unknown', 'has_evidence'), false) end),
  constraint bulk_items_outcome_at_check check ((outcome_at is not null) = (is_eligible and outcome is not null))
);
create index bulk_items_open on ops.bulk_items (bulk_id, entry_id) where outcome is null;
comment on table ops.bulk_items is 'Entries of a bulk action, as its preview froze them. Those of a preview that has expired are deleted.';
comment on column ops.bulk_items.bulk_id is 'Bulk action, in ops.bulk_actions.';
comment on column ops.bulk_items.entry_id is 'Entry, in ledger.entries.';
comment on column ops.bulk_items.job is 'Job of the entry.';
comment on column ops.bulk_items.state is 'State of the entry in the preview. An entry in another state is left alone.';
comment on column ops.bulk_items.attempt is 'Attempts of the entry in the preview. An entry with another number is left alone.';
comment on column ops.bulk_items.amount is 'Its amount, in currency.';
comment on column ops.bulk_items.currency is 'ISO 4217.';
comment on column ops.bulk_items.deal_id is 'With accepted: the deal that the decision names. From the entry or its evidence, else from the bulk action.';
comment on column ops.bulk_items.collab_id is 'The same for the collaboration.';
comment on column ops.bulk_items.is_eligible is 'Whether the decision could be applied to it when it was frozen.';
comment on column ops.bulk_items.outcome is 'settled, changed (left alone: no longer as shown) or failed; not_in_doubt, deal_unknown or has_evidence for one that is not eligible; null until it is dealt with.';
comment on column ops.bulk_items.outcome_at is 'When it was dealt with.';

-- The page of the audit shows what people did, one line for a bulk action.
create index audit_without_bulk on ops.audit (audit_id desc) where bulk_id is null;
comment on column ops.audit.bulk_id is 'Bulk action that this one was a part of, in ops.bulk_actions; null otherwise.';
comment on column ops.leases.name is 'job:<job>, source:<source>, bulk:<bulk action>, or serve:<owner> of a process that runs jobs by their schedule.';
