import { toNfkc } from './normal-form.ts';

const PLAIN = /^[\x21-\x7e]*$/;

/**
 * What a discount code (or link, or handle) is matched by: lower case, all blanks removed, NFKC. `" été 20"` and `"ÉTÉ20"` are the same.
 * Done here rather than in SQL, because what a database calls lower case depends on its locale.
 */
export function foldCode(code: string): string {
  if (PLAIN.test(code)) return code.toLowerCase();
  const visible = toNfkc(code).replace(/[\s\p{Z}\p{Cf}\p{Cc}]+/gu, '');
  // Lower-casing can undo the normal form (İ), so it is restored.
  return toNfkc(visible.toLowerCase());
}

/** What a handle is matched by: as a code, without the `@` in front. */
export function foldHandle(handle: string): string {
  return foldCode(handle).replace(/^@+/, '');
}

/** A header to compare by: NFKC (which makes a no-break space a blank), lower case, no quotes, no invisible characters. */
export function foldHeader(name: string): string {
  const visible = toNfkc(name).replace(/[\p{Cc}\p{Cf}"']+/gu, ' ');
  return visible.replace(/\s+/g, ' ').trim().toLowerCase();
}

/** Servers refuse longer ones. */
const MAX_CHARS = 8_192;

/**
 * Host and path of a web address, which is what two spellings of one link share: `https://www.Acme.test/mia/?x=1` and
 * `http://acme.test/mia` are `acme.test/mia`.
 *
 * @returns null where it is no web address, or names only a host, where many links lead.
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
    return path; // A stray % is part of it.
  }
}
