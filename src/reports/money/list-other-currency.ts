import type { DecimalText } from '../../core/money.ts';
import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';
import { heldEntries } from '../../money/read-statement.ts';

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

/** Lists posted orders that an export states in another currency since and that nobody has settled, by source and id. */
export function listOtherCurrency(
  db: Database,
  { job = null, source = null, orderIds = null }: OtherCurrencyFilter,
): Promise<readonly OtherCurrency[]> {
  return rowsOf<OtherCurrency>(db)`
    select h.entry_id as "entryId", e.job, t.source, t.order_id as "orderId", e.deal_id as "dealId",
      e.currency, e.amount::numeric(24,4)::text as "sentAmount", o.currency as "statedIn", o.total, o.refunded
    from (${heldEntries}) h
    cross join lateral (select e.* from ledger.entries e where e.entry_id = h.entry_id limit 1) e
    cross join lateral (select t.* from intake.attributions t where t.entry_id = h.entry_id and t.job = e.job
      limit 1) t
    cross join lateral (select o.* from intake.orders o where o.order_version_id = t.order_version_id
      limit 1) o
    where e.effect = 'referral' and e.state = 'accepted' and t.outcome <> 'held' and o.currency <> e.currency
      and (${job}::text is null or e.job = ${job}) and (${source}::text is null or t.source = ${source})
      and (${orderIds === null} or t.order_id = any (${[...(orderIds ?? [])]}::text[]))
    order by t.source, t.order_id`;
}
