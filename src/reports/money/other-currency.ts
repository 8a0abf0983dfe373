import { formatMoney } from '../../core/money.ts';
import type { DecimalText } from '../../core/order.ts';
import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';
import { heldEntries } from '../../money/read-statement.ts';
import { type Block, column, more, number, section, table, whole } from '../../render/block.ts';
import { plural } from '../../render/text.ts';

/** An order that was posted, and that an export states in another currency since. */
export type OtherCurrency = {
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

const SHOWN = 12;

/** Lists posted orders of a job that an export states in another currency since, by source and id. */
export function listOtherCurrency(db: Database, job: string): Promise<readonly OtherCurrency[]> {
  return rowsOf<OtherCurrency>(db)`
    select t.source, t.order_id as "orderId", e.deal_id as "dealId", e.currency, e.amount::numeric(24,4)::text as "sentAmount",
      o.currency as "statedIn", o.total, o.refunded
    from (${heldEntries}) h
    cross join lateral (select e.* from ledger.entries e where e.entry_id = h.entry_id limit 1) e
    cross join lateral (select t.* from intake.attributions t where t.entry_id = h.entry_id and t.job = e.job limit 1) t
    cross join lateral (select o.* from intake.orders o where o.order_version_id = t.order_version_id limit 1) o
    where e.job = ${job} and e.effect = 'referral' and e.state = 'accepted' and t.outcome <> 'held' and o.currency <> e.currency
    order by 1, 2`;
}

/** Describes them: amounts in two currencies have no difference, so a person has to have them exported again. */
export function describeOtherCurrency(orders: readonly OtherCurrency[]): readonly Block[] {
  const rest = orders.length - SHOWN;
  return section('Posted, and stated in another currency since', {
    count: orders.length,
    tone: 'yellow',
    why: 'It is unknown what these orders come to now, refunds included. They earn what they earned before.',
    parts: [
      table(orders.slice(0, SHOWN), [
        column('source', ({ source }) => source),
        whole('order', ({ orderId }) => orderId),
        whole('deal', ({ dealId }) => dealId),
        number('sent', ({ sentAmount, currency }) => formatMoney(sentAmount, currency)),
        number('stated now', ({ total, statedIn }) => moneyOf(total, statedIn)),
        number('refunded', ({ refunded, statedIn }) => moneyOf(refunded, statedIn)),
      ]),
      ...more(rest > 0, `and ${plural(rest, 'more order')}`),
    ],
    help: 'Check in the shop what was paid and refunded, and export these orders again in the currency that was sent. The next run then settles them.',
  });
}

function moneyOf(amount: DecimalText | null, currency: string): string {
  return amount === null ? 'unknown' : formatMoney(amount, currency);
}
