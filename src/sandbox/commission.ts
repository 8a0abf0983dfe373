import { type Collaboration, salesOf } from './account.ts';
import { addExact, exactText } from './exact.ts';

/**
 * The currency of the sandbox's accounts. Amounts in other currencies are converted one to one, because the
 * sandbox has no exchange rates.
 */
export const ACCOUNT_CURRENCY = 'EUR';

/** Default commission of a collaboration, in percent. */
const COMMISSION_PERC = 10;

/** The commission of a collaboration, in percent. */
export function commissionPercOf({ details }: Collaboration): number {
  return typeof details.commission_perc === 'number' ? details.commission_perc : COMMISSION_PERC;
}

export type Payout = { readonly currency: string; readonly amount: number };

/**
 * Returns the commission of all sales since the last call, one payout per currency that earned something, and
 * marks it as paid.
 */
export function takePayouts(collaboration: Collaboration): readonly Payout[] {
  const { paidSales } = collaboration;
  const sales = salesOf(collaboration);
  collaboration.paidSales = sales;
  return Object.entries(sales).flatMap(([currency, sold]) => {
    const unpaid = { units: 0n, scale: 0 };
    addExact(unpaid, sold);
    addExact(unpaid, negated(paidSales[currency] ?? '0'));
    const amount = Math.round(Number(exactText(unpaid)) * commissionPercOf(collaboration)) / 100;
    return amount > 0 ? [{ currency: currency === '' ? ACCOUNT_CURRENCY : currency, amount }] : [];
  });
}

function negated(number: string): string {
  return number.startsWith('-') ? number.slice(1) : `-${number}`;
}
