import { addUp, formatAtLeast, formatMoney, isMore, subtractMoney } from '../../core/money.ts';
import { sumOrders } from '../../core/order.ts';
import type { ReplayedDeal } from '../../money/replay-terms.ts';
import { type Block, creators, number, say, section, table, whole } from '../../render/block.ts';
import { formatCount } from '../../render/text.ts';

/** Describes what deals earned, and would have earned under a draft of the terms. */
export function describeReplay(
  deals: readonly ReplayedDeal[],
  { from, to }: { from: string; to: string },
): readonly Block[] {
  if (deals.length === 0) return [say(`No order and no fee counts from ${from} to ${to}.`)];
  const totals = [...Map.groupBy(deals, ({ currency }) => currency).values()].flatMap((of) => {
    const [first] = of;
    const sum = (which: 'today' | 'draft') => ({
      amount: addUp(of.map(({ currency, ...deal }) => ({ currency, amount: deal[which].amount }))).amount,
      unknown: of.reduce((all, deal) => all + deal[which].unknown, 0),
    });
    const orders = sumOrders(of);
    const all = { dealId: null, code: null, influencerHandle: 'all', orders };
    return first === undefined
      ? []
      : [{ ...all, currency: first.currency, today: sum('today'), draft: sum('draft') }];
  });
  return [
    ...section(`What counts from ${from} to ${to}`, {
      why: 'Orders as they are known now, under the terms of today and under the draft. Nothing was changed.',
      parts: table(
        [...deals, ...totals],
        [
          whole('deal', ({ dealId, code }) => dealId ?? (code === null ? null : `code ${code}`)),
          creators(({ influencerHandle }) => influencerHandle),
          number('orders', ({ orders }) => formatCount(orders)),
          number('today', ({ today, currency }) => earned(today, currency)),
          number('draft', ({ draft, currency }) => earned(draft, currency)),
          number('difference', differenceOf),
        ],
      ),
      help: 'A difference is unknown if one of the two does not say what some orders earn, because of what is not known of them: a rate, products, the customer, a currency. statement --month names each reason.',
    }),
  ];
}

/** What a draft changes; unknown if one of the two does not say what some orders earn. */
export function differenceOf({
  today,
  draft,
  currency,
}: Pick<ReplayedDeal, 'today' | 'draft' | 'currency'>): string {
  return today.unknown + draft.unknown > 0
    ? 'unknown'
    : formatMoney(subtractMoney(draft.amount, today.amount), currency);
}

export function earned({ amount, unknown }: ReplayedDeal['today'], currency: string): string {
  const isNothingKnown = unknown > 0 && !isMore(amount, '0');
  return isNothingKnown ? `unknown ${currency}` : formatAtLeast(formatMoney(amount, currency), unknown);
}
