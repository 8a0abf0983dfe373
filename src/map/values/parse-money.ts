import type { MoneyFormat } from '../../model/layout.ts';
import type { DecimalText } from '../../model/order.ts';
import { toNfkc } from '../../model/text/normal-form.ts';
import type { Fault } from '../fault.ts';

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
 * Matches `€`, `US$`, `AU $`, `USD`, `RM`, `kr.`, with or without a blank. Runs of blanks have been reduced
 * to one before.
 */
const SYMBOL_BEFORE = /^(?:[A-Z]{0,3} ?\p{Sc}|[A-Z]{3}(?=[ \d+-])|(?:kr|Rs|Rp|RM|Fr)\.?(?=[ \d+-])) ?/u;
const SYMBOL_AFTER = / ?(?:[A-Z]{0,3} ?\p{Sc}|[A-Z]{3}|kr\.?|zł|Kč|Ft|lei)$/u;
/**
 * Matches the text that identifies a currency in an amount: its code, or the letters before a dollar sign.
 * Other symbols stand for several currencies.
 */
const NAMED_BEFORE = /^[+-]? ?([A-Z]{1,3}) ?(\$)?/;
const NAMED_AFTER = /([A-Z]{3})$/;
const DOLLARS: Readonly<Record<string, string>> = {
  US: 'USD',
  AU: 'AUD',
  A: 'AUD',
  C: 'CAD',
  CA: 'CAD',
  NZ: 'NZD',
  HK: 'HKD',
  S: 'SGD',
  SG: 'SGD',
  MX: 'MXN',
  NT: 'TWD',
};
const MAX_AMOUNT_CHARS = 60;

const SPREADSHEET_DAMAGE: Fault = {
  code: 'spreadsheet_damage',
  reason: 'A spreadsheet has rounded this amount, so digits are lost.',
  help: 'Use the file as it was exported, without saving it in a spreadsheet.',
};
const TOO_PRECISE: Fault = {
  code: 'bad_money',
  reason: `The amount has more than ${MAX_WHOLE_DIGITS} digits before or ${MAX_DECIMALS} after the decimal mark.`,
  help: 'Check that this is an amount of money. The tool never rounds an amount.',
};

/**
 * Parses an amount without losing a digit.
 *
 * @returns the amount with a decimal point and at least two decimals, such as `1249.00`. It is never rounded.
 * `-0` becomes `0.00`.
 */
export function parseMoney(text: string, format: MoneyFormat): DecimalText | Fault {
  if (format.decimal === '.' && isPlain(text)) return text;
  if (text.length > MAX_CHARS) return badMoney(format);
  let rest = toNfkc(text).replace(/\s+/g, ' ').trim().replace(/^'\s*/, '').replace('\u2212', '-');
  if (/^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i.test(rest)) return SPREADSHEET_DAMAGE;
  let sign = '';
  const takeSign = (): void => {
    if (rest.startsWith('-') && sign === '') sign = '-';
    if (/^[+-]/.test(rest)) rest = rest.slice(1).trimStart();
  };
  takeSign();
  if (format.symbols) {
    rest = rest.replace(SYMBOL_BEFORE, '').replace(SYMBOL_AFTER, '').trim();
    if (sign === '') takeSign();
  }
  const mark = rest.lastIndexOf(format.decimal);
  const whole = ungroup(mark === -1 ? rest : rest.slice(0, mark), format.thousands);
  const decimals = mark === -1 ? '' : rest.slice(mark + 1);
  if (whole === null || !/^\d*$/.test(decimals) || (mark !== -1 && decimals === '')) return badMoney(format);
  return toDecimal(sign, whole, decimals);
}

/**
 * Returns the currency that an amount names: `AU $3,013.00`, `12.00 USD`, `€5`.
 *
 * @returns an ISO 4217 code; null if the amount names no currency, or uses a symbol that several currencies
 * share (`$`, `kr`).
 */
export function statedCurrency(text: string): string | null {
  if (text.length > MAX_AMOUNT_CHARS || /^[\d.,' -]*$/.test(text)) return null;
  const amount = toNfkc(text).replace(/\s+/g, ' ').trim();
  if (amount.includes('€')) return 'EUR';
  const [, letters = '', dollar] = NAMED_BEFORE.exec(amount) ?? [];
  if (dollar !== undefined) return DOLLARS[letters] ?? (letters.length === 3 ? letters : null);
  if (letters.length === 3) return letters;
  return NAMED_AFTER.exec(amount)?.[1] ?? null;
}

/** True if an amount has zeros but no other digit, whatever its format. */
export function isZero(amount: string): boolean {
  return amount.includes('0') && !/[1-9]/.test(amount);
}

/** True for the most common form, `45.00`: digits, a point, two digits, no leading zero. */
function isPlain(text: string): boolean {
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

function badMoney(format: MoneyFormat): Fault {
  const example = `1${format.thousands ?? ''}249${format.decimal}00`;
  return {
    code: 'bad_money',
    reason: `This is not an amount as the layout writes it (${example}).`,
    help: "Check the cell. If the whole file writes amounts differently, use a layout with its decimal mark (the layout's `money`).",
  };
}
