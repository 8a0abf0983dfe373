import type { DecimalText } from './order.ts';

/** Currencies without an entry in ISO 4217 are shown with cents. */
const DEFAULT_DIGITS = 2;
const SCALE_DIGITS = 4;

/** `1234.5000` EUR → `1,234.50 EUR`. On the text, digit by digit: an amount is never a float, and no digit but trailing zeros is dropped. */
export function formatMoney(amount: DecimalText, currency: string | null): string {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)0*(\d+?)(?:\.(\d*))?$/.exec(amount) ?? [
    null,
    '',
    amount,
    '',
  ];
  const digits = minorDigits(currency);
  const shown = fraction.replace(/0+$/, '').padEnd(digits, '0');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const number = shown === '' ? `${sign}${grouped}` : `${sign}${grouped}.${shown}`;
  return currency === null ? number : `${number} ${currency}`;
}

/** Decimals that amounts of a currency have: 2 of EUR, 0 of JPY. */
export function minorDigits(currency: string | null): number {
  if (currency === null) return DEFAULT_DIGITS;
  try {
    const options = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
    return options.maximumFractionDigits ?? DEFAULT_DIGITS;
  } catch {
    return DEFAULT_DIGITS;
  }
}

/** One amount a currency, `1,204.50 EUR, 310.00 USD`; never a sum across currencies. */
export function formatAmounts(
  amounts: readonly { readonly currency: string | null; readonly amount: DecimalText }[],
): string {
  const byCurrency = new Map<string, DecimalText[]>();
  for (const { currency, amount } of amounts)
    byCurrency.set(currency ?? '', [...(byCurrency.get(currency ?? '') ?? []), amount]);
  return [...byCurrency]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([currency, list]) => formatMoney(sumMoney(list), currency === '' ? null : currency))
    .join(', ');
}

/** Exact sum of amounts of one currency, with at most four decimals each. */
export function sumMoney(amounts: readonly DecimalText[]): DecimalText {
  return fromScaled(amounts.reduce((sum, amount) => sum + toScaled(amount), 0n));
}

/** An amount that was worked out, and not paid, with the decimals of its currency: 72.697 EUR → 72.7000. Half is rounded away from zero. */
export function roundMoney(amount: DecimalText, currency: string | null): DecimalText {
  const unit = 10n ** BigInt(Math.max(0, SCALE_DIGITS - minorDigits(currency)));
  const scaled = toScaled(amount);
  const half = scaled < 0n ? -unit / 2n : unit / 2n;
  return fromScaled(((scaled + half) / unit) * unit);
}

function fromScaled(scaled: bigint): DecimalText {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(SCALE_DIGITS + 1, '0');
  return `${scaled < 0n ? '-' : ''}${digits.slice(0, -SCALE_DIGITS)}.${digits.slice(-SCALE_DIGITS)}`;
}

/** Whether an amount is larger than a limit. */
export function isMore(amount: string, limit: string): boolean {
  const difference = sumMoney([amount, `-${limit}`]);
  return !difference.startsWith('-') && /[1-9]/.test(difference);
}

function toScaled(amount: DecimalText): bigint {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.');
  const scaled = BigInt(whole + fraction.padEnd(SCALE_DIGITS, '0').slice(0, SCALE_DIGITS));
  return amount.startsWith('-') ? -scaled : scaled;
}
