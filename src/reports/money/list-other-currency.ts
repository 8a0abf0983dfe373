import { sql } from 'kysely';
import type { DecimalText } from '../../core/money.ts';
import { foldOrderId } from '../../core/text/order-key.ts';
import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';
import { onceHeld } from '../../money/read-statement.ts';

/** An order that was posted, and that an export states in another currency since. */
export type OtherCurrency = {
  readonly entryId: string;
  readonly job: string;
  readonly source: string;
  readonly orderId: string;
  readonly dealId: string | null;
  /** As it was sent. */
  readonly currency: string;
  readonly sentAmount: DecimalText;
  /** As the export states it; the total is null if it has none. */
  readonly statedIn: string;
  readonly total: DecimalText | null;
  readonly refunded: DecimalText | null;
};

/** Selects such orders. What is null or omitted selects all. */
export type OtherCurrencyFilter = {
  readonly job?: string | null;
  readonly source?: string | null;
  readonly orderIds?: readonly string[] | null;
};

/**
 * Lists posted orders that an export states in another currency since, or again although a person decided that they come to
 * nothing, and that nobody has settled: by source and id.
 *
 * @param options.isToDecide a person decides about them. What was decided is then among the orders that are named, and what
 * comes to nothing by a decision is among no others.
 * @param options.limit the first ones only.
 * @returns them, and how many there are without the limit.
 */
export async function listOtherCurrency(
  db: Database,
  {
    job = null,
    source = null,
    orderIds = null,
    isToDecide = false,
    limit = null,
  }: OtherCurrencyFilter & { readonly isToDecide?: boolean; readonly limit?: number | null },
): Promise<{ readonly orders: readonly OtherCurrency[]; readonly count: number }> {
  const isNamed = orderIds !== null;
  const decided = sql`select from ledger.adjustments d where d.entry_id = h.entry_id and d.is_decision`;
  const rows = await rowsOf<OtherCurrency & { count: number }>(db)`
    select h.entry_id as "entryId", e.job, t.source, t.order_id as "orderId", e.deal_id as "dealId",
      e.currency, e.amount::numeric(24,4)::text as "sentAmount", o.currency as "statedIn", o.total,
      o.refunded, count(*) over ()::integer as count
    from (${onceHeld(sql`l.kind = 'held' or (l.is_decision and ${isToDecide && isNamed})`)}) h
    cross join lateral (select e.* from ledger.entries e where e.entry_id = h.entry_id limit 1) e
    cross join lateral (select t.* from intake.attributions t where t.entry_id = h.entry_id and t.job = e.job
      limit 1) t
    cross join lateral (select o.* from intake.orders o where o.order_version_id = t.order_version_id
      limit 1) o
    where e.effect = 'referral' and e.state = 'accepted' and t.outcome <> 'held'
      and (o.currency <> e.currency or exists (${decided}))
      and (${isNamed || !isToDecide} or not exists (${decided} and d.new_amount = 0))
      and (${job}::text is null or e.job = ${job}) and (${source}::text is null or t.source = ${source})
      and (${!isNamed}
        or ledger.fold_order_id(t.order_id) = any (${(orderIds ?? []).map(foldOrderId)}::text[]))
    order by t.source, t.order_id limit ${limit}::integer`;
  return { orders: rows.map(({ count: _count, ...order }) => order), count: rows[0]?.count ?? 0 };
}
