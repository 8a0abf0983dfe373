-- Events of the service: stored as they come, and what they say about orders, codes and deals.

create table ops.webhook_events (
  event_id bigint generated always as identity primary key,
  kind text not null,
  body jsonb not null,
  body_sha256 text not null unique,
  deal_id text,
  collab_id text,
  sent_at timestamptz,
  received_at timestamptz not null default now()
);
create index webhook_events_deal on ops.webhook_events (deal_id) where deal_id is not null;
create index webhook_events_kind on ops.webhook_events (kind, event_id);
comment on table ops.webhook_events is 'Signed events of the service, each once, stored before they are acknowledged. Unknown kinds too.';
comment on column ops.webhook_events.event_id is 'Counts up.';
comment on column ops.webhook_events.kind is 'As webhook_type of the specification; unknown where neither the body nor the address tells.';
comment on column ops.webhook_events.body is 'What was sent, with e-mail addresses masked and without NUL. A JSON text where it was no JSON object.';
comment on column ops.webhook_events.body_sha256 is 'Digest of the raw body: the same body is an event once, whenever it is sent again.';
comment on column ops.webhook_events.deal_id is 'Deal it is about: a way by which deals are discovered.';
comment on column ops.webhook_events.collab_id is 'Collaboration it is about.';
comment on column ops.webhook_events.sent_at is 'By the timestamp header, which is not signed: for people only.';
comment on column ops.webhook_events.received_at is 'Database clock.';

create table intake.code_changes (
  event_id bigint primary key references ops.webhook_events,
  kind text not null check (kind in ('discount_code', 'custom_link')),
  deal_id text not null,
  collab_id text,
  old_value text,
  new_value text,
  received_at timestamptz not null default now()
);
create index code_changes_deal on intake.code_changes (deal_id, event_id);
comment on table intake.code_changes is 'Discount codes and links that events of the service changed, in the order in which they came.';
comment on column intake.code_changes.event_id is 'Event that says so.';
comment on column intake.code_changes.kind is 'discount_code or custom_link.';
comment on column intake.code_changes.deal_id is 'Deal that owns it.';
comment on column intake.code_changes.collab_id is 'Collaboration that owns it.';
comment on column intake.code_changes.old_value is 'Code or link before; null when there was none.';
comment on column intake.code_changes.new_value is 'Code or link from then on; null when it was taken away.';
comment on column intake.code_changes.received_at is 'Database clock.';

-- An event names an order by its id; without this each would read all entries.
create index entries_order on ledger.entries (order_id) where order_id is not null;

comment on column ledger.evidence.entry_id is 'Entry of the same order when the evidence came; null when there was none yet.';
