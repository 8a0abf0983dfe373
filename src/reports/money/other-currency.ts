import { formatAmounts, formatKnown, formatMoney, type Money } from '../../core/money.ts';
import { sumOrders } from '../../core/order.ts';
import { type Block, column, number, section, table, whole } from '../../render/block.ts';
import { formatCount } from '../../render/text.ts';
import type { OtherCurrency, OtherCurrencySum } from './list-other-currency.ts';

/** So many are shown, unless more are asked for. */
export const SHOWN_OTHER_CURRENCY = 12;

const RESTATED = 'Posted, and stated in another currency since';

/** What these orders come to until they are settled. */
export const RESTATED_WHY =
  'It is unknown what these orders come to now, refunds included. They earn what they earned before, or nothing if a person decided that.';

/**
 * Describes posted orders that an export states in another currency since. Amounts in two currencies have no difference.
 *
 * @param options.count how many there are, if these are the first of them.
 * @param options.sent what all of them were sent with. Omitted: it is not said.
 */
export function describeOtherCurrency(
  orders: readonly OtherCurrency[],
  { count = orders.length, sent = [] }: { count?: number; sent?: readonly Money[] } = {},
): readonly Block[] {
  return section(RESTATED, {
    of: count,
    ...(sent.length === 0 ? {} : { note: `sent with ${formatAmounts(sent)}` }),
    tone: 'yellow',
    why: RESTATED_WHY,
    parts: [
      table(orders, [
        column('source', ({ source }) => source),
        whole('order', ({ orderId }) => orderId),
        whole('deal', ({ dealId }) => dealId),
        number('sent', ({ sentAmount, currency }) => formatMoney(sentAmount, currency)),
        number('stated now', ({ total, statedIn }) => formatKnown(total, statedIn)),
        number('refunded', ({ refunded, statedIn }) => formatKnown(refunded, statedIn)),
      ]),
    ],
    help: `${orders.some(({ statedIn, currency }) => statedIn === currency) ? 'A person decided that an order with one currency here was returned, and an export states it again in the currency that was sent: decide which of the two is right. ' : ''}Check in the shop what was paid and refunded. Export these orders again in the currency that was sent, and the next run settles them. If that is not possible, for example because the shop changed its currency or no job reads the source any more, decide: npx influencer-sync statement restated --order ID --as sent --reason '…' (they earn what they earned before), or --as returned (they earn nothing, and the next statement takes back what a closed one paid).`,
  });
}

/** Describes how many there are of each source. */
export function describeOtherCurrencySums(sums: readonly OtherCurrencySum[]): readonly Block[] {
  return section(RESTATED, {
    count: sumOrders(sums),
    note: `sent with ${formatAmounts(sums)}`,
    tone: 'yellow',
    why: RESTATED_WHY,
    parts: table(sums, [
      column('source', ({ source }) => source),
      column('job', ({ job }) => job),
      number('orders', ({ orders }) => formatCount(orders)),
      number('sent', ({ amount, currency }) => formatMoney(amount, currency)),
    ]),
    commands: { about: 'list them, then decide', lines: ['npx influencer-sync statement restated'] },
  });
}

/** The same as CSV. An unknown amount is blank. */
export async function renderOtherCurrencyCsv(orders: readonly OtherCurrency[]): Promise<string> {
  // Imported only here, because every run loads this file, and none writes CSV.
  const { renderTableCsv } = await import('../../render/csv.ts');
  return renderTableCsv(
    ['source', 'order_id', 'deal_id', 'sent_amount', 'sent_currency', 'total', 'refunded', 'stated_in'],
    orders.map((order) => [
      ...[order.source, order.orderId, order.dealId ?? '', order.sentAmount, order.currency],
      ...[order.total ?? '', order.refunded ?? '', order.statedIn],
    ]),
  );
}
