import { formatMoney } from '../../../core/money.ts';
import type { CurrencySum } from '../../../money/sum-statement.ts';
import { plural } from '../../../render/text.ts';

/**
 * Describes the totals of a statement: `13.33 EUR in 2 lines, 5.00 USD in 1 line`. The page shows this text,
 * and closing compares it with the current totals.
 */
export function describeSums(currencies: readonly CurrencySum[]): string {
  return currencies.length === 0
    ? 'nothing to pay'
    : currencies
        .map(({ amount, currency, lines }) => `${formatMoney(amount, currency)} in ${plural(lines, 'line')}`)
        .join(', ');
}
