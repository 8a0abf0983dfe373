import type { DisputedOrder } from '../../core/money/reconciliation.ts';
import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';
import { isOfOthers, wasSent } from './reconcile-deals.ts';

const LISTED = 200;

/**
 * Lists orders about which events and ledger disagree, and posted orders without an event in deals where the
 * service counts fewer. The deals of posted orders are as of the last refresh of the reports,
 * because the ledger has no index of deals.
 */
export function listDisputedOrders(
  db: Database,
  { dealId = null, fewerIn }: { dealId?: string | null; fewerIn: readonly string[] },
) {
  return rowsOf<DisputedOrder>(db)`
    with told as materialized (
      select distinct
        on (ledger.fold_order_id(v.order_id), ledger.fold_platform(v.order_platform), v.deal_id) v.*,
        ${isOfOthers} as is_of_others
      from ledger.evidence v
      where v.kind = 'webhook_order' and (${dealId}::text is null or v.deal_id = ${dealId})
      order by ledger.fold_order_id(v.order_id), ledger.fold_platform(v.order_platform), v.deal_id,
        v.evidence_id desc
    ),
    matched as (
      select t.*, e.amount as ours_amount, e.currency as ours_currency,
        reporting.deal_id_of(coalesce(e.deal_id, e.body::json ->> 'deal_id')) as our_deal
      from told t
        join ledger.entries e on ledger.fold_order_id(e.order_id) = ledger.fold_order_id(t.order_id)
          and e.state = 'accepted' and ${wasSent}
        and ledger.is_platform(t.order_platform, e.order_platform)
    ),
    disputed as (
      select 'not_ours' as kind, deal_id, order_platform, order_id, currency, null::numeric as ours_amount,
        amount as theirs_amount, received_at as at
      from told where is_of_others
      union all
      select 'other_amount', deal_id, order_platform, order_id, currency, ours_amount, amount, received_at
      from matched where currency = ours_currency and amount <> ours_amount
      union all
      select 'other_deal', deal_id, order_platform, order_id, currency, ours_amount, amount, received_at
      from matched where deal_id <> our_deal
      union all
      select 'no_event', d.deal_id, e.order_platform, e.order_id, e.currency, e.amount, null,
        e.state_changed_at
      from unnest(${[...fewerIn]}::text[]) as d (deal_id)
      cross join lateral (
        select distinct s.entry_id
        from reporting.order_dispositions s
        where s.deal_id = d.deal_id and s.disposition = 'accepted' offset 0) s
      cross join lateral (select e.* from ledger.entries e where e.entry_id = s.entry_id limit 1) e
      where e.state = 'accepted' and ${wasSent}
        and e.state_changed_at > (select min(received_at) from ledger.evidence where kind = 'webhook_order')
        and not exists (select from ledger.evidence v
          where ledger.fold_order_id(v.order_id) = ledger.fold_order_id(e.order_id))
    ),
    numbered as (
      select *, row_number() over (partition by kind order by at desc, order_id) as place from disputed
      where ${dealId}::text is null or deal_id = ${dealId}
    )
    select kind, deal_id as "dealId", order_platform as "orderPlatform", order_id as "orderId", currency,
      ours_amount::text as "oursAmount", theirs_amount::text as "theirsAmount", at
    from numbered where place <= ${LISTED} order by kind, place`;
}
