alter table intake.codes
  add column valid_from_text text,
  add column valid_to_text text;
comment on column intake.codes.valid_from_text is 'The first day or time as the person wrote it, for people to read; null with events, and until a run of this version has loaded it.';
comment on column intake.codes.valid_to_text is 'The last day or time as the person wrote it, like valid_from_text; a day is included, so valid_to is the beginning of the next one.';
