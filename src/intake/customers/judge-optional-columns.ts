import type { OptionalColumn, OptionalField } from '../../core/customer.ts';
import type { HoldReason } from '../../core/source.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { limitOf, MIN_FOR_SHARE, percent } from '../files/judge-rows.ts';

/**
 * Returns the reason to hold a file of customers although every row can be used: too many cells in a column
 * that only look-ups need cannot be read. A single such cell does not reject its row. Many of them indicate
 * another column or another format, and conditions such as `min_spent` would then select no customer.
 */
export function judgeOptionalColumns(
  columns: readonly OptionalColumn[],
  { source, maxUnreadableShare }: { readonly source: string; readonly maxUnreadableShare: number },
): HoldReason | null {
  for (const { column, holds, filled, unreadable, firstUnreadableLine } of columns) {
    if (filled < MIN_FOR_SHARE || unreadable <= filled * maxUnreadableShare) continue;
    const { what, check } = OPTIONAL[holds];
    return {
      code: 'unreadable_column',
      message: `${unreadable} of ${filled} cells in the column "${toPrintableLine(column)}" cannot be read as ${what}, more than the allowed ${percent(maxUnreadableShare)}. The first of them is on line ${firstUnreadableLine}.`,
      help: `${check} To read such files anyway, with these cells as blank, set ${limitOf(source, 'max_unreadable_share')}: 1.`,
    };
  }
  return null;
}

/** What the cells should contain, and what to check if they do not. */
const OPTIONAL: Readonly<Record<OptionalField, { readonly what: string; readonly check: string }>> = {
  orders_count: {
    what: 'a number of orders',
    check: 'Check which column the layout reads as columns.orders_count.',
  },
  spent: {
    what: 'an amount of money',
    check:
      'Check which column the layout reads as columns.spent, and how the layout writes amounts (money.decimal, money.thousands, money.symbols).',
  },
  currency: {
    what: 'a currency code of ISO 4217',
    check: 'Check which column the layout reads as columns.currency.',
  },
};
