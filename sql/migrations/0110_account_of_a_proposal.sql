-- A payment keeps the mark of its account from the proposal on: the account that a person saw is the one that is paid.
alter table ops.payments
  drop constraint an_export_is_whole,
  add constraint an_export_is_whole check (
    num_nulls(exported_as, exported_at, exported_by) in (0, 3) and (exported_at is null or account_mark is not null));
comment on column ops.payments.account_mark is 'Country, check digits and last four characters of the IBAN when it was proposed, by which a change is noticed. Not the IBAN. Null: paid elsewhere, or proposed by an earlier version and not exported.';
