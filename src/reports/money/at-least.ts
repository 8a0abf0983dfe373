import { plural } from '../../render/text.ts';

/**
 * Formats a sum that lacks what some orders and fees come to: `at least 1,234.00 EUR, 1 order and 1 fee unknown`. A sum
 * of which nothing is known is `unknown`.
 *
 * @param known the sum of what is known, formatted. Blank: nothing is.
 * @param unknownOrders number of orders whose part is unknown.
 * @param unknownFees number of fees of which it is unknown whether they are owed.
 * @param noun what is called an order by default.
 */
export function formatAtLeast(known: string, unknownOrders: number, unknownFees = 0, noun = 'order'): string {
  const unknown = [
    ...(unknownOrders > 0 ? [plural(unknownOrders, noun)] : []),
    ...(unknownFees > 0 ? [plural(unknownFees, 'fee')] : []),
  ];
  if (unknown.length === 0) return known;
  if (known === '') return 'unknown';
  return `at least ${known}, ${unknown.join(' and ')} unknown`;
}
