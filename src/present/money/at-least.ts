import { plural } from '../text.ts';

/**
 * Formats a sum that lacks what some orders come to: `at least 1,234.00 EUR, 1 order unknown`. A sum of which nothing
 * is known is `unknown`.
 *
 * @param known the sum of what is known, formatted. Blank: nothing is.
 * @param unknownOrders number of orders whose part is unknown.
 */
export function formatAtLeast(known: string, unknownOrders: number): string {
  if (unknownOrders === 0) return known;
  if (known === '') return 'unknown';
  return `at least ${known}, ${plural(unknownOrders, 'order')} unknown`;
}
