-- What a run did with its time: its steps, its requests, and what it said while it went on.

create table ops.run_steps (
  run_id bigint not null,
  step text not null,
  position integer not null,
  label text not null,
  times integer not null,
  started_at timestamptz not null,
  seconds numeric(12,3) not null,
  finished_at timestamptz,
  unit text not null,
  done bigint not null,
  total bigint,
  primary key (run_id, step)
);
comment on table ops.run_steps is 'Steps of each run, one row a kind of step: reading 20 files is one row. Written about once a second while the run goes on.';
comment on column ops.run_steps.run_id is 'Run, see ops.runs.';
comment on column ops.run_steps.step is 'Stable name: read, attribute, post.';
comment on column ops.run_steps.position is 'Order in which the run began them, from 0.';
comment on column ops.run_steps.label is 'What the run shows a person, of the last time: Reading orders.csv.';
comment on column ops.run_steps.times is 'How many times the run began it, for example once a file.';
comment on column ops.run_steps.started_at is 'When it began for the first time. Clock of the process.';
comment on column ops.run_steps.seconds is 'Time in it so far, all times together.';
comment on column ops.run_steps.finished_at is 'When it last ended; null while the run is in it, or when its process died in it.';
comment on column ops.run_steps.unit is 'What done and total count: bytes, orders, requests.';
comment on column ops.run_steps.done is 'How much of it is done, all times together.';
comment on column ops.run_steps.total is 'How much there was to do, all times together; null where that was unknown.';

create table ops.run_requests (
  run_id bigint not null,
  operation text not null,
  requests bigint not null,
  answered bigint not null,
  refused bigint not null,
  throttled bigint not null,
  failed bigint not null,
  median_ms numeric(12,1) not null,
  p95_ms numeric(12,1) not null,
  slowest_ms numeric(12,1) not null,
  primary key (run_id, operation)
);
comment on table ops.run_requests is 'Requests of each run to the service, one row an operation, with how long they took from the start to the complete answer.';
comment on column ops.run_requests.run_id is 'Run, see ops.runs.';
comment on column ops.run_requests.operation is 'Operation of the contract, for example new_influencer_referral.';
comment on column ops.run_requests.requests is 'All of them: answered + refused + throttled + failed.';
comment on column ops.run_requests.answered is 'Answers with a status of 200 to 299.';
comment on column ops.run_requests.refused is 'Answers with a status of 400 to 499, except 429.';
comment on column ops.run_requests.throttled is 'Answers with status 429.';
comment on column ops.run_requests.failed is 'Any other status, and requests without a complete answer.';
comment on column ops.run_requests.median_ms is 'Half of them took no longer, within 0.1 percent.';
comment on column ops.run_requests.p95_ms is '95 of 100 took no longer.';
comment on column ops.run_requests.slowest_ms is 'The longest.';

create table ops.run_messages (
  run_id bigint not null,
  message_no integer not null,
  at timestamptz not null,
  message text not null,
  primary key (run_id, message_no)
);
comment on table ops.run_messages is 'What each run said while it went on, the first 200 messages. No secrets, row values or addresses.';
comment on column ops.run_messages.run_id is 'Run, see ops.runs.';
comment on column ops.run_messages.message_no is 'Order, from 0.';
comment on column ops.run_messages.at is 'When. Clock of the process.';
comment on column ops.run_messages.message is 'A sentence for a person.';
