/** Real words have at most three marks in a row. UAX #15 ("Stream-Safe Text Format") allows thirty. */
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu;

/** Characters that nobody sees. In an address, they mean nothing. */
export const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
  /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff]+/g;

/** In a text this short, combining marks cannot cost much time. */
const SHORT_CHARS = 100;

/**
 * Converts text to Unicode normal form C. Text of unknown origin must be normalised only here and by
 * `toNfkc`. Sorting a run of combining marks takes quadratic time (160,000 of them take half a minute), so
 * marks beyond thirty in a row are removed first.
 */
export function toNfc(text: string): string {
  return withFewMarks(text).normalize('NFC');
}

/**
 * Converts text to Unicode normal form KC, which replaces full-width characters and no-break spaces by plain
 * ones; see `toNfc`.
 */
export function toNfkc(text: string): string {
  return withFewMarks(text).normalize('NFKC');
}

function withFewMarks(text: string): string {
  return text.length <= SHORT_CHARS ? text : text.replace(TOO_MANY_MARKS, '$1');
}
