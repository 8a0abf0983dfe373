-- A row may say itself when its order last changed (`age: column` of a source). Which of two states is newer is then decided for each order.

alter table intake.orders add column changed_at timestamptz;
comment on column intake.orders.changed_at is 'When the order last changed, as the latest row that states this version says (age: column of the source). infinity: a row does not say it, so it may be newer than any other. Null: the source does not go by the column.';

alter table intake.source_files
  drop constraint source_files_age_basis_check,
  add constraint source_files_age_basis_check check (age_basis in ('date_in_name', 'number_in_name', 'modified', 'column'));
comment on column intake.source_files.age_basis is 'What says whether it is newer than another file: the date in its name, the number in its name, or modified_at. column: each of its rows says when its order last changed.';
