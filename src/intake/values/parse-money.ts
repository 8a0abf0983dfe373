import { type DecimalText, hasFittingDecimals, maxDecimals } from '../../core/money.ts';
import { toNfkc } from '../../core/text/normal-form.ts';
import type { MoneyFormat } from '../layout/to-layout.ts';
import { type Fault, OTHER_CURRENCY } from '../map/fault.ts';
import { currenciesOf } from './currency-symbols.ts';
import { NO_CURRENCY } from './parse-currency.ts';

const MAX_WHOLE_DIGITS = 14;
const MAX_DECIMALS = 4;
/** Room for all signs, blanks and currency names. Longer cells are refused without further checks. */
const MAX_CHARS = 200;
/**
 * Patterns by separator, with groups of three digits. Indian and Bangladeshi numbers have groups of two
 * before the last.
 */
const GROUPS = {
  ',': /^\d{1,3}(?:,\d{2,3})*,\d{3}$/,
  '.': /^\d{1,3}(?:\.\d{2,3})*\.\d{3}$/,
  ' ': /^\d{1,3}(?: \d{2,3})* \d{3}$/,
  "'": /^\d{1,3}(?:['\u2019]\d{2,3})*['\u2019]\d{3}$/,
};
/**
 * Splits an amount into what stands before its number, the number, and what stands after it. The number begins with a
 * digit, so that `kr.` and `Rs.` keep their point.
 */
const PARTS = /^([^\d+-]*)([+-]? ?\d[\d.,'\u2019 ]*)([^\d.,'\u2019 ]\D*)?$/;

const SPREADSHEET_DAMAGE: Fault = {
  code: 'spreadsheet_damage',
  reason: 'A spreadsheet has rounded this amount, so digits are lost.',
  help: 'Use the file as it was exported, without saving it in a spreadsheet.',
};
const UNKNOWN_SYMBOL: Fault = {
  code: 'bad_money',
  reason: 'The text next to the digits is no currency that the tool knows, or names two.',
  help: 'Check the cell. An amount can have the symbol of its currency, or a code of ISO 4217 such as EUR.',
};
const TOO_PRECISE: Fault = {
  code: 'bad_money',
  reason: `The amount has more than ${MAX_WHOLE_DIGITS} digits before or ${MAX_DECIMALS} after the decimal mark.`,
  help: 'Check that this is an amount of money. The tool never rounds an amount.',
};

/** An amount, and the currencies that its cell can mean. */
export type Money = {
  /** Has a decimal point and at least two decimals, such as `1249.00`. It is never rounded. */
  readonly amount: DecimalText;
  /** ISO 4217. One for `€` or `USD`, several for `$` or `kr`. Null if the cell names no currency. */
  readonly currencies: readonly string[] | null;
};

/**
 * Parses an amount without losing a digit, and the currency that stands next to it. An unknown symbol, or two that
 * contradict each other, is a fault. `-0` becomes `0.00`.
 */
export function readMoney(text: string, format: MoneyFormat): Money | Fault {
  if (format.decimal === '.' && isPlain(text)) return { amount: text, currencies: null };
  if (text.length > MAX_CHARS) return badMoney(format);
  let rest = tidy(text);
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i.test(rest)) return SPREADSHEET_DAMAGE;
  let sign = '';
  const takeSign = (): void => {
    if (rest.startsWith('-') && sign === '') sign = '-';
    if (/^[+-]/.test(rest)) rest = rest.slice(1).trimStart();
  };
  takeSign();
  let currencies = null as Money['currencies'];
  if (format.symbols) {
    const [, before = '', number = '', after = ''] = PARTS.exec(rest) ?? [];
    for (const symbol of [before, after]) {
      if (symbol.trim() === '') continue;
      const meant: readonly string[] = currenciesOf(symbol);
      currencies = currencies?.filter((currency) => meant.includes(currency)) ?? meant;
      if (currencies.length === 0) return UNKNOWN_SYMBOL;
    }
    rest = number.trim();
    if (sign === '') takeSign();
  }
  const mark = rest.lastIndexOf(format.decimal);
  const whole = ungroup(mark === -1 ? rest : rest.slice(0, mark), format.thousands);
  const decimals = mark === -1 ? '' : rest.slice(mark + 1);
  if (whole === null || !/^\d*$/.test(decimals) || (mark !== -1 && decimals === '')) return badMoney(format);
  const amount = toDecimal(sign, whole, decimals);
  return typeof amount === 'string' ? { amount, currencies } : amount;
}

/**
 * Parses an amount of a known currency. Every amount of an order is read by this function, except those that are added
 * up over its rows: `OrderBuilder` checks their sum.
 *
 * @returns a fault also if the cell names another currency, or the amount has more decimals than the currency.
 */
export function parseMoneyIn(currency: string, text: string, format: MoneyFormat): DecimalText | Fault {
  // Most amounts of an export are plain, and every order has several: they need no object of their own.
  if (format.decimal === '.' && isPlain(text))
    return hasFittingDecimals(text, currency) ? text : tooManyDecimals(currency);
  const money = readMoney(text, format);
  if (!('amount' in money)) return money;
  const { amount, currencies } = money;
  if (currencies !== null && currency !== NO_CURRENCY && !currencies.includes(currency))
    return OTHER_CURRENCY;
  return hasFittingDecimals(amount, currency) ? amount : tooManyDecimals(currency);
}

/**
 * Parses an amount whose currency does not matter, for example a quantity or a total for statistics. The symbol next to
 * it must be one.
 */
export function parseMoney(text: string, format: MoneyFormat): DecimalText | Fault {
  const money = readMoney(text, format);
  return 'amount' in money ? money.amount : money;
}

/**
 * Returns the currency that an amount names: `AU $3,013.00`, `12.00 USD`, `€5`.
 *
 * @returns an ISO 4217 code; null if the amount names no currency, or uses a symbol that several currencies
 * share (`$`, `kr`).
 */
export function statedCurrency(text: string): string | null {
  if (text.length > MAX_CHARS || /^[\d.,' -]*$/.test(text)) return null;
  const [, before = '', , after = ''] = PARTS.exec(tidy(text).replace(/^[+-] ?/, '')) ?? [];
  const stated = [before, after].map(currenciesOf).filter((currencies) => currencies.length === 1);
  return stated[0]?.[0] ?? null;
}

/** Returns text in NFKC with single blanks, a plain minus and cents as digits, without the marks of spreadsheets for text. */
function tidy(text: string): string {
  return toNfkc(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^="(.*)"$/, '$1')
    .replace(/^'\s*/, '')
    .replace('\u2212', '-')
    .replace(DASHES, '$100');
}

/** No cents, as people write it by hand: `12,-`, `1.250,--`, `Fr. 12.–`. */
export const DASHES = /(?<=\d)([.,])[-\u2013\u2014]{1,2}(?!\d)/;

/** True if an amount has zeros but no other digit, whatever its format. */
export function isZero(amount: string): boolean {
  return amount.includes('0') && !/[1-9]/.test(amount);
}

/** True for the most common form, `45.00`: digits, a point, two digits, no leading zero. */
export function isPlain(text: string): boolean {
  const last = text.length - 3;
  if (last < 1 || last > MAX_WHOLE_DIGITS || text.charCodeAt(last) !== 46) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if ((code < 48 || code > 57) && at !== last) return false;
  }
  return text.charCodeAt(0) !== 48 || last === 1;
}

/**
 * Removes the separators from the digits before the decimal mark. Returns null if the text is not such a
 * number.
 */
function ungroup(text: string, thousands: MoneyFormat['thousands']): string | null {
  if (/^\d+$/.test(text)) return text;
  return thousands !== null && GROUPS[thousands].test(text) ? text.replace(/\D/g, '') : null;
}

function toDecimal(sign: string, whole: string, decimals: string): DecimalText | Fault {
  const digits = whole.replace(/^0+(?=\d)/, '');
  const exact = decimals.replace(/(?<!0)0+$/, '');
  if (digits.length > MAX_WHOLE_DIGITS || exact.length > MAX_DECIMALS) return TOO_PRECISE;
  const isZero = digits === '0' && exact === '';
  return `${isZero ? '' : sign}${digits}.${exact.padEnd(2, '0')}`;
}

/** Returns the fault of an amount that its currency cannot have. */
export function tooManyDecimals(currency: string): Fault {
  const digits = maxDecimals(currency);
  return {
    code: 'too_many_decimals',
    reason: `The amount has more decimals than ${currency} has (${digits === 0 ? 'none' : digits}).`,
    help: 'Check the currency of the row, and which mark the file uses for decimals. An amount is never rounded.',
  };
}

function badMoney(format: MoneyFormat): Fault {
  const example = `1${format.thousands ?? ''}249${format.decimal}00`;
  return {
    code: 'bad_money',
    reason: `This is not an amount as the layout writes it (${example}).`,
    help: "Check the cell. If the whole file writes amounts differently, use a layout with its decimal mark (the layout's `money`).",
  };
}
