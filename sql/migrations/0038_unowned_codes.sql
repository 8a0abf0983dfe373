-- How many orders of a file have codes that nobody owns, to see when a file has other codes than usual.
alter table intake.file_statistics
  add column coded_orders bigint,
  add column unowned_code_orders bigint,
  add constraint unowned_codes_are_codes check (unowned_code_orders between 0 and coded_orders);
comment on column intake.file_statistics.coded_orders is 'Of the new and changed orders: those with a code (of a sample of them in large files).';
comment on column intake.file_statistics.unowned_code_orders is 'Of these: none of whose codes anybody owned in the codes of any job when the file was read.';
