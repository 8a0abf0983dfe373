import { INVISIBLE, toNfkc } from './normal-form.ts';

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

/*
 * One text has many spellings: a link writes `@` as %40, a link in a link as %2540, JSON as \u0040, HTML as
 * &#64;, and a keyboard for Japanese as ＠. Whoever looks for a value (an e-mail address) reads the text with all
 * of this undone, and needs to know where in the text as written each character stands.
 */

type Reading = {
  readonly text: string;
  /** For each UTF-16 unit of `text`: where in the text as written its character begins and ends. */
  readonly from: readonly number[];
  readonly to: readonly number[];
};

/** A character, or a byte that is not ASCII and waits for the rest of its character. */
type Piece = {
  readonly char: string;
  readonly byte: number | null;
  readonly from: number;
  readonly to: number;
};

const HEX = /^[\da-f]$/i;
const MARK = /^\p{M}$/u;
/** `&#1114111;` is the longest one that can be a character. */
const MAX_ENTITY_CHARS = 10;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  commat: '@',
  period: '.',
  plus: '+',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
};

/**
 * Undoes the escapes of links, JSON and HTML until none is left, applies NFKC, and removes invisible
 * characters. Takes time proportional to the length, however deep the escapes are nested.
 *
 * The second reading takes the text as an encoded form: a `+` is a blank, and an `@` that is not escaped is
 * no part of an address. The escapes of line breaks in JSON (`\n`) stay: `\nils` may also be a word of a path.
 */
function unescapeText(text: string): readonly [Reading, Reading] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const char of text) {
    pieces.push({ char, byte: null, from: at, to: at + char.length });
    at += char.length;
    // What an escape stands for may complete another one.
    while (undoLast(pieces));
  }
  return normalized(pieces);
}

/** Replaces the pieces at the end by the character that they stand for. Returns whether there was one. */
function undoLast(pieces: Piece[]): boolean {
  const last = pieces.at(-1);
  if (last === undefined) return false;
  if (last.byte !== null) return joinBytes(pieces);
  if (last.char === ';') return undoEntity(pieces);
  if (!HEX.test(last.char)) return false;
  if (charAt(pieces, 3) === '%' && HEX.test(charAt(pieces, 2))) {
    const byte = Number.parseInt(charAt(pieces, 2) + last.char, 16);
    return put(pieces, 3, byte < 0x80 ? String.fromCharCode(byte) : '\ufffd', byte < 0x80 ? null : byte);
  }
  const mark = charAt(pieces, 6);
  if ((mark !== '\\' && mark !== '%') || charAt(pieces, 5) !== 'u') return false;
  const digits = [4, 3, 2, 1].map((back) => charAt(pieces, back));
  if (!digits.every((digit) => HEX.test(digit))) return false;
  return put(pieces, 6, String.fromCharCode(Number.parseInt(digits.join(''), 16)), null);
}

function charAt(pieces: readonly Piece[], back: number): string {
  const piece = pieces.at(-back);
  return piece === undefined || piece.byte !== null ? '' : piece.char;
}

function put(pieces: Piece[], count: number, char: string, byte: number | null): true {
  const removed = pieces.splice(-count);
  pieces.push({ char, byte, from: removed[0]?.from ?? 0, to: removed.at(-1)?.to ?? 0 });
  return true;
}

/** Joins the last bytes if they are one character of UTF-8. */
function joinBytes(pieces: Piece[]): boolean {
  for (let count = 2; count <= 4; count += 1) {
    const bytes = pieces.slice(-count).map(({ byte }) => byte);
    if (bytes.length < count || bytes.some((byte) => byte === null)) return false;
    const char = Buffer.from(bytes.map(Number)).toString('utf8');
    if (!char.includes('\ufffd') && [...char].length === 1) return put(pieces, count, char, null);
  }
  return false;
}

function undoEntity(pieces: Piece[]): boolean {
  for (let count = 3; count <= MAX_ENTITY_CHARS; count += 1) {
    const char = charAt(pieces, count);
    if (char === '') return false;
    if (char !== '&') continue;
    const name = pieces
      .slice(1 - count, -1)
      .map((piece) => piece.char)
      .join('');
    const digits = /^#(?:x([\da-f]+)|(\d+))$/i.exec(name);
    const point =
      digits === null ? Number.NaN : Number.parseInt(digits[1] ?? digits[2] ?? '', digits[1] ? 16 : 10);
    const meant = point <= 0x10ffff ? String.fromCodePoint(point) : ENTITIES[name.toLowerCase()];
    return meant !== undefined && put(pieces, count, meant, null);
  }
  return false;
}

function normalized(pieces: readonly Piece[]): readonly [Reading, Reading] {
  const from: number[] = [];
  const to: number[] = [];
  const read: string[] = [];
  const asForm: string[] = [];
  for (let index = 0; index < pieces.length; index += 1) {
    const first = pieces[index];
    if (first === undefined) break;
    let { char, to: end } = first;
    // A letter and its accents may be written as several characters.
    while (MARK.test(pieces[index + 1]?.char ?? '')) {
      index += 1;
      char += pieces[index]?.char ?? '';
      end = pieces[index]?.to ?? end;
    }
    const plain = char >= ' ' && char <= '~' ? char : toNfkc(char).replace(INVISIBLE, '');
    for (let unit = 0; unit < plain.length; unit += 1) {
      from.push(first.from);
      to.push(end);
    }
    read.push(plain);
    const isWritten = end - first.from === plain.length;
    asForm.push(isWritten && plain === '+' ? ' ' : isWritten && plain === '@' ? '\u0000' : plain);
  }
  return [
    { text: read.join(''), from, to },
    { text: asForm.join(''), from, to },
  ];
}
