import { INVISIBLE, toNfkc } from './normal-form.ts';

/*
 * One text has many spellings: a link writes `@` as %40, a link in a link as %2540, JSON as \u0040, HTML as
 * &#64;, and a keyboard for Japanese as ＠. Whoever looks for a value (an e-mail address) reads the text with all
 * of this undone, and needs to know where in the text as written each character stands.
 */

/** One reading of a text. */
export type Reading = {
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
  ...{ amp: '&', commat: '@', period: '.', plus: '+', lt: '<', gt: '>', quot: '"', nbsp: ' ' },
};

/**
 * Undoes the escapes of links, JSON and HTML until none is left, applies NFKC, and removes invisible
 * characters. Takes time proportional to the length, however deep the escapes are nested.
 *
 * The second reading takes the text as an encoded form: a `+` is a blank, and an `@` that is not escaped is
 * no part of an address. The escapes of line breaks in JSON (`\n`) stay: `\nils` may also be a word of a path.
 */
export function unescapeText(text: string): readonly [Reading, Reading] {
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
