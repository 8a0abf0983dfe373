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
