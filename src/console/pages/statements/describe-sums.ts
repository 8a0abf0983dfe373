import type { CurrencySum } from '../../../earnings/sum-statement.ts';
import { formatMoney } from '../../../model/money.ts';
import { plural } from '../../../present/text.ts';

/** What a statement comes to, `13.33 EUR in 2 lines, 5.00 USD in 1 line`: as a page shows it, and as its form is checked. */
export function describeSums(currencies: readonly CurrencySum[]): string {
  return currencies.length === 0
    ? 'nothing to pay'
    : currencies
        .map(({ amount, currency, lines }) => `${formatMoney(amount, currency)} in ${plural(lines, 'line')}`)
        .join(', ');
}
