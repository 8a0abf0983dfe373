-- contract: every process of an earlier version. It would credit orders and submit customers that this version holds.

-- Consent has three values for each customer: yes, no and unknown. A no was kept only if a customer had unsubscribed, and held forever; one that
-- a column of consent stated was skipped, and the next file with a yes brought the customer back. Now a no is kept with the time until which it
-- is known to hold, and only a yes with a later date replaces it. is_unsubscribed keeps its meaning, so that processes of the previous version
-- still leave these customers out.

alter table intake.customers
  add column said_yes boolean not null default false,
  add column consented_at timestamptz,
  add column refused_at timestamptz,
  add column consent text generated always as (case when is_unsubscribed then 'no' when said_yes then 'yes' else 'unknown' end) stored;
comment on column intake.customers.said_yes is 'Whether a file said that the customer agreed. False for customers who were read before this was recorded, until a file names them again.';
comment on column intake.customers.consented_at is 'When the customer agreed, at the earliest; null: nobody said yes, or without a date.';
comment on column intake.customers.refused_at is 'Until when a no is known to hold: its date, at the latest; without a date, when its file was put there. Null: nobody said no, or a process of the previous version recorded it.';
comment on column intake.customers.consent is 'yes: agreed. no: refused, unsubscribed, bounced, suppressed or contradictory, and no later date of a yes is known. unknown: neither; submitted only under a setting that says so.';
comment on column intake.customers.is_unsubscribed is 'Consent is no: not sent, or not again, whatever other exports say, until one has a yes with a date after refused_at.';

-- What was refused stays refused, until somebody agrees after this upgrade.
update intake.customers set refused_at = now() where is_unsubscribed;

-- If every customer of a file says yes, those whom it staged do.
update intake.customers c set said_yes = true
from intake.waiting_batches w, intake.source_files f
where w.batch_id = c.batch_id and w.purpose = 'submit' and not c.is_unsubscribed and f.source_file_id = c.staged_file_id and f.state = 'sealed'
  and (f.consent_counts ->> 'blank')::bigint = 0 and (f.consent_counts ->> 'no')::bigint = 0 and (f.consent_counts ->> 'yes')::bigint > 0;

create or replace view intake.customer_states as
select c.customer_hash, c.brand_id,
  case
    when c.is_unsubscribed then 'unsubscribed'
    when b.state = 'accepted' then 'submitted'
    when b.state = 'refused' then 'refused'
    when c.earlier_submissions > 0 then 'submitted'
    else 'staged'
  end as state,
  case when b.state = 'refused' then b.message end as state_reason,
  w.batch_id is not null and not c.is_unsubscribed as is_waiting,
  c.source, c.batch_id, c.earlier_submissions + coalesce((b.state = 'accepted')::integer, 0) as submissions,
  case when b.state = 'accepted' then b.settled_at else c.earlier_submitted_at end as submitted_at,
  b.run_id, b.source_type, c.orders_count, c.spent, c.currency, c.bought_with_code, c.first_seen_at,
  c.consent, c.consented_at, c.refused_at
from intake.customers c
  left join intake.identify_batches b on b.batch_id = c.batch_id and b.state <> 'split'
  left join (intake.waiting_batches w
    join intake.source_files f on f.source_file_id = w.source_file_id and f.state = 'sealed') on w.batch_id = c.batch_id and w.purpose = 'submit'
where c.is_unsubscribed or c.earlier_submissions > 0 or b.batch_id is not null or w.batch_id is not null;
comment on column intake.customer_states.consent is 'As in intake.customers.';
comment on column intake.customer_states.consented_at is 'As in intake.customers.';
comment on column intake.customer_states.refused_at is 'As in intake.customers.';
comment on column intake.customer_states.state is 'staged (waits to be submitted), submitted (the service took it), refused (by the service), unsubscribed (consent is no: not sent, or not again).';
comment on column intake.source_files.passed_over is 'Rows whose customer is not submitted, by reason: {"no_address": 3, "refused": 2, "contradicting": 1, "unknown": 4, "forgotten": 1}. Files that were read before 0082 have no_consent and unsubscribed instead of the three in the middle.';
comment on column intake.source_files.consent_counts is 'Of a file that was read for its customers: how many rows with an address say yes, no (refused, unsubscribed, blacklisted, contradictory) or neither: {"yes": 412, "no": 88, "blank": 3}.';
