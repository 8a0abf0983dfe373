import { formatAmounts, type Money } from '../../core/money.ts';
import type { UncountedOrders, UnknownFee } from '../../money/statement.ts';
import { plural } from '../../render/text.ts';
import { formatAtLeast } from './at-least.ts';

/** Why orders are in no statement, and what to do about it. Also for the console. */
export const UNCOUNTED: readonly {
  readonly why: UncountedOrders['why'];
  readonly title: string;
  readonly text: (returnWindowDays: number) => string;
  readonly help: string | null;
}[] = [
  {
    why: 'unknown_rate',
    title: 'Rate unknown',
    text: () => 'Neither the terms nor the service say what these orders earn, so they are in no statement.',
    help: 'Add a row with the rate of the deal to statements.terms. The next statement then includes these orders.',
  },
  {
    why: 'unknown_lines',
    title: 'Products unknown',
    text: () =>
      'Your terms exclude products, and it is unknown what was bought in these orders, so they are in no statement.',
    help: 'Set order_lines: true on the source, and export these orders again with their SKUs. The next statement then includes them.',
  },
  {
    why: 'unknown_net',
    title: 'Refund unknown',
    text: () =>
      'The export states a refund of these orders that is negative or larger than the order, so it is unknown what is left, and they are in no statement.',
    help: 'Correct the refunds in the shop, and export these orders again. The next statement then includes them.',
  },
  {
    why: 'pending',
    title: 'Pending',
    text: (days) =>
      `These can still be returned: an order counts ${plural(days, 'day')} after it was placed.`,
    help: null,
  },
];

/** Orders whose newest state is unknown. Also for the console. */
export const HELD = {
  title: 'Changed, and held',
  why: 'It is unknown what these orders come to now: they are held, or an export states another currency than was sent. They earn what they earned before.',
  help: 'Settle why they are held, or export them again in the currency that was sent. The view bi.adjustments lists them: kind held, is_latest.',
} as const;

/** Fees of unknown deals and codes. Also for the console. */
export const UNKNOWN_FEES = {
  title: 'Unknown deal',
  why: 'The terms state fees for deals or codes that neither the mirror, nor a codes.csv, nor a credited order knows. They may be typing errors, so they are not paid.',
  help: 'Correct the deal or the code in statements.terms. If the deal is right and new, run the mirror, or add its code to codes.csv and run its job. The next statement then includes the fee.',
} as const;

/**
 * Describes the amounts to pay. If it is unknown what some orders earn, or whether a fee is owed, the creators have
 * earned at least these amounts. Pending orders are not owed yet.
 */
export function describeToPay(
  amounts: readonly Money[],
  {
    uncounted,
    unknownFees,
  }: {
    readonly uncounted: readonly Pick<UncountedOrders, 'why' | 'orders'>[];
    readonly unknownFees: readonly UnknownFee[];
  },
): string {
  const unknown = countOrders(uncounted.filter(({ why }) => why !== 'pending'));
  return formatAtLeast(formatAmounts(amounts), unknown, unknownFees.length);
}

/** Counts the orders of groups of them. */
export function countOrders(groups: readonly { readonly orders: number }[]): number {
  return groups.reduce((sum, { orders }) => sum + orders, 0);
}
