/** Real words carry three marks at most; UAX #15 ("Stream-Safe Text Format") allows thirty. */
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu;

/** A text this short has no room for marks that would cost anything. */
const SHORT_CHARS = 100;

/**
 * Unicode's normal form C. A text of unknown origin is normalized only here and by `toNfkc`: putting a run of combining marks into their
 * order costs the square of its length (160,000 of them take half a minute), so that what exceeds thirty is cut off before.
 */
export function toNfc(text: string): string {
  return withFewMarks(text).normalize('NFC');
}

/** Unicode's normal form KC, which makes full-width characters and a no-break space plain ones; see `toNfc`. */
export function toNfkc(text: string): string {
  return withFewMarks(text).normalize('NFKC');
}

function withFewMarks(text: string): string {
  return text.length <= SHORT_CHARS ? text : text.replace(TOO_MANY_MARKS, '$1');
}
