-- What each deal brought and cost, month by month, and the customers it won. Kept as sums, since to add up a million orders takes too long.

-- A customer's orders, and when those of a source begin to be known.
create index orders_customer on intake.orders (customer_key, coalesce(placed_at, paid_at, first_seen_at)) where customer_key is not null;
create index orders_customer_since on intake.orders (source, coalesce(placed_at, paid_at, first_seen_at)) where customer_key is not null;

create table reporting.changed_deals (
  deal_id text not null,
  month_utc date not null,
  primary key (deal_id, month_utc)
);
comment on table reporting.changed_deals is 'Deals and months with orders that stand otherwise than reporting.return_months says: the next step of a refresh adds them up.';
comment on column reporting.changed_deals.deal_id is 'Deal.';
comment on column reporting.changed_deals.month_utc is 'First day of the month.';

create table reporting.return_rules (
  only_row boolean primary key default true check (only_row),
  rules_hash text not null,
  margin_percent numeric(7,4)
);
insert into reporting.return_rules (rules_hash) values ('');
comment on table reporting.return_rules is 'By what reporting.return_months was added up: with other rules all of it is added up anew.';
comment on column reporting.return_rules.only_row is 'There is one row.';
comment on column reporting.return_rules.rules_hash is 'Digest of terms, rates, time zone, and since when customers are known.';
comment on column reporting.return_rules.margin_percent is 'statements.margin_percent; null: not configured.';

create table reporting.return_fees (
  month_utc date not null,
  deal_id text not null,
  currency text not null,
  fee_amount numeric(18,4) not null,
  primary key (deal_id, month_utc, currency)
);
comment on table reporting.return_fees is 'Fixed fees of the terms. Replaced whole when the terms change.';
comment on column reporting.return_fees.month_utc is 'First day of the month in which it is owed.';
comment on column reporting.return_fees.deal_id is 'Deal; empty for the fee of a code.';
comment on column reporting.return_fees.currency is 'ISO 4217.';
comment on column reporting.return_fees.fee_amount is 'Fee, in currency.';

create table reporting.return_months (
  month_utc date not null,
  deal_id text not null,
  brand_id text not null,
  currency text not null,
  influencer_handle text,
  orders bigint not null check (orders > 0),
  sent_amount numeric(24,4) not null,
  net_amount numeric(24,4) not null,
  commission_amount numeric(24,4) not null,
  unrated_orders bigint not null,
  new_customers bigint not null,
  returning_orders bigint not null,
  unknown_orders bigint not null,
  repeat_customers bigint not null,
  net_30_amount numeric(24,4) not null,
  net_90_amount numeric(24,4) not null,
  net_365_amount numeric(24,4) not null,
  last_won_at timestamptz,
  primary key (deal_id, month_utc, brand_id, currency)
);
create index return_months_month on reporting.return_months (month_utc);
comment on table reporting.return_months is 'What accepted orders of a deal came to, and the customers whose first order they are, one row a month, deal, brand and currency.';
comment on column reporting.return_months.month_utc is 'First day of the month of the orders, in UTC.';
comment on column reporting.return_months.deal_id is 'Deal that the service credited.';
comment on column reporting.return_months.brand_id is 'Brand; empty where it is unknown.';
comment on column reporting.return_months.currency is 'ISO 4217.';
comment on column reporting.return_months.influencer_handle is 'Influencer, where an order names one.';
comment on column reporting.return_months.orders is 'Orders that we posted and the service accepted.';
comment on column reporting.return_months.sent_amount is 'Revenue as sent.';
comment on column reporting.return_months.net_amount is 'Revenue net of refunds and cancellations.';
comment on column reporting.return_months.commission_amount is 'Commission of orders whose rate is known, as in statements.';
comment on column reporting.return_months.unrated_orders is 'Orders whose rate nobody says.';
comment on column reporting.return_months.new_customers is 'Orders that are the first known one of their customer.';
comment on column reporting.return_months.returning_orders is 'Orders of customers who had ordered before.';
comment on column reporting.return_months.unknown_orders is 'Orders of which it is unknown: without a key of the customer, or too soon after keys begin.';
comment on column reporting.return_months.repeat_customers is 'Of new_customers: those who have ordered again since, whatever brought them.';
comment on column reporting.return_months.net_30_amount is 'Net revenue of all orders of new_customers in this currency, in 30 days from the first.';
comment on column reporting.return_months.net_90_amount is 'The same, in 90 days.';
comment on column reporting.return_months.net_365_amount is 'The same, in 365 days.';
comment on column reporting.return_months.last_won_at is 'First order of the last of new_customers.';
