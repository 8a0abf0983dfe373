import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { DecimalText } from '../../core/money.ts';
import { foldOrderId } from '../../core/text/order-key.ts';
import { type Database, rowsOf } from '../../db/statement.ts';
import { onceHeld } from '../../money/read-statement.ts';
import { type ColumnKey, type Having, hasAll, type Page } from '../wanted-rows.ts';

/** An order that was posted, and that an export states in another currency since. */
export type OtherCurrency = {
  readonly entryId: string;
  /** The last change that was recorded of the order. */
  readonly adjustmentId: string;
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
export type OtherCurrencyFilter = Having<'job' | 'source'> & {
  readonly orderIds?: readonly string[] | null;
  /**
   * A person decides about them. What was decided is then among the orders that are named, and what comes to nothing by a
   * decision is among no others.
   */
  readonly isToDecide?: boolean;
};

/**
 * Lists posted orders that an export states in another currency since, or again although a person decided that they come to
 * nothing, and that no decision has settled: by source and id.
 */
export function listOtherCurrency(
  db: Database,
  {
    after = null,
    limit = null,
    ...filter
  }: OtherCurrencyFilter & Partial<Page<ColumnKey<'source' | 'orderId' | 'entryId'>>>,
) {
  const isAfter =
    after !== null &&
    sql`(t.source, t.order_id, h.entry_id) > (${after.source}, ${after.orderId}, ${after.entryId}::bigint)`;
  return rowsOf<OtherCurrency>(db)`
    select h.entry_id as "entryId", h.adjustment_id as "adjustmentId", e.job, t.source,
      t.order_id as "orderId", e.deal_id as "dealId", e.currency,
      e.amount::numeric(24,4)::text as "sentAmount", o.currency as "statedIn", o.total, o.refunded
    ${fromRestated(filter)}
      and ${hasAll({}, isAfter)}
    order by t.source, t.order_id, h.entry_id
    limit ${limit}::integer`;
}

/** What such orders of one job and source were sent with, in one currency. */
export type OtherCurrencySum = {
  readonly job: string;
  readonly source: string;
  readonly currency: string;
  readonly amount: DecimalText;
  readonly orders: number;
  /** When the first of them was stated otherwise. */
  readonly since: Date;
};

/** Adds up such orders by source, by the currency that was sent, and by job. */
export function sumOtherCurrency(
  db: Database,
  filter: OtherCurrencyFilter,
): Promise<readonly OtherCurrencySum[]> {
  return rowsOf<OtherCurrencySum>(db)`
    select t.source, e.currency, e.job, sum(e.amount)::numeric(24,4)::text as amount, count(*)::integer as orders,
      min(d.noted_at) as since
    ${fromRestated(filter, sql`join ledger.adjustments d on d.adjustment_id = h.adjustment_id`)}
    group by 1, 2, 3 order by 1, 2, 3`;
}

/** Names the orders in the state in which a person saw them. */
export function digestOtherCurrency(orders: readonly OtherCurrency[]): string {
  const states = orders.map(({ adjustmentId, statedIn, total, refunded }) => [
    adjustmentId,
    statedIn,
    total,
    refunded,
  ]);
  return createHash('sha256').update(JSON.stringify(states)).digest('hex');
}

/** SQL: these orders, with their entry `e`, last adjustment `h`, decision `t` and version `o`. */
function fromRestated(
  { job = null, source = null, orderIds = null, isToDecide = false }: OtherCurrencyFilter,
  joined = sql``,
): RawBuilder<unknown> {
  const isNamed = orderIds !== null;
  const decided = sql`select from ledger.adjustments d where d.entry_id = h.entry_id and d.is_decision`;
  return sql`
    from (${onceHeld(sql`l.kind = 'held' or (l.is_decision and ${isToDecide && isNamed})`)}) h
    cross join lateral (select e.* from ledger.entries e where e.entry_id = h.entry_id limit 1) e
    cross join lateral (select t.* from intake.attributions t where t.entry_id = h.entry_id and t.job = e.job
      limit 1) t
    cross join lateral (select o.* from intake.orders o where o.order_version_id = t.order_version_id
      limit 1) o
    ${joined}
    where e.effect = 'referral' and e.state = 'accepted' and t.outcome <> 'held'
      and (o.currency <> e.currency or exists (${decided}))
      and (${isNamed || !isToDecide} or not exists (${decided} and d.new_amount = 0))
      and (${job}::text is null or e.job = ${job}) and (${source}::text is null or t.source = ${source})
      and (${!isNamed}
        or ledger.fold_order_id(t.order_id) = any (${(orderIds ?? []).map(foldOrderId)}::text[]))`;
}
