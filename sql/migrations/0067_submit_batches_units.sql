-- Submitting the batches of customers is work that workers can share.

alter table ops.work_units drop constraint work_units_kind_check;
alter table ops.work_units add constraint work_units_kind_check
  check (kind in ('read-source', 'post-share', 'post-backfill', 'fetch-deals', 'submit-batches'));

comment on table ops.work_units is 'Units of work that a run has handed out to workers. To repeat one changes nothing: what it reads is sealed once, what it posts is claimed once, what it fetches is staged once, and a batch that was submitted no longer waits.';
comment on column ops.work_units.kind is 'read-source: read the new files of a source. post-share: post a range of the ready entries of a job. post-backfill: the same for a backfill. fetch-deals: read a range of the deals that are due into the staging tables. submit-batches: submit a range of the waiting batches of customers of a brand.';
comment on column ops.work_units.done is 'How far it is: rows read, orders posted, deals read, or customers submitted.';
