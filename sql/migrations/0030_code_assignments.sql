-- Owners of codes that a person assigned in the console, where codes.csv does not name one.

create table intake.code_assignments (
  assignment_id bigint generated always as identity primary key,
  job text not null,
  code text not null,
  code_folded text not null check (code_folded <> ''),
  brand_id text,
  influencer_handle text,
  deal_id text,
  collab_id text,
  valid_from text,
  valid_to text,
  assigned_at timestamptz not null default clock_timestamp(),
  assigned_by text not null,
  withdrawn_at timestamptz,
  check (coalesce(influencer_handle, deal_id, collab_id) is not null)
);
create unique index code_assignments_one_at_a_time on intake.code_assignments (job, code_folded) where withdrawn_at is null;
comment on table intake.code_assignments is 'Owners of codes that a person assigned in the console. A row of codes.csv for the same code goes first. Rows are withdrawn, never deleted.';
comment on column intake.code_assignments.assignment_id is 'Counts up.';
comment on column intake.code_assignments.job is 'Job whose orders it counts for.';
comment on column intake.code_assignments.code is 'Code as written.';
comment on column intake.code_assignments.code_folded is 'Code without blanks, case folded: what orders are matched by.';
comment on column intake.code_assignments.brand_id is 'Brand; null: that of the job.';
comment on column intake.code_assignments.influencer_handle is 'Influencer, as codes.csv would name one.';
comment on column intake.code_assignments.deal_id is 'Deal, in the same way.';
comment on column intake.code_assignments.collab_id is 'Collaboration, in the same way.';
comment on column intake.code_assignments.valid_from is 'As codes.csv would say it: a date or a time; null: always.';
comment on column intake.code_assignments.valid_to is 'In the same way.';
comment on column intake.code_assignments.assigned_at is 'When.';
comment on column intake.code_assignments.assigned_by is 'Who; ops.audit says why.';
comment on column intake.code_assignments.withdrawn_at is 'When it was withdrawn or replaced; null while it counts.';
comment on column intake.codes.line_no is 'Line in codes.csv; 0 for an owner that was assigned in the console; negative for an event of the service.';
