-- A held file can be released (it is not to be missed), and a file that was read can be read again: by a new row, while the orders of the
-- old one stay in force until the new one is sealed.
alter table intake.source_files
  add column released_at timestamptz,
  add column released_by text,
  add column release_reason text,
  add column reread_at timestamptz,
  add column reread_by text,
  add column superseded_by bigint references intake.source_files,
  drop constraint source_files_state_check,
  add constraint source_files_state_check check (state in ('reading', 'sealed', 'held', 'duplicate', 'released')),
  drop constraint held_files_say_why,
  add constraint held_files_say_why check ((state in ('held', 'released')) = (hold_code is not null)),
  add constraint released_files_say_why check (
    (state = 'released') = (released_at is not null) and (released_at is null) = (release_reason is null)
    and (released_by is null or released_at is not null)),
  drop constraint source_files_identity;
create unique index source_files_identity on intake.source_files (source, read_for, uri, version) where superseded_by is null;
create index source_files_held on intake.source_files (source) where state = 'held';
comment on column intake.source_files.state is 'reading (not postable), sealed (read whole, rows add up), held (kept back, see hold_…), released (was held, and is not to be missed), duplicate (same content as another file).';
comment on column intake.source_files.hold_code is 'Machine name of the reason for holding it; it stays when the file is released.';
comment on column intake.source_files.released_at is 'When its hold ended without the file being read.';
comment on column intake.source_files.released_by is 'Who released it (files release); null: the program, because its source no longer covers it.';
comment on column intake.source_files.release_reason is 'Why it is not to be missed.';
comment on column intake.source_files.reread_at is 'When it was asked that the next run reads it again; null: it was not.';
comment on column intake.source_files.reread_by is 'Who asked for it (files reread).';
comment on column intake.source_files.superseded_by is 'The later reading of the same version. Orders of this one count until a later one states them otherwise; null: this is the last reading.';
