-- Rows that contradict each other about an older state of an order do not make its newer one doubtful, whichever is read first.
alter table intake.rejected_rows add column changed_at timestamptz;
comment on column intake.rejected_rows.changed_at is 'When the order last changed, as rows say that contradict each other about it. Infinity or null: not known. An order that changed later is not in doubt because of them.';
