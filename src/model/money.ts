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
  const total = amounts.reduce((sum, amount) => sum + toScaled(amount, SCALE_DIGITS), 0n);
  return fromScaled(total, SCALE_DIGITS);
}

/** An amount that was worked out, and not paid, with the decimals of its currency: 72.697 EUR → 72.7000. Half is rounded away from zero. */
export function roundMoney(amount: DecimalText, currency: string | null): DecimalText {
  const digits = Math.min(SCALE_DIGITS, minorDigits(currency));
  const rounded = roundScaled(toScaled(amount, SCALE_DIGITS), { from: SCALE_DIGITS, to: digits });
  return fromScaled(rounded * 10n ** BigInt(SCALE_DIGITS - digits), SCALE_DIGITS);
}

/** The number that `toScaled` made, with fewer decimals. Half is rounded away from zero, as Postgres does. */
export function roundScaled(
  scaled: bigint,
  { from, to }: { readonly from: number; readonly to: number },
): bigint {
  const unit = 10n ** BigInt(from - to);
  return (scaled + (scaled < 0n ? -unit : unit) / 2n) / unit;
}

/** The number that `toScaled` made, as text with all of its decimals. */
export function fromScaled(scaled: bigint, decimals: number): DecimalText {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(decimals + 1, '0');
  const sign = scaled < 0n ? '-' : '';
  return decimals === 0
    ? `${sign}${digits}`
    : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Whether an amount is larger than a limit. */
export function isMore(amount: string, limit: string): boolean {
  const difference = sumMoney([amount, `-${limit}`]);
  return !difference.startsWith('-') && /[1-9]/.test(difference);
}

/** A decimal as a whole number of units of its last place: `1.5` with four decimals is 15000. Further decimals are dropped. */
export function toScaled(amount: DecimalText, decimals: number): bigint {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.');
  const scaled = BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals));
  return amount.startsWith('-') ? -scaled : scaled;
}
