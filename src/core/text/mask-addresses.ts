import { unescapeText } from './unescape-text.ts';

/**
 * Matches the text around an @, of any length. RFC 5321 allows far less, but nothing that could identify a
 * person should stay readable. A match begins only at the start of a word, so that a long word without an @
 * is scanned once and not again from each of its letters.
 */
const ADDRESS = /(?<![^\s@"'<>(),;:])[^\s@"'<>(),;:]+@[^\s@"'<>(),;:]+/g;

/**
 * Matches an address that is written with escapes, most of them in a link. It ends where a part of the link
 * ends, and its domain has a dot: a code such as `SAVE%40OFF` is no address.
 */
const ESCAPED_ADDRESS =
  /(?<![^\s@"'<>(),;:/?&=#\\])[^\s@"'<>(),;:/?&=#\\]+@[^\s@"'<>(),;:/?&=#\\]*\.[^\s@"'<>(),;:/?&=#\\]+/g;

/**
 * Every form in which an at-sign is written. Any other text has no address. `forget` searches the database by
 * this pattern first, so it uses only what regular expressions of Postgres have, too.
 */
export const AT_SIGN = /[@＠﹫]|(%|25)40|u0040|(#|23)0*64|(#|23)x0*40|commat/i;

/** Each form has one of these. Nearly no code or name has any, and a single class is found quickly. */
const FIRST_SIGN = /[@%&\\＠﹫]/;

/** True if a text may contain an e-mail address. */
export function mayHaveAddress(text: string): boolean {
  return FIRST_SIGN.test(text) && AT_SIGN.test(text);
}

/** What to find in a text as it is written, and with its escapes undone. Both patterns are global. */
export type Wanted = { readonly written: RegExp; readonly unescaped: RegExp };

/**
 * Replaces what looks like an address, or is a certain one, wherever a reading of the text shows it: as it is
 * written, or with all escapes of links, JSON and HTML undone. The rest of the text stays as it is written.
 *
 * @param replacement gets the match as it is read. Returns what to write instead, or null to keep it.
 */
export function replaceAddresses(
  text: string,
  { written, unescaped }: Wanted,
  replacement: (match: string) => string | null,
): string {
  if (!mayHaveAddress(text)) return text;
  const found: { readonly from: number; readonly to: number; readonly instead: string }[] = [];
  const add = (match: string, from: number, to: number): void => {
    const instead = replacement(match);
    if (instead !== null) found.push({ from, to, instead });
  };
  for (const { 0: match, index } of text.matchAll(written)) add(match, index, index + match.length);
  for (const reading of unescapeText(text))
    for (const { 0: match, index } of reading.text.matchAll(unescaped))
      add(match, reading.from[index] ?? 0, reading.to[index + match.length - 1] ?? 0);
  if (found.length === 0) return text;
  let result = '';
  let end = 0;
  for (const { from, to, instead } of found.toSorted(
    (one, other) => one.from - other.from || other.to - one.to,
  )) {
    if (from >= end) result += text.slice(end, from) + instead;
    end = Math.max(end, to);
  }
  return result + text.slice(end);
}

/**
 * Replaces every e-mail address in a text by its first letter: `jane@example.com` and `jane%40example.com`
 * become `j***@***`. Handles such as `@jane` are kept.
 */
export function maskAddresses(text: string): string {
  return replaceAddresses(text, { written: ADDRESS, unescaped: ESCAPED_ADDRESS }, mask);
}

/** Eight digits or more, with the signs between them that phone numbers have. */
const PHONE = /(?<![\p{L}\p{N}])\+?\(?\d(?:[ ()./-]{0,2}\d){7,}(?![\p{L}\p{N}])/gu;

/** Masks e-mail addresses like `maskAddresses`, and replaces what may be a phone number by `***`. */
export function maskContacts(text: string): string {
  return maskAddresses(text).replace(PHONE, '***');
}

const MASK = '***@***';

function mask(address: string): string | null {
  return address.includes(MASK) ? null : `${String.fromCodePoint(address.codePointAt(0) ?? 0)}${MASK}`;
}

/** True if a text contains an e-mail address. */
export function hasAddress(text: string): boolean {
  return maskAddresses(text) !== text;
}
