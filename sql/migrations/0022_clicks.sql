-- Files that are read for something else than orders or customers: clicks, creators. Each of their rows is staged as one JSON value, and the kind of
-- job that reads them puts it in force when the file is sealed.

alter table intake.source_files drop constraint source_files_read_for_check;
alter table intake.source_files add constraint source_files_read_for_check check (read_for in ('orders', 'contacts', 'clicks', 'creators'));
alter table intake.source_files add column other_rows bigint not null default 0;
comment on column intake.source_files.other_rows is 'Records that were read for clicks or creators, those in passed_over included.';
alter table intake.source_files drop constraint sealed_files_add_up;
alter table intake.source_files add constraint sealed_files_add_up
  check (state <> 'sealed' or (sealed_at is not null and rows_read = order_rows + contact_rows + other_rows + rejected_rows));

create table intake.staged_rows (
  source_file_id bigint not null,
  line_no bigint not null,
  record_no bigint not null,
  content jsonb not null,
  primary key (source_file_id, record_no)
);
comment on table intake.staged_rows is 'Rows of a file of clicks or creators that is being read. Put in force and emptied when it is sealed.';
comment on column intake.staged_rows.source_file_id is 'File being read. Not a foreign key; staging locks the file''s row instead.';
comment on column intake.staged_rows.line_no is 'Physical line of the row.';
comment on column intake.staged_rows.record_no is 'Record number of the row.';
comment on column intake.staged_rows.content is 'What the row states.';

create table intake.clicks (
  click_id bigint generated always as identity primary key,
  source text not null,
  subject text not null,
  day date not null,
  country text not null,
  clicks bigint not null check (clicks >= 0),
  written text not null,
  references_folded text[] not null,
  influencer_handle text,
  deal_id text,
  collab_id text,
  source_file_id bigint not null,
  line_no bigint not null,
  first_seen_at timestamptz not null default now(),
  stated_at timestamptz not null default now(),
  job text,
  outcome text check (outcome in ('attributed', 'unattributed', 'held', 'excluded')),
  reason text,
  matched_by text,
  target text,
  owner_handle text,
  owner_deal_id text,
  owner_collab_id text,
  decided_at timestamptz,
  unique (source, subject, day, country),
  constraint what_is_not_attributed_says_why check (outcome is null or (outcome = 'attributed') = (reason is null)),
  constraint attributed_clicks_have_an_owner check (outcome <> 'attributed' or target is not null)
);
comment on table intake.clicks is 'One row for each link, code or influencer, day and country of a source: the clicks that the file read last states for it, and whose they are.';
comment on column intake.clicks.click_id is 'Counts up.';
comment on column intake.clicks.source is 'Name of the source in pipeline.yaml.';
comment on column intake.clicks.subject is 'What was clicked, in a form that all spellings share.';
comment on column intake.clicks.day is 'Day of the clicks, as the export counts days.';
comment on column intake.clicks.country is 'ISO 3166-1 alpha-2; empty where the export does not say.';
comment on column intake.clicks.clicks is 'Clicks of that day, as the file read last states; rows of one file are added up.';
comment on column intake.clicks.written is 'What was clicked, for people: the address without its other parameters, the code or the handle.';
comment on column intake.clicks.references_folded is 'Texts in it that may name an influencer, folded as codes are.';
comment on column intake.clicks.influencer_handle is 'Influencer whom the export itself names.';
comment on column intake.clicks.deal_id is 'Deal that the export itself names.';
comment on column intake.clicks.collab_id is 'Collaboration that the export itself names.';
comment on column intake.clicks.source_file_id is 'File that states it.';
comment on column intake.clicks.line_no is 'Physical line of its first row in that file.';
comment on column intake.clicks.first_seen_at is 'When a file first stated it.';
comment on column intake.clicks.stated_at is 'When a file last stated another number.';
comment on column intake.clicks.job is 'Job that decided whose it is; null before the first decision.';
comment on column intake.clicks.outcome is 'attributed; unattributed (nobody owns it); held (several own it); excluded.';
comment on column intake.clicks.reason is 'Why, where it is not attributed.';
comment on column intake.clicks.matched_by is 'explicit (the export names the influencer), code, handle or link.';
comment on column intake.clicks.target is 'Whose it is: deal:…, collab:… or handle:….';
comment on column intake.clicks.owner_handle is 'Influencer that the request names.';
comment on column intake.clicks.owner_deal_id is 'Deal that the request names.';
comment on column intake.clicks.owner_collab_id is 'Collaboration that the request names.';
comment on column intake.clicks.decided_at is 'When it was decided.';
create index clicks_target on intake.clicks (target, day);
