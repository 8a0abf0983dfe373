-- Statements look an order up by one of two unique indexes. Where the server knows nothing of a table (it was just filled, or a load was rolled
-- back), it takes all indexes that match for equally cheap, and orders_in_file matched a look-up by source and order too: it was read whole
-- for each order. Its second column compares as bytes now, so that only what asks for `order_id collate "C"` can use it.
drop index intake.orders_in_file;
create unique index orders_in_file on intake.orders (source_file_id, order_id collate "C");

-- Likewise: no query needs it, and a look-up by (job, source, order_id) could use it and then read all of a job.
drop index intake.attributions_outcome;

-- Looked up by its order, and not by its kind, which nearly all evidence may have in common.
create or replace view ledger.seeded_orders as
  select v.order_platform, v.order_id, v.seed_id
  from ledger.evidence v
  where v.kind is not distinct from 'seeded' and not exists (select from ledger.seed_undos u where u.seed_id = v.seed_id);

-- The refresh looks at open orders page by page, in the order of their keys.
drop index reporting.order_standings_open;
create index order_standings_open on reporting.order_standings (job, source, order_id) where is_open;

create table reporting.changed_days (
  day_utc date primary key
);
comment on table reporting.changed_days is 'Days with orders that stand otherwise than the daily sums say: the next step of a refresh adds them up.';
comment on column reporting.changed_days.day_utc is 'Day in UTC.';
comment on table reporting.refresh is 'When the tables of this schema were last brought up to date. Its one row is locked by each step, so that one refresh works at a time.';

-- Only its owner may analyse a table, and runs are to be done by another role.
create function ops.analyze_table(wanted regclass) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $analyze$
begin
  if not exists (
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = wanted and c.relkind = 'r' and n.nspname in ('ops', 'intake', 'ledger', 'mirror', 'reporting')) then
    raise exception '% is not one of our tables', wanted using errcode = 'invalid_parameter_value';
  end if;
  execute format('analyze (skip_locked) %s', wanted);
end $analyze$;
comment on function ops.analyze_table(regclass) is 'Analyses a table of ours, with the rights of its owner. Where another process is at it, it does nothing.';
revoke execute on function ops.analyze_table(regclass) from public;
-- Where the roles stand already (`migrate --roles`), the one that runs jobs needs it.
if exists (select from pg_roles where rolname = 'influencer_sync_app') then
  grant execute on function ops.analyze_table(regclass) to influencer_sync_app;
end if;
