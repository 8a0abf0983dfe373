-- What became of an order is its disposition, and orders that a file repeats unchanged are unchanged orders. Names change, no row does.

alter table reporting.order_standings rename to order_dispositions;
alter table reporting.order_dispositions rename column standing to disposition;
alter table reporting.order_dispositions rename column standing_reason to disposition_reason;
alter table reporting.order_dispositions rename column standing_at to disposition_at;
alter table reporting.order_dispositions rename constraint order_standings_pkey to order_dispositions_pkey;
alter table reporting.order_dispositions rename constraint order_standings_standing_check to order_dispositions_disposition_check;
alter index reporting.order_standings_day rename to order_dispositions_day;
alter index reporting.order_standings_deal rename to order_dispositions_deal;
alter index reporting.order_standings_open rename to order_dispositions_open;
alter index reporting.order_standings_since rename to order_dispositions_since;

alter table reporting.funnel_days rename column standing to disposition;
alter table reporting.funnel_days rename column standing_reason to disposition_reason;
comment on table reporting.funnel_days is 'order_dispositions added up by day, job, source, currency, disposition and reason.';
comment on column reporting.funnel_days.disposition is 'As in order_dispositions.';
comment on column reporting.funnel_days.disposition_reason is 'As in order_dispositions.';
comment on table reporting.counted_files is 'Decisions that order_dispositions has taken note of, by file: what differs from intake.attributed_files is looked at by the next refresh.';

alter table intake.order_sightings rename to unchanged_orders;
alter table intake.unchanged_orders rename constraint order_sightings_source_file_id_fkey to unchanged_orders_source_file_id_fkey;
alter index intake.order_sightings_file rename to unchanged_orders_file;
