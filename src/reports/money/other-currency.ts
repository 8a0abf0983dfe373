import { type DecimalText, formatMoney } from '../../core/money.ts';
import { type Block, column, more, number, section, table, whole } from '../../render/block.ts';
import { plural } from '../../render/text.ts';
import type { OtherCurrency } from './list-other-currency.ts';

/** So many are shown, unless all are asked for. */
export const SHOWN_OTHER_CURRENCY = 12;

/**
 * Describes posted orders that an export states in another currency since. Amounts in two currencies have no difference.
 *
 * @param options.count how many there are, if these are the first of them.
 */
export function describeOtherCurrency(
  orders: readonly OtherCurrency[],
  { count = orders.length }: { readonly count?: number } = {},
): readonly Block[] {
  return section('Posted, and stated in another currency since', {
    count,
    tone: 'yellow',
    why: 'It is unknown what these orders come to now, refunds included. They earn what they earned before: nothing, if a person decided so and an export states them again.',
    parts: [
      table(orders, [
        column('source', ({ source }) => source),
        whole('order', ({ orderId }) => orderId),
        whole('deal', ({ dealId }) => dealId),
        number('sent', ({ sentAmount, currency }) => formatMoney(sentAmount, currency)),
        number('stated now', ({ total, statedIn }) => moneyOf(total, statedIn)),
        number('refunded', ({ refunded, statedIn }) => moneyOf(refunded, statedIn)),
      ]),
      ...more(count > orders.length, `and ${plural(count - orders.length, 'more order')}`),
    ],
    help: "Check in the shop what was paid and refunded. Export these orders again in the currency that was sent, and the next run settles them. If that is not possible, for example because the shop changed its currency or no job reads the source any more, decide: npx influencer-sync statement restated --order ID --as sent --reason '…' (they earn what they earned before), or --as returned (they earn nothing, and the next statement takes back what a closed one paid).",
  });
}

function moneyOf(amount: DecimalText | null, currency: string): string {
  return amount === null ? 'unknown' : formatMoney(amount, currency);
}
