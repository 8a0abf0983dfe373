import { sumMoney } from '../../core/money.ts';
import type { Amount } from '../../core/notify/notice.ts';

/** Adds up exact amounts by currency, in alphabetical order. Omits sums without an amount or a currency. */
export function addUp(
  sums: readonly { readonly amount: string | null; readonly currency: string | null }[],
): readonly Amount[] {
  const known = sums.flatMap(({ amount, currency }) =>
    amount === null || currency === null ? [] : [{ amount, currency }],
  );
  return [...Map.groupBy(known, ({ currency }) => currency)]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([currency, list]) => ({ currency, amount: toExact(sumMoney(list.map(({ amount }) => amount))) }));
}

/** Shortens four decimals to two: `20.0000` → `20.00`. Drops only zeros. */
function toExact(amount: string): string {
  if (amount.endsWith('00')) return amount.slice(0, -2);
  return amount.endsWith('0') ? amount.slice(0, -1) : amount;
}
