import { maskAddresses, mayHaveAddress } from '../text/mask-addresses.ts';
import { exactNumber, isObject, parseJsonWith } from './exact-json.ts';

/** Maximum nesting depth. No real payload is deeper, and Postgres accepts far more. */
const MAX_DEPTH = 100;

/** Maximum exponent of a number. Postgres accepts up to 131,071, and an amount has none. */
const MAX_EXPONENT = 300;

/**
 * Matches text that plain parsing may not handle: an escape, or a number that JavaScript may
 * change. Other text is parsed by `JSON.parse`, which is fast.
 */
const NEEDS_CARE = /\\u|(?:^|[:,[])\s*-?(?:\d{16}|\d+[.eE])|-0/;

/**
 * Parses JSON text from any sender into a value that Postgres can store when it is written again. Numbers
 * stay as written (one that JavaScript would change becomes an opaque object, see `numberText`), e-mail
 * addresses are masked because they are personal data, and NUL and lone surrogates are removed.
 *
 * @returns null if the text is not JSON or is nested too deeply.
 */
export function parseStorable(text: string): { readonly value: unknown } | null {
  if (depthOf(text) > MAX_DEPTH) return null;
  try {
    if (!NEEDS_CARE.test(text) && !mayHaveAddress(text)) return { value: JSON.parse(text) };
    const value = parseJsonWith(text, (inner, digits) => {
      if (typeof inner === 'string') return storableText(inner);
      if (digits !== undefined) return storableNumber(inner, digits);
      return isObject(inner) ? cleanKeys(inner) : inner;
    });
    return { value };
  } catch {
    return null;
  }
}

/** Removes NUL and lone surrogates from a text and masks e-mail addresses. */
export function storableText(text: string): string {
  return maskAddresses(text.replaceAll('\u0000', '').toWellFormed());
}

/**
 * Returns a JavaScript number if it has the same digits, or else an exact number. Returns text if Postgres
 * would not accept the number.
 */
function storableNumber(value: unknown, digits: string): unknown {
  if (String(value) === digits) return value;
  const exponent = Math.abs(Number(/^[^eE]*[eE](.+)$/.exec(digits)?.[1] ?? 0));
  return exponent > MAX_EXPONENT ? digits : exactNumber(digits);
}

function cleanKeys(record: Readonly<Record<string, unknown>>): unknown {
  const entries = Object.entries(record);
  if (entries.every(([key]) => storableText(key) === key)) return record;
  return Object.fromEntries(entries.map(([key, value]) => [storableText(key), value]));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;

/**
 * Returns the nesting depth of brackets outside strings. It works on character codes for speed, because it
 * scans every character that the service sends.
 */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    const sign = text.charCodeAt(index);
    if (sign === QUOTE) index = endOfText(text, index);
    else if (sign === BRACE || sign === BRACKET) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (sign === BRACE_END || sign === BRACKET_END) depth -= 1;
  }
  return deepest;
}

/** Returns the position of the closing quote of the string that begins at `start`, or the end of the text. */
function endOfText(text: string, start: number): number {
  let index = start + 1;
  for (; index < text.length; index += 1) {
    const sign = text.charCodeAt(index);
    if (sign === QUOTE) break;
    if (sign === BACKSLASH) index += 1;
  }
  return index;
}
