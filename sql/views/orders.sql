-- Orders: what was read, whose each is, and what may still change.

create view bi.orders as
  select o.order_version_id, o.source, o.order_id, o.order_name, o.status,
    coalesce(o.placed_at, o.paid_at, o.first_seen_at) as ordered_at,
    (coalesce(o.placed_at, o.paid_at, o.first_seen_at) at time zone 'UTC')::date as day_utc,
    o.placed_at, o.paid_at, o.cancelled_at, o.currency, o.total as total_amount, o.subtotal as subtotal_amount,
    o.refunded as refunded_amount, reporting.without_addresses(array_to_string(o.codes, ', ')) as discount_codes,
    cardinality(o.codes) > 0 as is_discounted, o.cancelled_at is not null as is_cancelled, coalesce(o.refunded, 0) > 0 as is_refunded,
    coalesce(o.exclusion, 'renewal') <> 'renewal' as is_excluded, split_part(o.exclusion, ':', 1) as exclusion_reason,
    o.source_file_id, o.line_no, o.first_seen_at as changed_at, f.run_id, o.customer_key::text as customer_key, o.doubt
  from intake.orders o
  join intake.source_files f on f.source_file_id = o.source_file_id and f.state = 'sealed'
  where o.is_current;
comment on view bi.orders is 'Every order that an export states, one row per order, in the version that was stated last. Live. Answers: How much was ordered in each shop? What does the shop say about one order? How much was refunded?';
comment on column bi.orders.order_version_id is 'Key of the row: the current version of the order. It changes when an export states the order differently.';
comment on column bi.orders.source is 'Source in the configuration, for example one shop. With order_id, it identifies the order.';
comment on column bi.orders.order_id is 'Identity at the shop platform. Text, never a number.';
comment on column bi.orders.order_name is 'What people call the order, for example #1001.';
comment on column bi.orders.status is 'The shop''s own status word, in lower case.';
comment on column bi.orders.ordered_at is 'When it was placed, else paid, else first read. Indexed: use it to filter.';
comment on column bi.orders.day_utc is 'Day of ordered_at in UTC.';
comment on column bi.orders.placed_at is 'When the customer ordered.';
comment on column bi.orders.paid_at is 'When it was paid.';
comment on column bi.orders.cancelled_at is 'When it was cancelled; null: not cancelled, according to the export.';
comment on column bi.orders.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.orders.total_amount is 'Order total, in currency; null if the export has none.';
comment on column bi.orders.subtotal_amount is 'After discounts, before shipping, in currency; null if the export has none.';
comment on column bi.orders.refunded_amount is 'Refunded so far, in currency; null if the export does not say.';
comment on column bi.orders.discount_codes is 'Discount codes as written, separated by commas; empty without any. E-mail addresses are masked.';
comment on column bi.orders.is_discounted is 'Whether it has a discount code.';
comment on column bi.orders.is_cancelled is 'Whether the export has a time of cancellation. The status may also say that the order was cancelled.';
comment on column bi.orders.is_refunded is 'Whether it was refunded, wholly or in part.';
comment on column bi.orders.is_excluded is 'Whether a rule of the layout excludes it from being credited: test, cancelled, …; draft, unless the job has drafts: credit. A renewal of a subscription is not, since jobs credit it unless they have renewals: exclude.';
comment on column bi.orders.exclusion_reason is 'The reason of that rule; null if it is not excluded.';
comment on column bi.orders.source_file_id is 'Export that states it.';
comment on column bi.orders.line_no is 'Line of that file on which the order begins.';
comment on column bi.orders.changed_at is 'When this version was stored.';
comment on column bi.orders.run_id is 'Run that read the file, see bi.runs.';
comment on column bi.orders.doubt is 'Why the export may not state the whole order, which is then held: incomplete (a row of it cannot be read), may_be_incomplete (a row that may belong to it cannot be read), may_be_cut (the last row of the file may be cut), may_be_repeated (rows of it may occur twice), may_be_split (another file may have more of its rows), conflicting_states (another file states something else, and nothing says which is newer), newer_row_rejected (a row that may be newer could not be used), other_order_same_id (another order was stated with its id), refund_in_total (its total fell by just what was refunded). Null: nothing is in doubt.';
comment on column bi.orders.customer_key is 'Tells customers of a brand apart without saying who they are. Null: unknown, because customer_key of the source is off, it was off when the order was read, or the export names no customer.';

create view bi.orders_attributed as
  select s.job, s.source, s.order_id, s.order_version_id, o.order_name, s.ordered_at, s.day_utc, s.disposition, s.disposition_reason,
    s.disposition_at, s.target is not null as is_attributed, s.disposition = 'accepted' as is_accepted, s.is_open, s.matched_by,
    s.matched_value, s.brand_id, s.deal_id, s.collab_id, s.influencer_handle, s.currency, s.amount, s.entry_id,
    s.disposition as standing, s.disposition_reason as standing_reason, s.disposition_at as standing_at
  from reporting.order_dispositions s
  left join intake.orders o on o.order_version_id = s.order_version_id;
comment on view bi.orders_attributed is 'Which influencer each order is credited to, or why none, one row per order and job; as of the last refresh (bi.run_health). Answers: Which orders did a deal earn? Why was an order not credited? Which orders are not final yet?';
comment on column bi.orders_attributed.job is 'Job that decided about the order. Two jobs may read the same shop: count orders of one job at a time.';
comment on column bi.orders_attributed.source is 'Source in the configuration. With job and order_id, the key of the row.';
comment on column bi.orders_attributed.order_id is 'Identity at the shop platform. Text, never a number.';
comment on column bi.orders_attributed.order_version_id is 'Version of the order that was decided about, see bi.orders.';
comment on column bi.orders_attributed.order_name is 'What people call the order, for example #1001.';
comment on column bi.orders_attributed.ordered_at is 'When it was placed, else paid, else first read.';
comment on column bi.orders_attributed.day_utc is 'Day of ordered_at in UTC. Indexed: use it to filter.';
comment on column bi.orders_attributed.disposition is 'accepted (by the service), ready (to be sent), in_doubt (sent, but the answer was lost), rejected (by the service), held (a person must decide), excluded (never sent), unattributed (its code, link or handle has no owner), organic (it has none), unaccounted (only after a bug).';
comment on column bi.orders_attributed.disposition_reason is 'Why, for rejected, in_doubt, held, excluded and unattributed.';
comment on column bi.orders_attributed.disposition_at is 'When it reached the disposition; for an accepted order, when it was accepted.';
comment on column bi.orders_attributed.standing is 'The earlier name of disposition. It will be removed in 0.4.0.';
comment on column bi.orders_attributed.standing_reason is 'The earlier name of disposition_reason. It will be removed in 0.4.0.';
comment on column bi.orders_attributed.standing_at is 'The earlier name of disposition_at. It will be removed in 0.4.0.';
comment on column bi.orders_attributed.is_attributed is 'Whether it has an owner, and was or will be sent.';
comment on column bi.orders_attributed.is_accepted is 'Whether the service has credited it.';
comment on column bi.orders_attributed.is_open is 'Whether its disposition may change without a new export: it is ready, in doubt, rejected or held.';
comment on column bi.orders_attributed.matched_by is 'What named the influencer: explicit (columns of the export), code, link.';
comment on column bi.orders_attributed.matched_value is 'The code or link that matched, or those that matched nothing. E-mail addresses are masked.';
comment on column bi.orders_attributed.brand_id is 'Brand that it is credited for, see bi.brands.';
comment on column bi.orders_attributed.deal_id is 'Deal that the service credited, or else the deal it is attributed to, see bi.deals. Null for a handle whose deal only the service knows.';
comment on column bi.orders_attributed.collab_id is 'Collaboration within the deal, if known.';
comment on column bi.orders_attributed.influencer_handle is 'Influencer, if the codes or the export name one.';
comment on column bi.orders_attributed.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.orders_attributed.amount is 'Revenue as it was sent, or else by the rule of the job, in currency. Null: unknown, which is not 0.';
comment on column bi.orders_attributed.entry_id is 'Entry of the ledger, if there is one; see bi.adjustments and bi.doubts.';

create view bi.adjustments as
  select d.adjustment_id, d.entry_id, e.job, e.source, e.order_platform, e.order_id, d.kind, d.old_amount as sent_amount, d.new_amount,
    case when d.kind <> 'held' and not d.is_elsewhere then coalesce(d.new_amount, 0) - d.old_amount end as difference_amount, d.currency, e.brand_id,
    reporting.deal_id_of(coalesce(e.deal_id, e.body::json ->> 'deal_id')) as deal_id,
    coalesce(e.collab_id, e.body::json ->> 'collab_id') as collab_id,
    reporting.without_addresses(e.body::json ->> 'influencer_handle') as influencer_handle,
    not exists (
      select from ledger.adjustments l
      where l.entry_id = d.entry_id and l.adjustment_id > d.adjustment_id and l.is_elsewhere = d.is_elsewhere) as is_latest,
    d.noted_at, (d.noted_at at time zone 'UTC')::date as day_utc, d.run_id, d.is_elsewhere, d.is_decision
  from ledger.adjustments d
  join ledger.entries e on e.entry_id = d.entry_id;
comment on view bi.adjustments is 'Orders that changed after they were sent, one row per change. The service cannot correct an order: settle the difference with the influencer. Live. Answers: Which differences must be settled with influencers?';
comment on column bi.adjustments.adjustment_id is 'Key of the row. Counts up.';
comment on column bi.adjustments.entry_id is 'Entry that was sent, see bi.orders_attributed.';
comment on column bi.adjustments.job is 'Job that sent the order.';
comment on column bi.adjustments.source is 'Source of the order.';
comment on column bi.adjustments.order_platform is 'Shop platform as sent.';
comment on column bi.adjustments.order_id is 'Order as sent.';
comment on column bi.adjustments.kind is 'changed (a different amount), refunded, cancelled, excluded (no longer to be credited), reattributed (to another influencer), held (it is unknown what it comes to now, or for whom).';
comment on column bi.adjustments.sent_amount is 'As sent, in currency.';
comment on column bi.adjustments.new_amount is 'As it would be sent now, in currency; of a held order, as its export states it. Null if it would not be sent, or states another currency.';
comment on column bi.adjustments.difference_amount is 'new_amount (0 if it would not be sent) less sent_amount, in currency. Null: unknown, because the order is held, or no difference, because is_elsewhere.';
comment on column bi.adjustments.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.adjustments.brand_id is 'Brand.';
comment on column bi.adjustments.deal_id is 'Deal that was credited.';
comment on column bi.adjustments.collab_id is 'Collaboration that was credited.';
comment on column bi.adjustments.influencer_handle is 'Influencer, if the order was sent for a handle.';
comment on column bi.adjustments.is_latest is 'Whether it is the latest adjustment of this order: add up only these.';
comment on column bi.adjustments.noted_at is 'When it was recorded.';
comment on column bi.adjustments.day_utc is 'Day of noted_at in UTC.';
comment on column bi.adjustments.run_id is 'Run that recorded it, or what a person then decided about, see bi.runs.';
comment on column bi.adjustments.is_elsewhere is 'Whether a source states it that is not responsible for the order. It changes nothing.';
comment on column bi.adjustments.is_decision is 'Whether a person decided it (the command `statement restated`), and no run.';

create view bi.doubts as
  select e.entry_id, e.job, e.source, e.order_platform, e.order_id, e.amount, e.currency, e.brand_id,
    reporting.deal_id_of(coalesce(e.deal_id, e.body::json ->> 'deal_id', a.deal_id)) as deal_id,
    coalesce(e.collab_id, e.body::json ->> 'collab_id', a.collab_id) as collab_id,
    reporting.without_addresses(coalesce(e.body::json ->> 'influencer_handle', a.influencer_handle)) as influencer_handle,
    coalesce(e.state_reason, 'its process was gone before the answer was recorded') as reason,
    e.attempt - e.not_sent as attempts,
    coalesce(e.doubted_at, e.state_changed_at) as doubted_at,
    round(extract(epoch from now() - coalesce(e.doubted_at, e.state_changed_at)) / 3600, 1) as age_hours,
    exists (
      select from ledger.evidence v
      where v.kind = 'webhook_order' and ledger.fold_order_id(v.order_id) = ledger.fold_order_id(e.order_id)
        and ledger.is_platform(v.order_platform, e.order_platform)) as is_evident
  from ledger.entries e
  left join intake.attributions a on a.entry_id = e.entry_id and a.job = e.job and a.source = e.source
  where not e.is_settled
    and (e.state = 'in_doubt' or (e.state = 'sending'
      and not exists (select from ops.leases l where l.owner = e.owner and l.expires_at > clock_timestamp())));
comment on view bi.doubts is 'Orders that were sent and may have been credited although no answer says so, one row per order. Settle them with `review`. Live. Answers: How much money is in doubt, and since when?';
comment on column bi.doubts.entry_id is 'Key of the row, and the number that `review` takes.';
comment on column bi.doubts.job is 'Job that sent the order.';
comment on column bi.doubts.source is 'Source of the order.';
comment on column bi.doubts.order_platform is 'Shop platform as sent.';
comment on column bi.doubts.order_id is 'Order as sent.';
comment on column bi.doubts.amount is 'Revenue as sent, in currency.';
comment on column bi.doubts.currency is 'ISO 4217. Never add up amounts of different currencies.';
comment on column bi.doubts.brand_id is 'Brand.';
comment on column bi.doubts.deal_id is 'Deal it was sent for, or else the deal it is attributed to.';
comment on column bi.doubts.collab_id is 'Collaboration, in the same way.';
comment on column bi.doubts.influencer_handle is 'Influencer, in the same way.';
comment on column bi.doubts.reason is 'Why it is in doubt.';
comment on column bi.doubts.attempts is 'Attempts that may have reached the service.';
comment on column bi.doubts.doubted_at is 'When the first of these attempts was made.';
comment on column bi.doubts.age_hours is 'Hours since doubted_at.';
comment on column bi.doubts.is_evident is 'Whether an event of the service names the order.';
