import { plural } from './text/plural.ts';

/**
 * An exact decimal such as `1249.00`: an optional minus, digits and an optional fraction, at most 14 + 4
 * digits. Never a float.
 */
export type DecimalText = string;

/** Number of decimals of most currencies, and of those that are not known. */
const DEFAULT_DIGITS = 2;
/**
 * Currencies with other numbers of decimals: of ISO 4217, and those that are written without decimals today, as
 * Unicode CLDR 48 has them. A table, so that no amount depends on the version of Node, and because the first
 * `Intl.NumberFormat` of a process takes 12 ms.
 */
const DIGITS: ReadonlyMap<string, number> = new Map([
  ...'AFN ALL BIF CLP COP DJF GNF HUF IDR IQD IRR ISK JPY KMF KPW KRW LAK LBP MGA MMK PKR PYG RWF SLL SOS SYP UGX VND VUV XAF XOF XPF YER'
    .split(' ')
    .map((currency) => [currency, 0] as const),
  ...'BHD JOD KWD LYD OMR TND'.split(' ').map((currency) => [currency, 3] as const),
]);
const SCALE_DIGITS = 4;
/**
 * Numbers of decimals that amounts of a currency can have, where it is not two: those of ISO 4217. For some currencies
 * that are written without decimals today, such as HUF, it still has two.
 */
const ISO_DIGITS: ReadonlyMap<string, number> = new Map([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'
    .split(' ')
    .map((currency) => [currency, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((currency) => [currency, 3] as const),
]);

/**
 * An amount with its currency (ISO 4217). Null: the currency is unknown, and the amount can be added only to others
 * whose currency is unknown.
 */
export type Money = { readonly amount: DecimalText; readonly currency: string | null };

/**
 * Adds up amounts of one currency exactly.
 *
 * @throws Error if they have several currencies, or there is none: a bug, because their sum does not exist.
 */
export function addUp(amounts: readonly Money[]): Money {
  const [first] = amounts;
  const other = amounts.find(({ currency }) => currency !== first?.currency);
  if (first === undefined || other !== undefined)
    throw new Error(
      `amounts in ${first?.currency ?? 'no currency'} and ${other?.currency ?? 'no currency'} have no sum`,
    );
  return { amount: sumMoney(amounts.map(({ amount }) => amount)), currency: first.currency };
}

/** Formats an amount with the decimals of its currency, and without its name: `1234.5000` EUR → `1,234.50`. */
export function formatNumber({ amount, currency }: Money): string {
  const text = formatMoney(amount, currency);
  return currency === null ? text : text.slice(0, -currency.length - 1);
}

/**
 * Formats an amount, or says `unknown`. A sum that lacks the amounts of some orders is `at least` as much
 * (`formatAtLeast`).
 */
export function formatKnown(amount: DecimalText | null, currency: string | null, withoutAmount = 0): string {
  return amount === null ? 'unknown' : formatAtLeast(formatMoney(amount, currency), withoutAmount);
}

/** What orders come to in one currency, as far as it is known. */
export type KnownSum = {
  /** Null: the amount of none of them is known. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  /** Number of these orders whose amount is not known. */
  readonly withoutAmount: number;
};

/** Formats what orders come to, by currency: `unknown`, or `at least` as much, if the amount of some is not known. */
export function formatSums(sums: readonly KnownSum[]): string {
  const known = sums.flatMap(({ amount, currency }) => (amount === null ? [] : [{ amount, currency }]));
  return formatAtLeast(formatAmounts(known), countUnknown(sums));
}

/** Number of orders of these sums whose amount is not known. */
export function countUnknown(sums: readonly { readonly withoutAmount?: number | undefined }[]): number {
  return sums.reduce((sum, { withoutAmount = 0 }) => sum + withoutAmount, 0);
}

/**
 * Formats a sum that lacks what some orders and fees come to: `at least 1,234.00 EUR, 1 order and 1 fee unknown`. A sum
 * of which nothing is known is `unknown`.
 *
 * @param known the sum of what is known, formatted. Blank: nothing is.
 * @param unknownOrders number of orders whose part is unknown.
 * @param unknownFees number of fees of which it is unknown whether they are owed.
 * @param noun what is called an order by default.
 */
export function formatAtLeast(known: string, unknownOrders: number, unknownFees = 0, noun = 'order'): string {
  const unknown = [
    ...(unknownOrders > 0 ? [plural(unknownOrders, noun)] : []),
    ...(unknownFees > 0 ? [plural(unknownFees, 'fee')] : []),
  ];
  if (unknown.length === 0) return known;
  if (known === '') return 'unknown';
  return `at least ${known}, ${unknown.join(' and ')} unknown`;
}

/**
 * Formats an amount: `1234.5000` EUR → `1,234.50 EUR`. It works on the text, because an amount is never a
 * float, and drops only trailing zeros.
 */
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

/** Returns the number of decimals of a currency: 2 for EUR, 0 for JPY. */
export function minorDigits(currency: string | null): number {
  if (currency === null) return DEFAULT_DIGITS;
  return DIGITS.get(currency.toUpperCase()) ?? DEFAULT_DIGITS;
}

/** Lists the currencies that are not written with two decimals, by the number of their decimals. */
export function currenciesByDigits(): ReadonlyMap<number, readonly string[]> {
  const byDigits = Map.groupBy(DIGITS, ([, digits]) => digits);
  return new Map([...byDigits].map(([digits, all]) => [digits, all.map(([currency]) => currency)]));
}

/** Returns the largest number of decimals that an amount of a currency can have: 2 for EUR and HUF, 0 for JPY. */
export function maxDecimals(currency: string): number {
  return ISO_DIGITS.get(currency) ?? DEFAULT_DIGITS;
}

/** True if an amount has no more decimals than its currency. Zeros at the end do not count: 10.0000 EUR, 1200.00 JPY. */
export function hasFittingDecimals(amount: DecimalText, currency: string): boolean {
  const digits = maxDecimals(currency);
  const mark = amount.indexOf('.');
  if (mark === -1) return true;
  for (let at = mark + 1 + digits; at < amount.length; at += 1)
    if (amount.charCodeAt(at) !== 48) return false;
  return true;
}

/** Formats one total for each currency, `1,204.50 EUR, 310.00 USD`. Currencies are never added together. */
export function formatAmounts(amounts: readonly Money[]): string {
  const byCurrency = Map.groupBy(amounts, ({ currency }) => currency);
  return [...byCurrency.values()]
    .map(addUp)
    .sort((one, other) => ((one.currency ?? '') < (other.currency ?? '') ? -1 : 1))
    .map(({ amount, currency }) => formatMoney(amount, currency))
    .join(', ');
}

/** Adds up amounts of one currency exactly. The sum has four decimals, or more if an amount needs them. */
export function sumMoney(amounts: readonly DecimalText[]): DecimalText {
  const decimals = decimalsOf(amounts);
  const total = amounts.reduce((sum, amount) => sum + toScaled(amount, decimals), 0n);
  return fromScaled(total, decimals);
}

/** Returns the exact difference of two amounts of one currency, with as many decimals as `sumMoney` gives a sum. */
export function subtractMoney(amount: DecimalText, less: DecimalText): DecimalText {
  return fromScaled(compareMoney(amount, less), decimalsOf([amount, less]));
}

/** The exact difference of two amounts, scaled by their `decimalsOf`. */
function compareMoney(amount: DecimalText, other: DecimalText): bigint {
  const decimals = decimalsOf([amount, other]);
  return toScaled(amount, decimals) - toScaled(other, decimals);
}

/**
 * Returns the number of decimals with which all amounts are exact, at least four: sums of the service, and what Postgres
 * computes, may have more.
 */
function decimalsOf(amounts: readonly DecimalText[]): number {
  return amounts.reduce((most, amount) => {
    const mark = amount.indexOf('.');
    if (mark === -1 || amount.length - mark - 1 <= most) return most;
    return Math.max(most, amount.replace(/0+$/, '').length - mark - 1);
  }, SCALE_DIGITS);
}

/**
 * Rounds a computed amount to the decimals of its currency: 72.697 EUR → 72.7000. Halves are rounded away
 * from zero.
 */
export function roundMoney(amount: DecimalText, currency: string | null): DecimalText {
  const digits = Math.min(SCALE_DIGITS, minorDigits(currency));
  // No currency has four decimals, so what `toScaled` drops is below the half that decides.
  const rounded = roundScaled(toScaled(amount, SCALE_DIGITS), { from: SCALE_DIGITS, to: digits });
  return fromScaled(rounded * 10n ** BigInt(SCALE_DIGITS - digits), SCALE_DIGITS);
}

/**
 * Reduces the decimals of a number that `toScaled` made. Halves are rounded away from zero, as in Postgres.
 */
export function roundScaled(scaled: bigint, { from, to }: { from: number; to: number }): bigint {
  const unit = 10n ** BigInt(from - to);
  return (scaled + (scaled < 0n ? -unit : unit) / 2n) / unit;
}

/** Converts a number that `toScaled` made back to text, with all of its decimals. */
export function fromScaled(scaled: bigint, decimals: number): DecimalText {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(decimals + 1, '0');
  const sign = scaled < 0n ? '-' : '';
  return decimals === 0
    ? `${sign}${digits}`
    : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** True if an amount is larger than a limit. */
export function isMore(amount: DecimalText, limit: DecimalText): boolean {
  return amount !== limit && compareMoney(amount, limit) > 0n;
}

/** True if two amounts are equal, however they are written: 10 and 10.0000. */
export function isSameAmount(amount: DecimalText, other: DecimalText): boolean {
  return amount === other || compareMoney(amount, other) === 0n;
}

/**
 * Converts an amount to ten-thousandths, exactly.
 *
 * @throws Error if it has more than four decimals: a bug, because whoever calls this has read the amount from text.
 */
export function toUnits(amount: DecimalText): bigint {
  if (decimalsOf([amount]) > SCALE_DIGITS) throw new Error('an amount has more than four decimals');
  return toScaled(amount, SCALE_DIGITS);
}

/** Converts ten-thousandths to an amount with at least two decimals, as `parseMoney` writes them: 45.00, 0.125. */
export function fromUnits(units: bigint): DecimalText {
  return fromScaled(units, SCALE_DIGITS).replace(/0{1,2}$/, '');
}

/**
 * Converts a decimal to an integer with a fixed number of decimals: `1.5` with four decimals is 15000.
 * Further decimals are dropped.
 *
 * @throws Error if the text is anything but an optional minus, digits and a fraction, such as `5-` or `1e-7`: a bug.
 */
export function toScaled(amount: DecimalText, decimals: number): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === '') throw new Error('an amount is no decimal number');
  const scaled = BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals));
  return sign === '' ? scaled : -scaled;
}
