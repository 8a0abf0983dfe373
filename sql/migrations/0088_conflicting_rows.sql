-- Clicks and creators of two files of which nothing says which is newer are held, and no longer taken from the file that was read last.

alter table intake.clicks
  add column also_stated_by bigint[] not null default '{}',
  add column contradicted_by bigint[] not null default '{}';
comment on column intake.clicks.also_stated_by is 'Other files that state the same, and of which nothing says whether they are older.';
comment on column intake.clicks.contradicted_by is 'Files that state something else, and of which nothing says whether they are newer. While one of them is held, so are the clicks.';

alter table intake.creators
  add column also_stated_by bigint[] not null default '{}',
  add column contradicted_by bigint[] not null default '{}';
comment on column intake.creators.also_stated_by is 'Other files that state the same, and of which nothing says whether they are older.';
comment on column intake.creators.contradicted_by is 'Files that state something else, and of which nothing says whether they are newer. While one of them is held, so is the creator.';

alter table intake.source_files
  add column rows_older bigint not null default 0,
  add column newest_since timestamptz,
  add column newest_by text,
  add constraint who_says_that_a_file_is_newest_is_known check ((newest_since is null) = (newest_by is null));
comment on column intake.source_files.rows_older is 'Clicks or creators of which a newer file states something else. They changed nothing.';
comment on column intake.source_files.newest_since is 'When a person said that the file is newer than all that were there by then. Null: nobody did.';
comment on column intake.source_files.newest_by is 'Who said that it is newer.';

comment on column intake.clicks.outcome is 'attributed; unattributed (nobody owns it); held (several own it, or conflicting_states: a file that is held states another number, and nothing says which is newer); excluded.';
comment on column intake.clicks.clicks is 'Clicks of that day, as the newest file states; rows of one file are added up.';
