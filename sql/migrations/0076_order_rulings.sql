-- What a person decided about orders that are held because something about them is not known: a status, or one order.

create table intake.rulings (
  ruling_id bigint generated always as identity primary key,
  source text not null,
  status text,
  order_id text,
  reason text not null check (reason <> ''),
  content_hash text,
  decision text not null check (decision in ('credit', 'exclude')),
  decided_at timestamptz not null default clock_timestamp(),
  decided_by text not null check (decided_by <> ''),
  withdrawn_at timestamptz,
  constraint concerns_a_status_or_an_order check ((status is null) <> (order_id is null)),
  constraint of_a_status check (status is null or (reason = 'unknown_status' and content_hash is null))
);
create unique index rulings_of_statuses on intake.rulings (source, status) where status is not null and withdrawn_at is null;
create unique index rulings_of_orders on intake.rulings (source, order_id, reason) where order_id is not null and withdrawn_at is null;
comment on table intake.rulings is 'What a person decided about a status or an order that was held. Rows are withdrawn, never deleted; ops.audit says why.';
comment on column intake.rulings.ruling_id is 'Counts up.';
comment on column intake.rulings.source is 'Source of the order, or of the orders with the status.';
comment on column intake.rulings.status is 'Status that is decided, as in intake.orders; empty for orders without one. Null: one order is decided.';
comment on column intake.rulings.order_id is 'Order that is decided; null: a status is.';
comment on column intake.rulings.reason is 'Why it was held: the decision settles only this. For exclude, it is never credited, whatever holds it.';
comment on column intake.rulings.content_hash is 'Version of the order for which the decision holds; null: every version.';
comment on column intake.rulings.decision is 'credit: what was not known is settled, and the order may be credited. exclude: it is never credited.';
comment on column intake.rulings.decided_at is 'When.';
comment on column intake.rulings.decided_by is 'Who.';
comment on column intake.rulings.withdrawn_at is 'When it was withdrawn or replaced; null while it counts.';

-- Held orders are few. They are listed, and decided about again after a ruling.
create index attributions_held on intake.attributions (source, reason) where outcome = 'held';

-- The same order in two sources of a brand is recognised by this; most brands have one source, and then it is null.
alter table intake.attributions add column likeness text;
create index attributions_likeness on intake.attributions (likeness) where likeness is not null;
comment on column intake.attributions.likeness is 'Digest of brand, code, amount, currency and minute of an attributed order, to recognise it in another source of the brand. Null if the brand has one source, or the time is not known.';

comment on column intake.codes.line_no is 'Line in codes.csv; negative for an owner that was assigned in the console or comes from an event of the service.';
