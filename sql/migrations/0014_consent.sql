-- Where an export states consent, and what it says, so that a run can name the column and nobody has to trust a layout.
alter table intake.source_files
  add column consent_columns text[],
  add column consent_counts jsonb,
  add constraint consent_is_counted_where_it_stands check ((consent_columns is null) = (consent_counts is null));
comment on column intake.source_files.consent_columns is 'Of a file that was read for its customers: the headers of the columns that say who has consented. Empty: it has none, and its source or job says that this is well.';
comment on column intake.source_files.consent_counts is 'Of a file that was read for its customers: how many rows with an address say yes, no (refused, unsubscribed, blacklisted) or neither: {"yes": 412, "no": 88, "blank": 3}.';
