import { exactNumber, isObject, parseJsonWith } from './exact-json.ts';
import { maskAddresses } from './mask-addresses.ts';

/** Deeper than any payload; Postgres gives up long after. */
const MAX_DEPTH = 100;

/** Postgres takes exponents up to 131,071; an amount has none at all. */
const MAX_EXPONENT = 300;

/** An address, an escape, or where a value may begin a number that JavaScript may change: without any of them plain parsing does, and is fast. */
const NEEDS_CARE = /@|\\u|(?:^|[:,[])\s*-?(?:\d{16}|\d+[.eE])|-0/;

/**
 * JSON text as a value that Postgres takes once it is written again, whatever was sent: numbers as they are written (one that JavaScript
 * would change is an opaque object, see `numberText`), e-mail addresses masked (they are personal data), NUL and lone surrogates out.
 *
 * @returns null where the text is no JSON, or nested absurdly deep.
 */
export function parseStorable(text: string): { readonly value: unknown } | null {
  if (depthOf(text) > MAX_DEPTH) return null;
  try {
    if (!NEEDS_CARE.test(text)) return { value: JSON.parse(text) };
    const value = parseJsonWith(text, (inner, digits) => {
      if (typeof inner === 'string') return cleanText(inner);
      if (digits !== undefined) return storableNumber(inner, digits);
      return isObject(inner) ? cleanKeys(inner) : inner;
    });
    return { value };
  } catch {
    return null;
  }
}

/** A text without NUL, lone surrogates and readable e-mail addresses. */
export function cleanText(text: string): string {
  return maskAddresses(text.replaceAll('\u0000', '').toWellFormed());
}

/** A number of JavaScript where that has the same digits, else one with those digits; text where Postgres would not take it. */
function storableNumber(value: unknown, digits: string): unknown {
  if (String(value) === digits) return value;
  const exponent = Math.abs(Number(/^[^eE]*[eE](.+)$/.exec(digits)?.[1] ?? 0));
  return exponent > MAX_EXPONENT ? digits : exactNumber(digits);
}

function cleanKeys(record: Readonly<Record<string, unknown>>): unknown {
  const entries = Object.entries(record);
  if (entries.every(([key]) => cleanText(key) === key)) return record;
  return Object.fromEntries(entries.map(([key, value]) => [cleanText(key), value]));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;

/** How deep brackets are nested, those in texts left out. By codes: this looks at every character that the service sends. */
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

/** Where the text ends that begins at `start`: its closing quote, or the end of all. */
function endOfText(text: string, start: number): number {
  let index = start + 1;
  for (; index < text.length; index += 1) {
    const sign = text.charCodeAt(index);
    if (sign === QUOTE) break;
    if (sign === BACKSLASH) index += 1;
  }
  return index;
}
