import { toNfkc } from './normal-form.ts';

const PLAIN = /^[\x21-\x7e]*$/;

/**
 * Folds a discount code (or link, or handle) for matching: lower case, NFKC, without blanks and
 * invisible characters. `" été 20"` and
 * `"ÉTÉ20"` are equal. This is not done in SQL, because lower case in a database depends on its locale.
 */
export function foldCode(code: string): string {
  if (PLAIN.test(code)) return code.toLowerCase();
  const visible = toNfkc(code).replace(/[\s\p{Z}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]+/gu, '');
  // Lower-casing can break the normal form (İ), so normalise again.
  return toNfkc(visible.toLowerCase());
}

/**
 * Folds a handle for matching: like a code, without a leading `@`. Compare handles folded by this function only; SQL
 * only chooses candidates (mirror/known-handles.ts), because its lower case depends on the locale of the database.
 */
export function foldHandle(handle: string): string {
  return foldCode(handle).replace(/^@+/, '');
}

/** Folds a key of a link or a note as layouts compare them: lower case, without blanks, `-` and `_`. */
export function foldKey(key: string): string {
  return key.toLowerCase().replace(/[\s_-]+/g, '');
}

/**
 * Folds a header for comparison: NFKC (which turns a no-break space into a blank), lower case, without quotes
 * and invisible characters.
 */
export function foldHeader(name: string): string {
  const visible = toNfkc(name).replace(/[\p{Cc}\p{Cf}"']+/gu, ' ');
  return visible.replace(/\s+/g, ' ').trim().toLowerCase();
}

/** Servers refuse longer addresses. */
const MAX_CHARS = 8_192;

/**
 * Returns the host and path of a web address, which different spellings of one link share:
 * `https://www.Acme.test/mia/?x=1` and `http://acme.test/mia` both give `acme.test/mia`.
 *
 * @returns null if the text is not a web address, or has only a host, because many links lead there.
 */
export function foldLink(text: string): string | null {
  if (text.length > MAX_CHARS) return null;
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  const path = url?.pathname.replace(/(?<!\/)\/+$/, '') ?? '';
  return url === null || path === '' ? null : `${url.host.replace(/^www\./, '')}${decode(path)}`;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // A stray % is part of the path.
  }
}

/** What programs, databases and spreadsheets write into a cell without a value, and nothing but punctuation. */
const NO_VALUE =
  /^(?:null|none|nil|nan|undefined|n\/a|\\n|#(?:n\/a|ref!|value!|name\?|null!|num!|div\/0!)|\p{P}+)$/iu;

/**
 * True if a text stands for "no value": `null`, `N/A`, `-`, `#REF!`. As an id or a name it would be that of everything
 * which has none.
 */
export function saysNoValue(text: string): boolean {
  return text.length <= MAX_NO_VALUE_CHARS && NO_VALUE.test(text.trim());
}

const MAX_NO_VALUE_CHARS = 40;
