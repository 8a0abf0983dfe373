-- Sums a day, in UTC, each in its own currency. Kept by the run in schema reporting: see bi.run_health.refreshed_at.

create view bi.attribution_funnel_daily as
  select day_utc, job, source, currency,
    sum(orders)::bigint as orders,
    coalesce(sum(orders) filter (where disposition = 'excluded'), 0)::bigint as excluded_orders,
    coalesce(sum(orders) filter (where disposition = 'organic'), 0)::bigint as organic_orders,
    coalesce(sum(orders) filter (where disposition = 'unattributed'), 0)::bigint as unattributed_orders,
    coalesce(sum(orders) filter (where disposition = 'held'), 0)::bigint as held_orders,
    coalesce(sum(orders) filter (where disposition = 'ready'), 0)::bigint as ready_orders,
    coalesce(sum(orders) filter (where disposition = 'rejected'), 0)::bigint as rejected_orders,
    coalesce(sum(orders) filter (where disposition = 'in_doubt'), 0)::bigint as in_doubt_orders,
    coalesce(sum(orders) filter (where disposition = 'accepted'), 0)::bigint as accepted_orders,
    coalesce(sum(orders) filter (where disposition = 'unaccounted'), 0)::bigint as unaccounted_orders,
    sum(amount) as orders_amount,
    case when count(*) filter (where disposition = 'excluded') = 0 then 0
      else sum(amount) filter (where disposition = 'excluded') end as excluded_amount,
    case when count(*) filter (where disposition = 'organic') = 0 then 0
      else sum(amount) filter (where disposition = 'organic') end as organic_amount,
    case when count(*) filter (where disposition = 'unattributed') = 0 then 0
      else sum(amount) filter (where disposition = 'unattributed') end as unattributed_amount,
    case when count(*) filter (where disposition = 'held') = 0 then 0
      else sum(amount) filter (where disposition = 'held') end as held_amount,
    coalesce(sum(amount) filter (where disposition = 'ready'), 0) as ready_amount,
    coalesce(sum(amount) filter (where disposition = 'rejected'), 0) as rejected_amount,
    coalesce(sum(amount) filter (where disposition = 'in_doubt'), 0) as in_doubt_amount,
    coalesce(sum(amount) filter (where disposition = 'accepted'), 0) as accepted_amount,
    sum(without_amount)::bigint as unvalued_orders,
    coalesce(sum(without_amount) filter (where disposition = 'excluded'), 0)::bigint as unvalued_excluded_orders,
    coalesce(sum(without_amount) filter (where disposition = 'organic'), 0)::bigint as unvalued_organic_orders,
    coalesce(sum(without_amount) filter (where disposition = 'unattributed'), 0)::bigint as unvalued_unattributed_orders,
    coalesce(sum(without_amount) filter (where disposition = 'held'), 0)::bigint as unvalued_held_orders
  from reporting.funnel_days
  group by day_utc, job, source, currency;
comment on view bi.attribution_funnel_daily is 'Dispositions of the orders of a day, one row per day, job, source and currency. Each order counts once: orders is the sum of the counts of the dispositions. Answers: How many orders are credited, and why are the others not? Do all orders add up?';
comment on column bi.attribution_funnel_daily.day_utc is 'Day of the orders in UTC.';
comment on column bi.attribution_funnel_daily.job is 'Job. Two jobs may read the same shop: add up one job at a time.';
comment on column bi.attribution_funnel_daily.source is 'Source in the configuration.';
comment on column bi.attribution_funnel_daily.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.attribution_funnel_daily.orders is 'All orders.';
comment on column bi.attribution_funnel_daily.excluded_orders is 'Never credited: test, cancelled, not paid, …';
comment on column bi.attribution_funnel_daily.organic_orders is 'Without any code, link or handle.';
comment on column bi.attribution_funnel_daily.unattributed_orders is 'With a code, link or handle that has no owner: see bi.unattributed_revenue.';
comment on column bi.attribution_funnel_daily.held_orders is 'Waiting for a decision of a person, or written off by one.';
comment on column bi.attribution_funnel_daily.ready_orders is 'Ready to be sent.';
comment on column bi.attribution_funnel_daily.rejected_orders is 'Refused by the service.';
comment on column bi.attribution_funnel_daily.in_doubt_orders is 'Sent, but the answer was lost: see bi.doubts.';
comment on column bi.attribution_funnel_daily.accepted_orders is 'Credited by the service.';
comment on column bi.attribution_funnel_daily.unaccounted_orders is 'Always 0, except after a bug.';
comment on column bi.attribution_funnel_daily.orders_amount is 'Revenue of all orders, as far as it is known, in currency. Null: no amount is known.';
comment on column bi.attribution_funnel_daily.excluded_amount is 'Revenue of the excluded orders, as far as it is known, in currency. Null: there are some, and no amount is known.';
comment on column bi.attribution_funnel_daily.organic_amount is 'Revenue of the organic orders, as far as it is known, in currency. Null: there are some, and no amount is known.';
comment on column bi.attribution_funnel_daily.unattributed_amount is 'Revenue of the unattributed orders, as far as it is known, in currency. Null: there are some, and no amount is known.';
comment on column bi.attribution_funnel_daily.held_amount is 'Revenue of the held orders, as far as it is known, in currency. Null: there are some, and no amount is known.';
comment on column bi.attribution_funnel_daily.ready_amount is 'Revenue of the ready orders, in currency.';
comment on column bi.attribution_funnel_daily.rejected_amount is 'Revenue of the rejected orders, in currency.';
comment on column bi.attribution_funnel_daily.in_doubt_amount is 'Revenue of the orders in doubt, in currency.';
comment on column bi.attribution_funnel_daily.accepted_amount is 'Revenue of the accepted orders, in currency.';
comment on column bi.attribution_funnel_daily.unvalued_orders is 'Orders without a known amount, which no amount of the row includes. Those that are sent have one.';
comment on column bi.attribution_funnel_daily.unvalued_excluded_orders is 'Of those: excluded.';
comment on column bi.attribution_funnel_daily.unvalued_organic_orders is 'Of those: organic.';
comment on column bi.attribution_funnel_daily.unvalued_unattributed_orders is 'Of those: unattributed.';
comment on column bi.attribution_funnel_daily.unvalued_held_orders is 'Of those: held.';

create view bi.deal_performance_daily as
  select d.day_utc, d.target, d.deal_id, d.collab_id, coalesce(d.influencer_handle, m.influencer_handle) as influencer_handle,
    m.platform, d.brand_id, d.currency, d.attributed_orders, d.accepted_orders, d.ready_orders, d.in_doubt_orders, d.held_orders,
    d.rejected_orders, d.attributed_amount, d.accepted_amount, d.in_doubt_amount
  from reporting.deal_days d
  left join mirror.deal_versions m on m.deal_id = d.deal_id and m.is_latest;
comment on view bi.deal_performance_daily is 'What a deal earned on a day, one row per day, deal, brand and currency; days without orders have no row. Answers: Which deals earn the most? How did one deal perform day by day?';
comment on column bi.deal_performance_daily.day_utc is 'Day of the orders in UTC.';
comment on column bi.deal_performance_daily.target is 'Owner of the orders: deal:<id>, or else collab:<id> or handle:<name>. With day_utc, brand_id and currency, the key of the row.';
comment on column bi.deal_performance_daily.deal_id is 'Deal, see bi.deals. Null for a handle whose deal only the service knows.';
comment on column bi.deal_performance_daily.collab_id is 'Collaboration, if the orders name one.';
comment on column bi.deal_performance_daily.influencer_handle is 'Influencer, according to the codes, or else the mirrored deal.';
comment on column bi.deal_performance_daily.platform is 'Social platform of the influencer, if the deal is mirrored.';
comment on column bi.deal_performance_daily.brand_id is 'Brand, see bi.brands.';
comment on column bi.deal_performance_daily.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.deal_performance_daily.attributed_orders is 'Orders that are attributed to the deal, with any disposition.';
comment on column bi.deal_performance_daily.accepted_orders is 'Of those: credited by the service.';
comment on column bi.deal_performance_daily.ready_orders is 'Of those: ready to be sent.';
comment on column bi.deal_performance_daily.in_doubt_orders is 'Of those: sent, but the answer was lost.';
comment on column bi.deal_performance_daily.held_orders is 'Of those: waiting for a decision of a person, or written off by one.';
comment on column bi.deal_performance_daily.rejected_orders is 'Of those: refused by the service.';
comment on column bi.deal_performance_daily.attributed_amount is 'Revenue of the attributed orders, in currency.';
comment on column bi.deal_performance_daily.accepted_amount is 'Revenue of the accepted orders, in currency.';
comment on column bi.deal_performance_daily.in_doubt_amount is 'Revenue of the orders in doubt, in currency.';

create view bi.brand_performance_daily as
  select d.day_utc, d.brand_id, b.name as brand_name, d.currency, d.deals, d.attributed_orders, d.accepted_orders, d.ready_orders,
    d.in_doubt_orders, d.held_orders, d.rejected_orders, d.attributed_amount, d.accepted_amount, d.in_doubt_amount
  from reporting.brand_days d
  left join mirror.brand_versions b on b.brand_id = d.brand_id and b.is_latest;
comment on view bi.brand_performance_daily is 'What influencers earned for a brand on a day, one row per day, brand and currency. Answers: How does each brand perform month by month?';
comment on column bi.brand_performance_daily.day_utc is 'Day of the orders in UTC.';
comment on column bi.brand_performance_daily.brand_id is 'Brand, see bi.brands. With day_utc and currency, the key of the row.';
comment on column bi.brand_performance_daily.brand_name is 'Name of the brand, if it is mirrored.';
comment on column bi.brand_performance_daily.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.brand_performance_daily.deals is 'Deals with an order on that day. Do not add them up over days: a deal may have orders on many days.';
comment on column bi.brand_performance_daily.attributed_orders is 'Orders that are attributed to an influencer, with any disposition.';
comment on column bi.brand_performance_daily.accepted_orders is 'Of those: credited by the service.';
comment on column bi.brand_performance_daily.ready_orders is 'Of those: ready to be sent.';
comment on column bi.brand_performance_daily.in_doubt_orders is 'Of those: sent, but the answer was lost.';
comment on column bi.brand_performance_daily.held_orders is 'Of those: waiting for a decision of a person, or written off by one.';
comment on column bi.brand_performance_daily.rejected_orders is 'Of those: refused by the service.';
comment on column bi.brand_performance_daily.attributed_amount is 'Revenue of the attributed orders, in currency.';
comment on column bi.brand_performance_daily.accepted_amount is 'Revenue of the accepted orders, in currency.';
comment on column bi.brand_performance_daily.in_doubt_amount is 'Revenue of the orders in doubt, in currency.';

create view bi.unattributed_revenue as
  select day_utc, job, source, code_folded, code, carried_as, currency, orders, amount, without_amount as unvalued_orders
  from reporting.code_days;
comment on view bi.unattributed_revenue is 'Orders whose code, link or handle has no owner, one row per day, job, source, code and currency. An order with two such codes counts for both, so codes do not add up to orders. Answers: How much would each code earn if codes.csv named its owner?';
comment on column bi.unattributed_revenue.day_utc is 'Day of the orders in UTC.';
comment on column bi.unattributed_revenue.job is 'Job.';
comment on column bi.unattributed_revenue.source is 'Source in the configuration.';
comment on column bi.unattributed_revenue.code_folded is 'The code without blanks, in upper case: group by this.';
comment on column bi.unattributed_revenue.code is 'One spelling of the code. E-mail addresses are masked.';
comment on column bi.unattributed_revenue.carried_as is 'code, link (of an order without a code), explicit (the export names a deal or handle).';
comment on column bi.unattributed_revenue.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.unattributed_revenue.orders is 'Orders that have the code.';
comment on column bi.unattributed_revenue.amount is 'Revenue of these orders, as far as it is known, in currency: the amount that the owner would be credited for. Null: none is known.';
comment on column bi.unattributed_revenue.unvalued_orders is 'How many of these orders have no known amount. It is not part of amount.';
