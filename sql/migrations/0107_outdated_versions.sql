-- contract: stop processes of earlier versions first. They go on posting, but what they find in doubt for a rejected row stays held.
-- What a version says that repeats an order in doubt, because a row of it was rejected: in columns, instead of in its digest.

alter table intake.orders
  add column rejected_hash text,
  add column stated_hash text,
  add column stated_version_id bigint,
  add constraint only_of_outdated check (stated_hash is not null or (rejected_hash is null and stated_version_id is null));
comment on column intake.orders.rejected_hash is 'Digest of the rejected rows for which the version is in doubt (newer_row_rejected): the same rows again say nothing new. Null: none, or no longer.';
comment on column intake.orders.stated_hash is 'The content_hash of what a file states, where that of the version is of its own, so that the next file that states the order decides. Null: the two are the same.';
comment on column intake.orders.stated_version_id is 'The version, stated by a file, that this one only repeats. Its file says how old the state is. Null: this version is stated by its own file.';

-- The digests stay: decisions of people name them.
update intake.orders
set rejected_hash = nullif(split_part(content_hash, ':', 2), '0'),
  stated_hash = regexp_replace(content_hash, '^outdated:[0-9a-f]+:[0-9]+:[0-9]+:', ''),
  stated_version_id = nullif(split_part(content_hash, ':', 3)::bigint, order_version_id)
where starts_with(content_hash, 'outdated:');
