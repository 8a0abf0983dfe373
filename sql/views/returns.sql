-- What deals brought and cost, and the customers they won. docs/money.md says how each number is made and what it must not be used for.

-- The planner leaves out a join that a question does not need if `distinct` proves that it adds no rows; it does not use partial unique indexes
-- for that. The margin is divided once for each question instead of once for each row.
create view bi.returns_monthly as
  select m.month_utc, m.deal_id, m.influencer_handle, m.brand_id, b.name as brand_name, m.dealflow_id, f.name as dealflow_name, m.currency,
    m.orders, m.sent_amount, m.net_amount, m.unrated_orders, m.commission_amount, m.fee_amount, m.cost_amount, m.margin_percent,
    round(m.net_amount * (select margin_percent / 100 from reporting.return_rules) - m.cost_amount, 4) as profit_amount,
    round((m.net_amount * (select margin_percent / 100 from reporting.return_rules) - m.cost_amount) * 100 / nullif(m.cost_amount, 0), 2) as roi_percent,
    round(m.net_amount / nullif(m.cost_amount, 0), 4) as net_per_cost, m.new_customers, m.returning_orders, m.unknown_orders,
    case when m.unknown_orders = 0 then round(m.cost_amount / nullif(m.new_customers, 0), 4) end as cost_per_new_customer_amount,
    nullif(concat_ws(', ', case when m.unrated_orders > 0 then 'rate' end, case when m.unlined_orders > 0 then 'products' end, case when m.unvalued_orders > 0 then 'refunds' end, case when m.margin_percent is null then 'margin' end,
      case when m.unknown_orders > 0 then 'customers' end,
      case when m.unconverted_orders > 0 or m.is_fee_unconverted then 'exchange' end), '') as unknown,
    m.reporting_currency, m.unconverted_orders, m.net_reporting_amount, m.cost_reporting_amount,
    m.net_reporting_amount * (select margin_percent * 0.01 from reporting.return_rules) - m.cost_reporting_amount as profit_reporting_amount, m.unlined_orders,
    m.unvalued_orders, m.uncosted_orders, m.net_at_least_amount, m.cost_at_least_amount, m.net_reporting_at_least_amount, m.cost_reporting_at_least_amount
  from (
    select r.month_utc, nullif(r.deal_id, '') as deal_id,
      -- As reporting.deal_owners has it, of which this question reads one half anyway.
      coalesce(reporting.without_addresses(coalesce(nullif(d.influencer_handle, ''), c.influencer_handle)), r.influencer_handle) as influencer_handle,
      coalesce(nullif(r.brand_id, ''), d.brand_id) as brand_id, d.dealflow_id, r.currency, r.orders, r.sent_amount,
      case when r.unvalued_orders = 0 then r.net_amount end as net_amount, r.unrated_orders, r.unlined_orders, r.unvalued_orders, u.uncosted_orders,
      case when u.uncosted_orders = 0 then r.commission_amount end as commission_amount, r.fee_amount,
      case when u.uncosted_orders = 0 then r.commission_amount + r.fee_amount end as cost_amount, r.net_amount as net_at_least_amount,
      r.commission_amount + r.fee_amount as cost_at_least_amount, rules.margin_percent, r.new_customers,
      r.returning_orders, r.unknown_orders, rules.reporting_currency,
      case when rules.reporting_currency is not null then r.unconverted_orders end as unconverted_orders,
      rules.reporting_currency is not null and r.fee_converted is null as is_fee_unconverted,
      case when v.is_converted and r.unvalued_orders = 0 then r.net_converted end as net_reporting_amount,
      case when v.is_converted and u.uncosted_orders = 0 then r.commission_converted + r.fee_converted end as cost_reporting_amount,
      case when v.is_converted then r.net_converted end as net_reporting_at_least_amount,
      case when v.is_converted then r.commission_converted + r.fee_converted end as cost_reporting_at_least_amount
    from (
      select month_utc, deal_id, brand_id, currency, influencer_handle, orders, sent_amount, net_amount, unrated_orders, unlined_orders, unvalued_orders, commission_amount,
        fee_amount, new_customers, returning_orders, unknown_orders, unconverted_orders, net_converted, commission_converted, fee_converted
      from reporting.return_months
      union all
      -- The fee of a month without orders.
      select e.month_utc, e.deal_id, '', e.currency, null, 0, 0, 0, 0, 0, 0, 0, e.fee_amount, 0, 0, 0, 0, 0, 0, e.fee_converted
      from reporting.return_fees e
      where not exists (
        select from reporting.return_months r where r.deal_id = e.deal_id and r.month_utc = e.month_utc and r.currency = e.currency)
    ) r
    left join mirror.deal_versions d on d.deal_id = r.deal_id and d.is_latest
    -- As the view has it: a question about one deal then looks up only its owner.
    left join reporting.code_owners c on c.deal_id = nullif(r.deal_id, '')
    cross join reporting.return_rules rules
    cross join lateral (select r.unrated_orders + r.unlined_orders + r.unvalued_orders as uncosted_orders) u
    cross join lateral (select rules.reporting_currency is not null and r.unconverted_orders = 0 as is_converted) v
  ) m
  left join (select distinct on (brand_id) brand_id, name from mirror.brand_versions where is_latest) b on b.brand_id = m.brand_id
  left join (select distinct on (dealflow_id) dealflow_id, name from mirror.dealflow_versions where is_latest) f on f.dealflow_id = m.dealflow_id;
comment on view bi.returns_monthly is 'What each deal brought and cost, one row per month, deal, brand and currency. Only orders that this tool posted and the service accepted; as of the last refresh (bi.run_health). It counts orders that carried a code or link, not orders that a creator caused. Answers: What did each deal bring and cost? Which creators pay off? Which campaigns pay off? What does a new customer cost for each brand?';
comment on column bi.returns_monthly.month_utc is 'First day of the month of the orders, in UTC. With deal_id, brand_id and currency, the key of the row.';
comment on column bi.returns_monthly.deal_id is 'Deal, see bi.deals. Null: a fixed fee of a code.';
comment on column bi.returns_monthly.influencer_handle is 'Creator who has the deal, by the mirror or its codes, otherwise the one whom its orders name. Null: unknown, or several.';
comment on column bi.returns_monthly.brand_id is 'Brand, see bi.brands.';
comment on column bi.returns_monthly.brand_name is 'Name of the brand, if it is mirrored.';
comment on column bi.returns_monthly.dealflow_id is 'Campaign: the dealflow of the deal, as last read. Null: not mirrored.';
comment on column bi.returns_monthly.dealflow_name is 'Name of the dealflow.';
comment on column bi.returns_monthly.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.returns_monthly.orders is 'Orders that this tool posted and the service accepted.';
comment on column bi.returns_monthly.sent_amount is 'Revenue of these orders as sent, in currency.';
comment on column bi.returns_monthly.net_amount is 'Revenue of these orders, net of refunds and cancellations so far, in currency. Null: what was refunded of an order is unknown; see net_at_least_amount.';
comment on column bi.returns_monthly.unrated_orders is 'Orders of these whose rate neither the terms nor the service state.';
comment on column bi.returns_monthly.unlined_orders is 'Orders of these whose terms exclude products, while it is unknown what was bought.';
comment on column bi.returns_monthly.commission_amount is 'Commission as in statements but without the return window, in currency. Null: a rate, or what was bought or refunded, is unknown.';
comment on column bi.returns_monthly.fee_amount is 'Fixed fees in the terms whose period begins in the month, in currency.';
comment on column bi.returns_monthly.cost_amount is 'Commission and fees, in currency. Null: a rate, or what was bought or refunded, is unknown; see cost_at_least_amount.';
comment on column bi.returns_monthly.margin_percent is 'statements.margin_percent. Null: not configured.';
comment on column bi.returns_monthly.profit_amount is 'net_amount × margin_percent / 100 less cost_amount, in currency. Null: margin or cost is unknown.';
comment on column bi.returns_monthly.roi_percent is 'profit_amount as a percentage of cost_amount. Null: one of them is unknown, or the cost is 0.';
comment on column bi.returns_monthly.net_per_cost is 'net_amount for each 1 of cost_amount. Null: the cost is unknown or 0.';
comment on column bi.returns_monthly.new_customers is 'Customers whose first known order is one of these. A lower bound if unknown_orders is above 0.';
comment on column bi.returns_monthly.returning_orders is 'Orders of customers who had ordered before, with or without a creator.';
comment on column bi.returns_monthly.unknown_orders is 'Orders for which it is unknown whether the customer is new: without customer_key, or in the first 90 days for which customers are known.';
comment on column bi.returns_monthly.cost_per_new_customer_amount is 'cost_amount for each of new_customers, in currency. Null: a rate or a customer is unknown, or there is no new customer.';
comment on column bi.returns_monthly.unknown is 'What is unknown and makes numbers of this row null: rate, products, refunds, margin, customers, exchange. Null: nothing.';
comment on column bi.returns_monthly.reporting_currency is 'Currency (ISO 4217) of the reporting amounts: statements.reporting_currency. Null: not configured.';
comment on column bi.returns_monthly.unconverted_orders is 'Orders in another currency for whose day statements.fx has no rate. Null: no reporting currency.';
comment on column bi.returns_monthly.net_reporting_amount is 'net_amount in reporting_currency, each order at the rate of its day. Null: a rate is unknown.';
comment on column bi.returns_monthly.cost_reporting_amount is 'cost_amount in reporting_currency, each order at the rate of its day, and a fee at the rate of its first day. Null: a rate is unknown.';
comment on column bi.returns_monthly.profit_reporting_amount is 'profit_amount in reporting_currency, from net_reporting_amount and cost_reporting_amount, and like them not rounded. Null: one of them or the margin is unknown.';
comment on column bi.returns_monthly.unvalued_orders is 'Orders of these of which a refund is out of range, so what is left of them is unknown.';
comment on column bi.returns_monthly.uncosted_orders is 'Orders of these whose commission is unknown: unrated_orders, unlined_orders and unvalued_orders together.';
comment on column bi.returns_monthly.net_at_least_amount is 'net_amount without unvalued_orders, in currency: a lower bound, and never null. Add it up together with unvalued_orders.';
comment on column bi.returns_monthly.cost_at_least_amount is 'cost_amount without the commission of uncosted_orders, in currency: a lower bound, and never null. Add it up together with uncosted_orders.';
comment on column bi.returns_monthly.net_reporting_at_least_amount is 'net_at_least_amount in reporting_currency. Null: an exchange rate is unknown.';
comment on column bi.returns_monthly.cost_reporting_at_least_amount is 'cost_at_least_amount in reporting_currency. Null: an exchange rate is unknown.';

create view bi.customer_cohorts as
  select r.month_utc, r.deal_id, coalesce(reporting.without_addresses(w.influencer_handle), r.influencer_handle) as influencer_handle,
    nullif(r.brand_id, '') as brand_id, r.currency, r.new_customers, r.repeat_customers,
    case when r.last_won_at + interval '30 days' <= now() then r.net_30_amount end as net_30_amount,
    case when r.last_won_at + interval '90 days' <= now() then r.net_90_amount end as net_90_amount,
    case when r.last_won_at + interval '365 days' <= now() then r.net_365_amount end as net_365_amount, r.unknown_orders
  from reporting.return_months r
  left join reporting.deal_owners w on w.deal_id = r.deal_id
  where r.new_customers > 0;
comment on view bi.customer_cohorts is 'Customers that a deal won in a month, and what they have ordered since, one row per month, deal, brand and currency. As of the last refresh. Answers: How much are the customers worth that a creator won? How many customers of a creator buy again?';
comment on column bi.customer_cohorts.month_utc is 'First day of the month of their first orders, in UTC. With deal_id, brand_id and currency, the key of the row.';
comment on column bi.customer_cohorts.deal_id is 'Deal to which the first order was credited.';
comment on column bi.customer_cohorts.influencer_handle is 'Creator who has the deal, by the mirror or its codes, otherwise the one whom its orders name. Null: unknown, or several.';
comment on column bi.customer_cohorts.brand_id is 'Brand, see bi.brands.';
comment on column bi.customer_cohorts.currency is 'ISO 4217, of the first orders. Orders in other currencies are not added up.';
comment on column bi.customer_cohorts.new_customers is 'Customers whose first known order was credited to the deal in the month.';
comment on column bi.customer_cohorts.repeat_customers is 'Of those: customers who have ordered again, in any currency, with or without a creator.';
comment on column bi.customer_cohorts.net_30_amount is 'Order totals less refunds in the 30 days from each first order, including that order, in currency. Null: the 30 days are not over for all customers, or the amount of an order is unknown.';
comment on column bi.customer_cohorts.net_90_amount is 'The same, in 90 days.';
comment on column bi.customer_cohorts.net_365_amount is 'The same, in 365 days.';
comment on column bi.customer_cohorts.unknown_orders is 'Orders of the month for which it is unknown whether they won a customer.';

create view bi.self_purchases as
  select s.job, s.source, s.order_id, s.ordered_at, s.day_utc, s.deal_id, reporting.without_addresses(l.username) as influencer_handle, l.platform,
    s.currency, s.amount, s.disposition
  from intake.lookups l
  join intake.orders o on o.customer_key = l.customer_hash and o.is_current
  join reporting.order_dispositions s on s.order_version_id = o.order_version_id
  left join reporting.deal_owners w on w.deal_id = s.deal_id
  where l.outcome = 'influencer' and ledger.fold_handle(l.username) = ledger.fold_handle(coalesce(w.influencer_handle, s.influencer_handle));
comment on view bi.self_purchases is 'Orders whose customer the service identified as the credited influencer, one row per order. For review only: such an order may be a gift, a test, or allowed. Needs customer_key and look-ups in real time. Live. Answers: Which influencers may have bought from themselves?';
comment on column bi.self_purchases.job is 'Job that decided about the order.';
comment on column bi.self_purchases.source is 'Source in the configuration. With job and order_id, the key of the row.';
comment on column bi.self_purchases.order_id is 'Order, see bi.orders.';
comment on column bi.self_purchases.ordered_at is 'When it was ordered.';
comment on column bi.self_purchases.day_utc is 'Day of ordered_at in UTC.';
comment on column bi.self_purchases.deal_id is 'Deal that was credited.';
comment on column bi.self_purchases.influencer_handle is 'Public handle of the influencer.';
comment on column bi.self_purchases.platform is 'Platform of the handle.';
comment on column bi.self_purchases.currency is 'ISO 4217.';
comment on column bi.self_purchases.amount is 'Revenue as sent, or else by the rule of the job, in currency. Null: unknown, which is not 0.';
comment on column bi.self_purchases.disposition is 'Disposition of the order, see bi.orders_attributed.';
