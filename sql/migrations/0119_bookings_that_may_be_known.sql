-- contract: stop processes of earlier versions first. They would count a held booking that no person has confirmed.
-- A booking in a file of another kind, or without the reference of the bank, has another key: it is held, and not counted twice.
alter table ops.bank_entries
  drop constraint bank_entries_hold_reason_check,
  add constraint bank_entries_hold_reason_check check (hold_reason in ('to_confirm', 'may_be_known', 'unknown_reference', 'other_currency',
    'too_much', 'not_exported', 'nothing_to_return'));
comment on column ops.bank_entries.hold_reason is 'to_confirm, may_be_known (another one of the payment or account has this day and amount), unknown_reference, other_currency, too_much (more than the payment), not_exported, nothing_to_return.';
