import { formatMoney } from '../../core/money.ts';
import type { DecimalText } from '../../core/order.ts';
import { type Block, column, more, number, section, table, whole } from '../../render/block.ts';
import { plural } from '../../render/text.ts';
import type { OtherCurrency } from './list-other-currency.ts';

const SHOWN = 12;

/** Describes posted orders that an export states in another currency since. Amounts in two currencies have no difference. */
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
