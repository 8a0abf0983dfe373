import { toNfc } from '../../model/text/normal-form.ts';

/** Every character plain ASCII, none of them a control character or a blank at either end: nothing to clean. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060\ufeff]+/g;
/** A spreadsheet's mark for "this is text", or our own export's guard before a formula. */
const GUARDED = /^'[\p{Cc}\p{Cf}\p{Z}]*(?=[=+\-@＝＋－＠])/u;
/** The same guard before a tab or a line break, which are blanks once the text is clean. */
const GUARDED_BREAK = /^'(?=[\t\r\n])/;

/**
 * Text as it is stored: NFC, no control or invisible characters, no blanks at its ends, no apostrophe before what looks like a formula.
 * Blank text becomes empty.
 */
export function cleanText(text: string): string {
  if (text === '') return text;
  if (PLAIN.test(text)) return text.charCodeAt(0) === 39 ? text.replace(GUARDED, '') : text;
  if (GUARDED_BREAK.test(text)) return cleanText(text.slice(1)) || "'";
  return toNfc(text).replace(CONTROL, ' ').trim().replace(GUARDED, '');
}

/** Whether cleaning leaves nothing of a text. */
export function isBlank(text: string): boolean {
  if (text === '') return true;
  const first = text.charCodeAt(0);
  const isVisible = first > 32 && first < 127;
  return !isVisible && cleanText(text) === '';
}

/** A word to compare by: cleaned, lower case, blanks to underscores. `Partially Refunded` becomes `partially_refunded`. */
export function foldWord(text: string): string {
  return cleanText(text).toLowerCase().replace(/\s+/g, '_');
}
