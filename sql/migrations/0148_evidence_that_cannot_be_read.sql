-- What an event states in a form that cannot be read is not the same as what it does not state: such an event settles no doubt.
alter table ledger.evidence add column is_legible boolean not null default true;
comment on column ledger.evidence.is_legible is 'False if an event states an amount, a currency, a platform, a deal or a collaboration in a form that cannot be read; it then settles no doubt.';
