-- Where each run sent to, so that a run against a sandbox is told from a live one afterwards.
alter table ops.runs add column service text;
comment on column ops.runs.service is 'Base address of the service that it called. Null: a plan, or a run of a version that did not store it.';
