import type { DecimalText } from './order.ts';

const SCALE_DIGITS = 4;

/** Exact sum of amounts of one currency, with at most four decimals each. */
export function sumMoney(amounts: readonly DecimalText[]): DecimalText {
  const total = amounts.reduce((sum, amount) => sum + toScaled(amount), 0n);
  const digits = String(total < 0n ? -total : total).padStart(SCALE_DIGITS + 1, '0');
  return `${total < 0n ? '-' : ''}${digits.slice(0, -SCALE_DIGITS)}.${digits.slice(-SCALE_DIGITS)}`;
}

function toScaled(amount: DecimalText): bigint {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.');
  const scaled = BigInt(whole + fraction.padEnd(SCALE_DIGITS, '0').slice(0, SCALE_DIGITS));
  return amount.startsWith('-') ? -scaled : scaled;
}
