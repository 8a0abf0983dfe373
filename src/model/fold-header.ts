import { toNfkc } from './normal-form.ts';

/** A header to compare by: NFKC (which makes a no-break space a blank), lower case, no quotes, no invisible characters. */
export function foldHeader(name: string): string {
  const visible = toNfkc(name).replace(/[\p{Cc}\p{Cf}"']+/gu, ' ');
  return visible.replace(/\s+/g, ' ').trim().toLowerCase();
}
