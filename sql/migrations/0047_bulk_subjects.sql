-- Decisions about many double credits and about many files, beside those about doubts; by commands, too.

alter table ops.bulk_actions drop constraint bulk_actions_decision_check;
alter table ops.bulk_actions add constraint bulk_actions_decision_check
  check (decision in ('accepted', 'write_off', 'resend', 'acknowledge', 'release', 'reread'));
alter table ops.bulk_actions add column via text not null default 'console' check (via in ('console', 'command'));
comment on table ops.bulk_actions is 'One decision about many entries of the ledger, or about many files, as it was previewed and confirmed.';
comment on column ops.bulk_actions.decision is 'What is decided about each: accepted, write_off, resend or acknowledge (entries), release or reread (files).';
comment on column ops.bulk_actions.chosen is 'Which were chosen, in a sentence. Times are instants: an age was counted back from when it was asked for.';
comment on column ops.bulk_actions.via is 'Where it was made: console or command. Column via of the audit records of its parts.';
comment on column ops.bulk_actions.created_at is 'When it was frozen. Database clock.';
comment on column ops.bulk_actions.entries is 'Entries, or files, that can be settled.';
comment on column ops.bulk_actions.ineligible is 'Those that were chosen and cannot be settled so; ops.bulk_items says why.';
comment on column ops.bulk_actions.amounts is 'Of those that can be settled: [{currency, amount}], one for each currency. Of double credits: what is too much.';
comment on column ops.bulk_actions.aborted_by is 'Who aborted it. What was settled before stays so.';
comment on column ops.bulk_actions.aborted_at is 'When. Nothing was settled afterwards.';
comment on column ops.bulk_actions.ended_at is 'When the last of them was dealt with, and the reports were told.';
comment on column ops.bulk_actions.settled is 'How many it settled; null until it has ended, as the next two.';
comment on column ops.bulk_actions.changed is 'How many were left alone, because they were no longer as the preview showed them.';
comment on column ops.bulk_actions.failed is 'How many could not be settled because of an error, which the log names.';

alter table ops.bulk_items rename column entry_id to subject_id;
alter table ops.bulk_items alter column job drop not null;
alter table ops.bulk_items alter column attempt drop not null;
alter table ops.bulk_items add column credits integer check (credits > 1);
alter table ops.bulk_items drop constraint bulk_items_state_check;
alter table ops.bulk_items add constraint bulk_items_state_check check (
  state in ('held', 'ready', 'sending', 'accepted', 'rejected', 'in_doubt', 'written_off', 'reading', 'read', 'duplicate', 'released'));
alter table ops.bulk_items drop constraint bulk_items_outcome_check;
alter table ops.bulk_items add constraint bulk_items_outcome_check check (
  outcome in ('settled', 'changed', 'failed', 'not_in_doubt', 'deal_unknown', 'has_evidence', 'not_credited_twice', 'not_held', 'being_read'));
alter table ops.bulk_items drop constraint bulk_items_eligible_check;
alter table ops.bulk_items add constraint bulk_items_eligible_check check (
  case when is_eligible then outcome is null or outcome in ('settled', 'changed', 'failed')
    else coalesce(outcome in ('not_in_doubt', 'deal_unknown', 'has_evidence', 'not_credited_twice', 'not_held', 'being_read'), false) end);
comment on table ops.bulk_items is 'Entries or files of a bulk action, as its preview froze them. Those of a preview that has expired are deleted.';
comment on column ops.bulk_items.subject_id is 'Entry, in ledger.entries; of a decision about files the file, in intake.source_files.';
comment on column ops.bulk_items.job is 'Job of the entry; null for a file.';
comment on column ops.bulk_items.state is 'Its state in the preview. What is in another state is left alone.';
comment on column ops.bulk_items.attempt is 'Attempts of the entry in the preview. An entry with another number is left alone. Null for a file.';
comment on column ops.bulk_items.credits is 'With acknowledge: requests that the service had accepted. With another number since, it is left alone.';
comment on column ops.bulk_items.amount is 'Its amount, in currency; with acknowledge what is too much; null for a file.';
comment on column ops.bulk_items.is_eligible is 'Whether the decision could be applied to it when it was frozen.';
comment on column ops.bulk_items.outcome is 'settled, changed (left alone: no longer as shown) or failed; why it is left out for one that is not eligible; null until it is dealt with.';
