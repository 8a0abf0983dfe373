import { type DecimalText, fromScaled, minorDigits, roundScaled, toScaled } from '../core/money.ts';

/** The value of one unit of a currency on a day, in the reporting currency. */
export type ExchangeRate = {
  readonly currency: string;
  /** `2026-10-01`, in the time zone of the statements. */
  readonly day: string;
  readonly rate: DecimalText;
};

/** The currency into which amounts are converted, and the rates. */
export type Exchange = { readonly reportingCurrency: string; readonly rates: readonly ExchangeRate[] };

export type ConvertedTotal = {
  readonly currency: string;
  /** Rounded once, to the decimals of the currency. Null if a rate is missing. */
  readonly amount: DecimalText | null;
  /** The days and currencies without a rate, each once. */
  readonly missing: readonly { readonly currency: string; readonly day: string }[];
};

const AMOUNT_DIGITS = 4;
const RATE_DIGITS = 12;

/**
 * Totals lines in one currency, each at the rate of the day on which it counts. The total is unknown if any
 * rate is missing.
 */
export function convertLines(
  lines: readonly { readonly amount: DecimalText; readonly currency: string; readonly dueOn: string }[],
  { reportingCurrency, rates }: Exchange,
): ConvertedTotal {
  const byDay = new Map(rates.map(({ currency, day, rate }) => [`${currency} ${day}`, rate]));
  const missing = new Map<string, { readonly currency: string; readonly day: string }>();
  let total = 0n;
  for (const { amount, currency, dueOn: day } of lines) {
    const rate = currency === reportingCurrency ? '1' : byDay.get(`${currency} ${day}`);
    if (rate !== undefined) total += toScaled(amount, AMOUNT_DIGITS) * toScaled(rate, RATE_DIGITS);
    // Zero is zero in any currency, so it needs no rate.
    else if (/[1-9]/.test(amount)) missing.set(`${currency} ${day}`, { currency, day });
  }
  const digits = minorDigits(reportingCurrency);
  const rounded = roundScaled(total, { from: AMOUNT_DIGITS + RATE_DIGITS, to: digits });
  return {
    currency: reportingCurrency,
    amount: missing.size > 0 ? null : fromScaled(rounded, digits),
    missing: [...missing.values()],
  };
}
