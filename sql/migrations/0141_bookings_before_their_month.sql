alter table ops.bank_entries
  drop constraint bank_entries_hold_reason_check,
  add constraint bank_entries_hold_reason_check check (hold_reason in ('to_confirm', 'may_be_known', 'unknown_reference',
    'other_currency', 'too_much', 'too_early', 'not_exported', 'nothing_to_return'));
comment on column ops.bank_entries.hold_reason is 'to_confirm, may_be_known (another one of the payment or account has this day and amount), unknown_reference, other_currency, too_much (more than the payment), too_early (before the end of the month that is paid), not_exported, nothing_to_return.';
