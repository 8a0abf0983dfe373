import {
  type CustomersWon,
  NAMED_DEALS,
  type ReturnSum,
  type SelfPurchase,
} from '../../core/money/returns.ts';
import {
  type DecimalText,
  formatAtLeast,
  formatKnown,
  formatMoney,
  isMore,
  roundMoney,
} from '../../core/money.ts';
import {
  type Block,
  type Commands,
  column,
  creators,
  deals,
  more,
  number,
  orders,
  say,
  section,
  table,
  whole,
} from '../../render/block.ts';
import { formatCount, plural } from '../../render/text.ts';

/** Shown instead of a number that cannot be known (`UNKNOWN`) or does not exist (`NONE`). */
const UNKNOWN = 'unknown';
const NONE = 'none';

/** Explains why figures of a sum are unknown. */
const REASONS: Readonly<Record<ReturnSum['unknown'][number], string>> = {
  rate: 'neither your terms nor what the mirror has read of the service state a commission rate',
  products: 'your terms exclude products, and it is unknown what was bought in some orders',
  refunds: 'a refund of some orders is negative or larger than the order',
  margin: 'statements.margin_percent is not set',
  exchange: 'statements.fx has no rate for the day of some orders',
  customers:
    'some orders have no customer key or are from the first 90 days of customer keys, so it is unknown whether their customers are new',
};

/** The same in a word or two, for a cell of a table. */
const NOT_KNOWN: Readonly<Record<ReturnSum['unknown'][number], string>> = {
  rate: 'commission rate',
  products: 'products bought',
  refunds: 'refunds',
  margin: 'margin',
  exchange: 'exchange rate',
  customers: 'who is a new customer',
};

/** Describes the months that sums cover. Both limits are included; null means no limit on that side. */
export function describeMonths({ from, to }: { from: string | null; to: string | null }): string {
  if (from === null && to === null) return 'all months';
  return from === to ? `${from}` : `${from ?? 'the first month'} to ${to ?? 'the newest month'}`;
}

/**
 * Formats the figures of a sum, for the terminal and the console. A figure that cannot be known is shown as
 * `unknown`.
 */
export function describeReturn(sum: ReturnSum) {
  const { currency, costAmount, profitAmount, roiPercent, netPerCost, costPerNewCustomer, unknown } = sum;
  const money = (amount: DecimalText | null): string => formatKnown(amount, currency);
  const atLeast = (amount: DecimalText | null, known: DecimalText | null, unknownOrders: number): string =>
    amount !== null || known === null
      ? money(amount)
      : formatAtLeast(isMore(known, '0') ? formatMoney(known, currency) : '', unknownOrders);
  const customers = (count: number): string => {
    if (sum.unknownOrders === 0) return formatCount(count);
    return count === 0 ? UNKNOWN : `at least ${formatCount(count)}`;
  };
  const isProfitUnknown = profitAmount === null;
  return {
    orders: formatCount(sum.orders),
    net: atLeast(sum.netAmount, sum.netAtLeast, sum.unvaluedOrders),
    cost: atLeast(costAmount, sum.costAtLeast, sum.uncostedOrders),
    profit: money(profitAmount === null ? null : roundMoney(profitAmount, currency)),
    // If the profit is known but the cost is 0, there is no return on investment.
    roi: roiPercent === null ? (isProfitUnknown ? UNKNOWN : NONE) : `${roiPercent} %`,
    netPerCost:
      netPerCost === null ? (costAmount === null || sum.netAmount === null ? UNKNOWN : NONE) : netPerCost,
    newCustomers: customers(sum.newCustomers),
    returning: customers(sum.returningOrders),
    perNewCustomer:
      costPerNewCustomer === null
        ? costAmount === null || sum.unknownOrders > 0
          ? UNKNOWN
          : NONE
        : formatMoney(roundMoney(costPerNewCustomer, currency), currency),
    why: unknown.map((one) => NOT_KNOWN[one]).join(', '),
  };
}

/** What makes the cost of orders known. */
const REMEDIES: Readonly<Partial<Record<ReturnSum['unknown'][number], string>>> = {
  rate: 'run the mirror if it has not read these deals yet, or add a row with the rate of the deal to statements.terms',
  products: 'set order_lines: true on the source and export the orders again with their SKUs',
  refunds: 'correct the refunds in the shop and export the orders again',
};

/**
 * Explains why figures of these sums are unknown, which deals have the orders of unknown cost, and how to make it
 * known: texts, and names of deals. Empty if all figures are known.
 */
export function explainUnknown(sums: readonly ReturnSum[]): readonly (string | DealName)[] {
  const reasons = [...new Set(sums.flatMap(({ unknown }) => unknown))].toSorted();
  if (reasons.length === 0) return [];
  const why = `Why numbers are unknown, as of the last run: ${reasons.map((one) => `${NOT_KNOWN[one]}, because ${REASONS[one]}`).join('; ')}.`;
  const remedies = reasons.flatMap((one) => REMEDIES[one] ?? []);
  const deals = [...new Set(sums.flatMap(({ uncostedDeals }) => uncostedDeals))].toSorted();
  if (remedies.length === 0 || deals.length === 0) return [why];
  return [
    `${why} Orders of unknown cost are in `,
    ...deals.slice(0, NAMED_DEALS).flatMap((dealId, index) => [index === 0 ? '' : ', ', { dealId }]),
    `${deals.length > NAMED_DEALS ? ' and other deals' : ''}. To make it known, ${remedies.join('; ')}. The next run then computes the cost.`,
  ];
}

type DealName = { readonly dealId: string };

/**
 * Formats the figures of customers won. The revenue of a period is `not known yet` until it has ended for all of them, and
 * the amounts of their orders are known.
 */
export function describeCustomersWon(won: CustomersWon) {
  const worth = (amount: DecimalText | null): string =>
    amount === null ? 'not known yet' : formatMoney(amount, won.currency);
  return {
    newCustomers: `${won.unknownOrders === 0 ? '' : 'at least '}${formatCount(won.newCustomers)}`,
    repeat: formatCount(won.repeatCustomers),
    worth30: worth(won.net30),
    worth90: worth(won.net90),
    worth365: worth(won.net365),
  };
}

/** Which rows of a list are shown, and how to see the rest. */
export type ShownRows = {
  /** The months of the list, in words. */
  readonly months: string;
  readonly hasMore: boolean;
  /** Lists all rows. Omitted if the reader has just run it, and can repeat it with `--limit`. */
  readonly commands?: Commands;
};

/** Describes the revenue and cost of deals, creators, brands, campaigns or months. */
export function describeReturns(
  sums: readonly ReturnSum[],
  { by, ...shown }: ShownRows & { readonly by: string },
): readonly Block[] {
  const { months, commands = null } = shown;
  if (sums.length === 0)
    return [say(`No order was credited in ${months}, and no fee is owed.`, { tone: 'dim' })];
  const rows = sums.map((sum) => ({ ...sum, said: describeReturn(sum) }));
  const isNamed = by !== 'month' && by !== 'creator';
  const first = by === 'creator' ? column : whole;
  return section(`What each ${by} brought and cost`, {
    note: months,
    why: 'The figures say which orders carried a code or link, not what a creator caused. new: customers whose first order it was; per new: the cost for each of them. docs/money.md explains each number.',
    parts: [
      table(rows, [
        first(by, ({ key, name }) => (key === '' ? UNKNOWN : by === 'creator' ? (name ?? key) : key)),
        ...(isNamed ? [column(by === 'deal' ? 'creator' : 'name', ({ name }: ReturnSum) => name)] : []),
        number('orders', ({ said }) => said.orders),
        number('net revenue', ({ said }) => said.net),
        number('cost', ({ said }) => said.cost),
        number('ROI', ({ said }) => said.roi),
        number('new', ({ said }) => said.newCustomers),
        number('per new', ({ said }) => said.perNewCustomer),
      ]),
      ...restOf(sums.length, shown),
    ],
    help:
      explainUnknown(sums)
        .map((part) => (typeof part === 'string' ? part : part.dealId))
        .join('') || null,
    commands,
  });
}

/** Describes the customers that deals won, and what they have ordered since. */
export function describeCohorts(won: readonly CustomersWon[], shown: ShownRows): readonly Block[] {
  const unknown = `No order of ${shown.months} is known to be the first of its customer. It is unknown without customer_key, and in the first 90 days of customer keys.`;
  if (won.length === 0) return [say(unknown, { tone: 'dim' })];
  const rows = won.map((one) => ({ ...one, said: describeCustomersWon(one) }));
  return section('Customers won', {
    note: shown.months,
    why: 'Customers whose first known order was credited, and the total of all their orders in the days after it, less refunds, with or without a creator. At least: for some orders of the month, it is unknown whether their customers are new. Not over: the days have not passed for all of the customers.',
    parts: [
      table(rows, [
        whole('month', ({ month }) => month),
        whole('deal', ({ dealId }) => dealId),
        column('creator', ({ influencerHandle }) => influencerHandle),
        number('new', ({ said }) => said.newCustomers),
        number('ordered again', ({ said }) => said.repeat),
        number('30 days', ({ said }) => said.worth30),
        number('90 days', ({ said }) => said.worth90),
        number('365 days', ({ said }) => said.worth365),
      ]),
      ...restOf(rows.length, shown),
    ],
    commands: shown.commands ?? null,
  });
}

/** Describes orders that creators may have placed themselves. Empty if there are none. */
export function describeSelfPurchases(
  bought: readonly SelfPurchase[],
  { days, hasMore }: { days: number; hasMore: boolean },
): readonly Block[] {
  return section('Orders that creators may have placed themselves', {
    note: `last ${plural(days, 'day')}`,
    why: 'The service identified the customer as the credited influencer. Such an order may be a gift, a test, or allowed. Nothing is withheld.',
    parts: [
      table(bought, [
        column('day', ({ day }) => day),
        orders(({ orderId }) => orderId),
        deals(({ dealId }) => dealId),
        creators(({ influencerHandle }) => influencerHandle),
        number('amount', ({ amount, currency }) => formatKnown(amount, currency)),
      ]),
      ...more(hasMore, 'Older ones are in the view bi.self_purchases.'),
    ],
  });
}

function restOf(count: number, { hasMore, commands }: ShownRows) {
  const rest = commands === undefined ? ': --limit shows more.' : '. The page Money of the console has all.';
  return more(hasMore, `These are the first ${plural(count, 'row')}${rest}`);
}
