import { type Collaboration, salesOf } from './account.ts';
import { addExact, exactText } from './exact.ts';

/** The currency in which the sandbox's account keeps its books. Amounts in others are taken over one to one: it knows no rates. */
export const ACCOUNT_CURRENCY = 'EUR';

/** Commission of a collaboration for which none was agreed, in percent. */
const COMMISSION_PERC = 10;

/** What a collaboration earns of each sale, in percent. */
export function commissionPercOf({ details }: Collaboration): number {
  return typeof details.commission_perc === 'number' ? details.commission_perc : COMMISSION_PERC;
}

export type Payout = { readonly currency: string; readonly amount: number };

/** Takes the commission of all sales since the last time, one payout for each currency in which something was earned. */
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
