-- A run can be found among the traces of OpenTelemetry.
alter table ops.runs
  add column trace_id text,
  add constraint runs_trace_id check (trace_id ~ '^[0-9a-f]{32}$');
comment on column ops.runs.trace_id is 'Trace of the run, 32 hex digits, where traces were sent (OTEL_EXPORTER_OTLP_ENDPOINT); null elsewhere.';
