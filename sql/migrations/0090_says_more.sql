-- An answer of autocomplete may say itself that it is cut off, whatever its size.
alter table mirror.prefixes add column says_more boolean not null default false;
comment on column mirror.prefixes.says_more is 'Whether the last answer said itself that it was cut off, for example by a larger total.';
