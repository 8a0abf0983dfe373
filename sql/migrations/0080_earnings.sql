-- What an order has earned follows the decision about it, is net of refunds whatever amount was sent, and never mixes currencies. A closed
-- statement keeps the exchange rates with which it was closed.

create table intake.revenue_rules (
  job text not null,
  source text not null,
  revenue text not null check (revenue in ('total', 'subtotal', 'total_less_refunds')),
  primary key (job, source)
);
comment on table intake.revenue_rules is 'The rule by which each job last computed the amounts of the orders of a source. It says which refunds an amount already includes.';
comment on column intake.revenue_rules.job is 'Job.';
comment on column intake.revenue_rules.source is 'Source of the orders. Of a source that the job no longer reads, the rule stays as it was.';
comment on column intake.revenue_rules.revenue is 'total, subtotal or total_less_refunds: `revenue` of the job in the configuration.';

-- What jobs have decided until now shows their rule: by an order without refunds whose subtotal differs from its total, else by one with refunds.
-- If there is neither, all rules have led to the same amounts, and the next run of the job stores its rule.
insert into intake.revenue_rules (job, source, revenue)
select j.job, j.source, coalesce(
  (select case when a.amount = o.subtotal then 'subtotal' end
   from intake.attributions a join intake.orders o using (order_version_id)
   where a.job = j.job and a.source = j.source and a.outcome = 'attributed' and coalesce(o.refunded, 0) = 0 and o.subtotal <> o.total limit 1),
  (select case when a.amount = o.total - o.refunded then 'total_less_refunds' when a.amount = o.subtotal then 'subtotal' end
   from intake.attributions a join intake.orders o using (order_version_id)
   where a.job = j.job and a.source = j.source and a.outcome = 'attributed' and o.refunded > 0 limit 1),
  'total')
from (
  select distinct d.job, f.source from intake.attributed_files d join intake.source_files f using (source_file_id)
  where f.source is not null) j;

create function reporting.note_changed_revenue() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id)
  select entry_id from intake.attributions where job = new.job and source = new.source and entry_id is not null;
  return null;
end $note$;
comment on function reporting.note_changed_revenue() is 'Notes that the orders of a job and a source may have earned something else, because their amounts may now include other refunds.';
create trigger note_earnings after insert or update on intake.revenue_rules
  for each row execute function reporting.note_changed_revenue();

-- The outcome decides whether an order earns, and the code that won decides its rate.
create or replace function reporting.note_changed_attribution() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id)
  select c.entry_id
  from (
    select entry_id from (
      select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle from new_rows
      except select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle from old_rows) n
    union
    select entry_id from (
      select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle from old_rows
      except select entry_id, job, source, order_id, order_version_id, outcome, matched_by, matched_value, influencer_handle from new_rows) o
  ) c
  left join lateral (
    select e.xmin from ledger.entries e where e.entry_id = c.entry_id limit 1) e on true
  where c.entry_id is not null and e.xmin is distinct from pg_current_xact_id()::xid;
  return null;
end $note$;

alter table ledger.adjustments drop constraint adjustments_kind_check;
alter table ledger.adjustments add constraint adjustments_kind_check
  check (kind in ('changed', 'refunded', 'cancelled', 'excluded', 'reattributed', 'held'));
create index adjustments_held on ledger.adjustments (entry_id) where kind = 'held';
alter table ledger.adjustments add column is_elsewhere boolean not null default false;
comment on column ledger.adjustments.kind is 'changed (another amount), refunded, cancelled, excluded (no longer to be credited), reattributed (another influencer), held (the order is held, or states another currency, so what it comes to now is unknown).';
comment on column ledger.adjustments.new_amount is 'As it would be sent now, in currency; of a held order, as its export states it. Null when it would not be sent, or if it states another currency.';
comment on column ledger.adjustments.is_elsewhere is 'Whether a source states it that is not responsible for the order. Then what the order earns does not change. Rows of earlier versions say so only in their detail.';

alter table reporting.order_earnings alter column net_amount drop not null;
alter table reporting.order_earnings drop constraint order_earnings_standing_check;
alter table reporting.order_earnings add constraint order_earnings_standing_check
  check (standing in ('new', 'nothing', 'correction', 'settled', 'unknown_rate', 'unknown_lines', 'unknown_net'));
alter table reporting.order_earnings add constraint only_an_unknown_net_is_null check ((net_amount is null) = (standing = 'unknown_net'));
drop index reporting.deal_earnings_unknown;
create index deal_earnings_unknown on reporting.deal_earnings (standing, deal_id) where standing in ('unknown_rate', 'unknown_lines', 'unknown_net');
comment on column reporting.order_earnings.net_amount is 'Revenue net of refunds and cancellations, in currency. Null: unknown, because what was refunded is.';
comment on column reporting.order_earnings.standing is 'new (it has earned something, and is in no closed statement), nothing (in none, and it has earned 0), correction (it has earned something else than its closed statements say), settled (the same), unknown_rate, unknown_lines, unknown_net.';

alter table reporting.return_months add column unvalued_orders bigint not null default 0;
comment on column reporting.return_months.unvalued_orders is 'Orders whose net revenue is unknown, because what was refunded is: they are in no amount but sent_amount.';
comment on column reporting.return_months.unrated_orders is 'Orders whose rate nobody says: their commission is not in commission_amount.';

-- A fee that is owed in another currency than before takes two lines: one for each currency.
alter table ops.statement_lines drop constraint a_subject_is_once_in_a_statement;
alter table ops.statement_lines add constraint a_subject_is_once_in_a_statement unique (statement_id, subject, currency);

alter table ops.statements add column reporting_currency text check (reporting_currency ~ '^[A-Z]{3}$');
comment on column ops.statements.reporting_currency is 'Currency of the total of all lines, as configured when it was closed; null: none.';
alter table ops.statement_lines add column exchange_rate numeric(24,12) check (exchange_rate > 0);
comment on column ops.statement_lines.exchange_rate is 'What 1 of currency was worth on due_on, in reporting_currency of the statement, when it was closed; null: there was no rate, or no reporting currency.';

-- Everything is added up again.
update reporting.return_rules set rules_hash = '';
