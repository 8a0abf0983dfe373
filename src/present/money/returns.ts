import type { CustomersWon, ReturnSum } from '../../model/money/returns.ts';
import { formatMoney, roundMoney } from '../../model/money.ts';
import type { DecimalText } from '../../model/order.ts';
import type { Block } from '../blocks/block.ts';
import { formatCount, plural } from '../text.ts';

/** Shown instead of a number that cannot be known (`UNKNOWN`) or does not exist (`NONE`). */
const UNKNOWN = 'unknown';
const NONE = 'none';

/** Explains why figures of a sum are unknown. */
const REASONS: Readonly<Record<ReturnSum['unknown'][number], string>> = {
  rate: 'neither your terms nor the service state a commission rate',
  products: 'your terms exclude products, and it is unknown what was bought in some orders',
  margin: 'statements.margin_percent is not set',
  exchange: 'statements.fx has no rate for the day of some orders',
  customers:
    'some orders have no customer key or are from the first 90 days of customer keys, so it is unknown whether their customers are new',
};

/** Describes the months that sums cover. Both limits are included; null means no limit on that side. */
export function describeMonths({
  from,
  to,
}: {
  readonly from: string | null;
  readonly to: string | null;
}): string {
  if (from === null && to === null) return 'all months';
  return from === to ? `${from}` : `${from ?? 'the first month'} to ${to ?? 'the newest month'}`;
}

/**
 * Formats the figures of a sum, for the terminal and the console. A figure that cannot be known is shown as
 * `unknown`.
 */
export function describeReturn(sum: ReturnSum) {
  const { currency, costAmount, profitAmount, roiPercent, netPerCost, costPerNewCustomer, unknown } = sum;
  const money = (amount: DecimalText | null): string =>
    amount === null ? UNKNOWN : formatMoney(amount, currency);
  const isProfitUnknown = profitAmount === null;
  return {
    orders: formatCount(sum.orders),
    net: money(sum.netAmount),
    cost: money(costAmount),
    profit: money(profitAmount === null ? null : roundMoney(profitAmount, currency)),
    // If the profit is known but the cost is 0, there is no return on investment.
    roi: roiPercent === null ? (isProfitUnknown ? UNKNOWN : NONE) : `${withoutZeros(roiPercent)} %`,
    netPerCost:
      netPerCost === null
        ? costAmount === null || sum.netAmount === null
          ? UNKNOWN
          : NONE
        : withoutZeros(roundMoney(netPerCost, null)),
    newCustomers:
      sum.unknownOrders === 0
        ? formatCount(sum.newCustomers)
        : sum.newCustomers === 0
          ? UNKNOWN
          : `at least ${formatCount(sum.newCustomers)}`,
    returning: formatCount(sum.returningOrders),
    perNewCustomer:
      costPerNewCustomer === null
        ? costAmount === null || sum.unknownOrders > 0
          ? UNKNOWN
          : NONE
        : formatMoney(roundMoney(costPerNewCustomer, currency), currency),
    why: unknown.join(', '),
  };
}

/** Explains in one sentence why figures of these sums are unknown. Null if all figures are known. */
export function explainUnknown(sums: readonly ReturnSum[]): string | null {
  const reasons = [...new Set(sums.flatMap(({ unknown }) => unknown))].toSorted();
  return reasons.length === 0
    ? null
    : `Why numbers are unknown: ${reasons.map((one) => `${one}, because ${REASONS[one]}`).join('; ')}.`;
}

/**
 * Formats the figures of customers won. The revenue of a period is `not over` until it has ended for all of
 * them.
 */
export function describeCustomersWon(won: CustomersWon) {
  const worth = (amount: DecimalText | null): string =>
    amount === null ? 'not over' : formatMoney(amount, won.currency);
  return {
    newCustomers: `${won.unknownOrders === 0 ? '' : 'at least '}${formatCount(won.newCustomers)}`,
    repeat: formatCount(won.repeatCustomers),
    worth30: worth(won.net30),
    worth90: worth(won.net90),
    worth365: worth(won.net365),
  };
}

/** Describes the revenue and cost of deals, creators, brands, campaigns or months, for the terminal. */
export function describeReturns(
  sums: readonly ReturnSum[],
  options: { readonly by: string; readonly months: string; readonly hasMore: boolean },
): readonly Block[] {
  const { by, months, hasMore } = options;
  if (sums.length === 0)
    return [{ kind: 'text', text: `No order was credited in ${months}, and no fee is owed.`, tone: 'dim' }];
  const right = (title: string) => ({ title, align: 'right' as const });
  const why = explainUnknown(sums);
  return [
    {
      kind: 'section',
      title: `What each ${by} brought and cost`,
      note: months,
      why: 'It says which orders carried a code or link, not what a creator caused. new: customers whose first order it was; per new: the cost for each of them. docs/money.md explains each number.',
      parts: [
        {
          kind: 'table',
          columns: [
            { title: by, cutAt: by === 'creator' ? 'end' : 'never' },
            ...(by === 'month' || by === 'creator' ? [] : [{ title: by === 'deal' ? 'creator' : 'name' }]),
            ...['orders', 'net revenue', 'cost', 'ROI', 'new', 'per new'].map(right),
          ],
          rows: sums.map((sum) => {
            const said = describeReturn(sum);
            return [
              sum.key === '' ? UNKNOWN : by === 'creator' ? (sum.name ?? sum.key) : sum.key,
              ...(by === 'month' || by === 'creator' ? [] : [sum.name ?? '']),
              ...[said.orders, said.net, said.cost, said.roi, said.newCustomers, said.perNewCustomer],
            ];
          }),
        },
        ...(hasMore
          ? [
              {
                kind: 'aside' as const,
                text: `These are the first ${plural(sums.length, 'row')}: --limit shows more.`,
              },
            ]
          : []),
      ],
      ...(why === null ? {} : { help: why }),
    },
  ];
}

/** Removes trailing zeros from a ratio: `12.5000` → `12.5`. Not for amounts. */
function withoutZeros(decimal: DecimalText): string {
  return String(Number(decimal));
}
