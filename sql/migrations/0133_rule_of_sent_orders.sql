-- What was sent keeps the rule by which its amount was computed, or a change of `revenue` would change what it earned.
create table intake.sent_revenue (
  entry_id bigint primary key,
  revenue text not null check (revenue in ('total', 'subtotal', 'total_less_refunds'))
);
comment on table intake.sent_revenue is 'The rule by which the amount of a sent order was computed, if the rule of its job has changed since. Else it is that of intake.revenue_rules.';
comment on column intake.sent_revenue.entry_id is 'Entry of the order in the ledger.';
comment on column intake.sent_revenue.revenue is 'total, subtotal or total_less_refunds, as the job had it when the order was sent.';
