-- Amounts of returns in one currency, where the rate of the day is known.

create table reporting.exchange_rates (
  currency text not null,
  day_local date not null,
  rate numeric(24,12) not null check (rate > 0),
  primary key (currency, day_local)
);
comment on table reporting.exchange_rates is 'Rates of statements.fx into statements.reporting_currency. Replaced when the file changes.';
comment on column reporting.exchange_rates.currency is 'ISO 4217.';
comment on column reporting.exchange_rates.day_local is 'Day, in statements.time_zone.';
comment on column reporting.exchange_rates.rate is 'What 1 of currency was worth on the day, in statements.reporting_currency.';

alter table reporting.return_rules add column reporting_currency text;
comment on column reporting.return_rules.reporting_currency is 'statements.reporting_currency; null: not configured.';

alter table reporting.return_fees add column fee_converted numeric(24,4);
comment on column reporting.return_fees.fee_converted is 'Fee in the reporting currency, at the rate of valid_from; null: unknown.';

alter table reporting.return_months add column net_converted numeric(24,4) not null default 0,
  add column commission_converted numeric(24,4) not null default 0, add column fee_converted numeric(24,4),
  add column unconverted_orders bigint not null default 0;
comment on column reporting.return_months.net_converted is 'net_amount in the reporting currency, each order at the rate of its day.';
comment on column reporting.return_months.commission_converted is 'The same of commission_amount.';
comment on column reporting.return_months.fee_converted is 'The same of fee_amount; null: unknown.';
comment on column reporting.return_months.unconverted_orders is 'Orders in another currency for whose day no rate is known: they are in no converted amount.';

-- Everything is added up anew.
update reporting.return_rules set rules_hash = '';
