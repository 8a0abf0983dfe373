-- What each accepted order has earned, and sums of it, so that a month that is not closed need not be computed from all orders each time it is
-- shown. A trigger notes each change that can affect what an order has earned, in the transaction of the change. A reader computes the noted
-- orders live, and takes the others from these tables. src/earnings/kept-earnings.ts says why the result is exact at any moment.

create table reporting.changed_earnings (
  change_no bigint generated always as identity primary key,
  entry_id bigint,
  collab_id text,
  constraint changed_earnings_name_one check (num_nonnulls(entry_id, collab_id) = 1)
);
comment on table reporting.changed_earnings is 'Entries and collaborations that have changed since order_earnings was last updated. Written by triggers, emptied by the update.';
comment on column reporting.changed_earnings.change_no is 'Counts up.';
comment on column reporting.changed_earnings.entry_id is 'Entry of the ledger that may earn something else now.';
comment on column reporting.changed_earnings.collab_id is 'Collaboration whose rate has changed: all of its orders may earn something else now.';

create table reporting.earning_rules (
  only_row boolean primary key default true check (only_row),
  rules_hash text not null
);
insert into reporting.earning_rules (rules_hash) values ('');
comment on table reporting.earning_rules is 'The rules by which order_earnings was computed. A reader with other rules does not use it.';
comment on column reporting.earning_rules.only_row is 'There is one row.';
comment on column reporting.earning_rules.rules_hash is 'Digest of the terms, the return window and the time zone. Empty: never computed.';

create table reporting.order_earnings (
  entry_id bigint primary key,
  source text,
  order_platform text,
  order_id text,
  ordered_on date not null,
  due_on date not null,
  deal_id text,
  collab_id text,
  brand_id text,
  influencer_handle text,
  currency text not null,
  sent_amount numeric(18,4) not null,
  net_amount numeric(18,4) not null,
  excluded_amount numeric(18,4),
  rate_percent numeric,
  rate_from text,
  earned_amount numeric(18,4),
  closed_amount numeric(18,4),
  standing text not null check (standing in ('new', 'nothing', 'correction', 'settled', 'unknown_rate', 'unknown_lines'))
);
create index order_earnings_deal on reporting.order_earnings (deal_id) where standing <> 'settled';
create index order_earnings_collab on reporting.order_earnings (collab_id) where collab_id is not null;
comment on table reporting.order_earnings is 'What each accepted order has earned, one row per order that this tool posted. Orders in changed_earnings may earn something else by now.';
comment on column reporting.order_earnings.entry_id is 'Entry of the ledger.';
comment on column reporting.order_earnings.source is 'Source of the order.';
comment on column reporting.order_earnings.order_platform is 'Shop platform as sent.';
comment on column reporting.order_earnings.order_id is 'Order as sent.';
comment on column reporting.order_earnings.ordered_on is 'Day of the order, in the time zone of the statements.';
comment on column reporting.order_earnings.due_on is 'Day from which it counts.';
comment on column reporting.order_earnings.deal_id is 'Deal that the service credited.';
comment on column reporting.order_earnings.collab_id is 'Collaboration that the service credited.';
comment on column reporting.order_earnings.brand_id is 'Brand.';
comment on column reporting.order_earnings.influencer_handle is 'Influencer, if known.';
comment on column reporting.order_earnings.currency is 'ISO 4217.';
comment on column reporting.order_earnings.sent_amount is 'Revenue as it was sent, in currency.';
comment on column reporting.order_earnings.net_amount is 'Revenue net of refunds and cancellations, in currency.';
comment on column reporting.order_earnings.excluded_amount is 'Part of net_amount that earns nothing, because the terms exclude the product. Null: unknown.';
comment on column reporting.order_earnings.rate_percent is 'Commission in percent. Null: unknown.';
comment on column reporting.order_earnings.rate_from is 'Where the rate comes from: code or deal (of the terms), or service.';
comment on column reporting.order_earnings.earned_amount is 'What it has earned, in currency. Null: unknown.';
comment on column reporting.order_earnings.closed_amount is 'Sum of its lines in closed statements. Null: it has none.';
comment on column reporting.order_earnings.standing is 'new (it has earned something, and is in no closed statement), nothing (in none, and it has earned 0), correction (it has earned something else than its closed statements say), settled (the same), unknown_rate, unknown_lines.';

create table reporting.deal_earnings (
  currency text not null,
  deal_id text not null,
  standing text not null,
  ordered_month date not null,
  due_month date not null,
  influencer_handle text not null,
  orders bigint not null,
  net_amount numeric(24,4) not null,
  earned_amount numeric(24,4) not null,
  closed_amount numeric(24,4) not null,
  primary key (deal_id, currency, standing, ordered_month, due_month, influencer_handle)
);
create index deal_earnings_lines on reporting.deal_earnings (currency, deal_id) where standing in ('new', 'correction');
create index deal_earnings_unknown on reporting.deal_earnings (standing, deal_id) where standing in ('unknown_rate', 'unknown_lines');
create index deal_earnings_ordered on reporting.deal_earnings (ordered_month) where standing in ('new', 'nothing');
create index deal_earnings_empty on reporting.deal_earnings (deal_id) where orders = 0;
comment on table reporting.deal_earnings is 'order_earnings added up by deal, currency, standing, months and influencer, without settled orders.';
comment on column reporting.deal_earnings.currency is 'ISO 4217.';
comment on column reporting.deal_earnings.deal_id is 'Deal; empty if unknown.';
comment on column reporting.deal_earnings.standing is 'As in order_earnings.';
comment on column reporting.deal_earnings.ordered_month is 'First day of the month of ordered_on.';
comment on column reporting.deal_earnings.due_month is 'First day of the month of due_on.';
comment on column reporting.deal_earnings.influencer_handle is 'Influencer; empty if unknown.';
comment on column reporting.deal_earnings.orders is 'How many.';
comment on column reporting.deal_earnings.net_amount is 'Revenue net of refunds and cancellations, in currency.';
comment on column reporting.deal_earnings.earned_amount is 'What they have earned; 0 if unknown.';
comment on column reporting.deal_earnings.closed_amount is 'Sum of their lines in closed statements.';

create table reporting.earning_days (
  currency text not null,
  standing text not null,
  ordered_on date not null,
  due_on date not null,
  orders bigint not null,
  net_amount numeric(24,4) not null,
  earned_amount numeric(24,4) not null,
  closed_amount numeric(24,4) not null,
  primary key (currency, standing, ordered_on, due_on)
);
comment on table reporting.earning_days is 'order_earnings added up by currency, standing and day, without settled orders.';
comment on column reporting.earning_days.currency is 'ISO 4217.';
comment on column reporting.earning_days.standing is 'As in order_earnings.';
comment on column reporting.earning_days.ordered_on is 'Day of the orders.';
comment on column reporting.earning_days.due_on is 'Day from which they count.';
comment on column reporting.earning_days.orders is 'How many.';
comment on column reporting.earning_days.net_amount is 'Revenue net of refunds and cancellations, in currency.';
comment on column reporting.earning_days.earned_amount is 'What they have earned; 0 if unknown.';
comment on column reporting.earning_days.closed_amount is 'Sum of their lines in closed statements.';

-- With the rights of the owner: a person who settles a doubt may change the ledger and not the reports.
create function reporting.note_changed_entry() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id) values (new.entry_id);
  return null;
end $note$;
comment on function reporting.note_changed_entry() is 'Notes that the entry of a row may have earned something else.';

create function reporting.note_changed_attribution() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  if old.entry_id is not null then
    insert into reporting.changed_earnings (entry_id) values (old.entry_id);
  end if;
  if new.entry_id is distinct from old.entry_id and new.entry_id is not null then
    insert into reporting.changed_earnings (entry_id) values (new.entry_id);
  end if;
  return null;
end $note$;
comment on function reporting.note_changed_attribution() is 'Notes that the entries of a changed or deleted attribution may have earned something else.';

create function reporting.note_changed_rate() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (collab_id) select distinct c from unnest(array[old.collab_id, new.collab_id]) as c where c is not null;
  return null;
end $note$;
comment on function reporting.note_changed_rate() is 'Notes that the orders of a collaboration may have earned something else.';

create function reporting.note_closed_lines() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $note$
begin
  insert into reporting.changed_earnings (entry_id) select entry_id from closed_lines where entry_id is not null;
  return null;
end $note$;
comment on function reporting.note_closed_lines() is 'Notes that the orders of a closed statement have been closed.';

create trigger note_earnings_inserted after insert on ledger.entries
  for each row when (new.effect = 'referral' and new.state = 'accepted') execute function reporting.note_changed_entry();
create trigger note_earnings_updated
  after update of state, attempt, amount, currency, deal_id, collab_id, brand_id, job, source, order_platform, order_id on ledger.entries
  for each row when (new.effect = 'referral' and (new.state = 'accepted' or old.state = 'accepted')) execute function reporting.note_changed_entry();
create trigger note_earnings after insert on ledger.adjustments
  for each row execute function reporting.note_changed_entry();
create trigger note_earnings_inserted after insert on intake.attributions
  for each row when (new.entry_id is not null) execute function reporting.note_changed_entry();
create trigger note_earnings_updated after update on intake.attributions
  for each row when (
    (old.entry_id is not null or new.entry_id is not null)
    and (old.entry_id, old.job, old.order_version_id, old.matched_by, old.influencer_handle)
      is distinct from (new.entry_id, new.job, new.order_version_id, new.matched_by, new.influencer_handle))
  execute function reporting.note_changed_attribution();
create trigger note_earnings_deleted after delete on intake.attributions
  for each row when (old.entry_id is not null) execute function reporting.note_changed_attribution();
create trigger note_earnings_inserted after insert on mirror.collaboration_versions
  for each row when (new.commission_perc is not null) execute function reporting.note_changed_rate();
create trigger note_earnings_updated after update of collab_id, commission_perc, valid_from on mirror.collaboration_versions
  for each row when ((old.collab_id, old.commission_perc, old.valid_from) is distinct from (new.collab_id, new.commission_perc, new.valid_from))
  execute function reporting.note_changed_rate();
create trigger note_earnings_deleted after delete on mirror.collaboration_versions
  for each row when (old.commission_perc is not null) execute function reporting.note_changed_rate();
create trigger note_earnings after insert on ops.statement_lines referencing new table as closed_lines
  for each statement execute function reporting.note_closed_lines();

-- Fees are few: a statement looks up those that were closed.
create index statement_lines_fees on ops.statement_lines (subject) where entry_id is null;
