import { type RawBuilder, sql } from 'kysely';
import { currenciesByDigits } from '../core/money.ts';

/** SQL for an amount with the decimals and the name of its currency, as `formatMoney` writes it without groups. */
export function moneyText(amount: RawBuilder<unknown>, currency: RawBuilder<unknown>): RawBuilder<string> {
  const patterns = [...currenciesByDigits()].map(
    ([digits, currencies]) =>
      sql`when ${currency} = any(${sql.lit(`{${currencies.join()}}`)}::text[]) then ${sql.lit(patternOf(digits))}`,
  );
  return sql`rtrim(to_char(${amount}, case ${sql.join(patterns, sql` `)} else ${sql.lit(patternOf(2))} end), '.') || ' ' || ${currency}`;
}

/** At least the decimals of the currency, and at most four. */
function patternOf(digits: number): string {
  return `FM99999999999990.${'0'.repeat(digits).padEnd(4, '9')}`;
}
