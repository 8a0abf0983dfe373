import type { Database } from '../db/connect.ts';
import { rowOf } from '../db/statement.ts';

/** Orders of a job's exports that someone else has credited, according to signed events of the service. */
export type OtherPosters = { readonly orders: number; readonly latestOrderId: string | null };

/** Older events tell more about the past than about the present. */
const DAYS = 30;

/**
 * Finds orders of the job's exports with an event of the last 30 days, although no request of this project
 * for them may have been processed.
 *
 * @param platforms the `order_platform` of each of the job's sources.
 */
export async function findOtherPosters(
  db: Database,
  platforms: readonly { readonly source: string; readonly platform: string }[],
): Promise<OtherPosters> {
  const row = await rowOf<OtherPosters>(db)`
    select count(distinct v.order_id)::float8 as orders,
      (array_agg(v.order_id order by v.received_at desc))[1] as "latestOrderId"
    from jsonb_to_recordset(${JSON.stringify(platforms)}::jsonb) as p(source text, platform text)
    join intake.orders o on o.source = p.source and o.is_current
    join ledger.evidence v on ledger.fold_order_id(v.order_id) = ledger.fold_order_id(o.order_id)
      and v.kind = 'webhook_order'
      and ledger.is_platform(v.order_platform, p.platform)
      and v.received_at > now() - make_interval(days => ${DAYS})
    where not exists (
      select from ledger.entries e
      where ledger.fold_order_id(e.order_id) = ledger.fold_order_id(o.order_id) and e.effect = 'referral'
        and ledger.is_platform(e.order_platform, p.platform) and e.attempt > e.not_sent)`;
  return row ?? { orders: 0, latestOrderId: null };
}
