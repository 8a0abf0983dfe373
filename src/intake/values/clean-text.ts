import { toNfc } from '../../core/text/normal-form.ts';

/** Matches text that needs no cleaning: only printable ASCII characters, and no blank at either end. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060\ufeff]+/g;
/** A spreadsheet's mark for text, or the guard before a formula in our own exports. */
const GUARDED = /^'[\p{Cc}\p{Cf}\p{Z}]*(?=[=+\-@＝＋－＠])/u;
/** The same guard before a tab or a line break, which cleaning turns into blanks. */
const GUARDED_BREAK = /^'(?=[\t\r\n])/;

/**
 * Cleans text for storage: NFC, no control or invisible characters, no blanks at its ends, no apostrophe
 * before a possible formula. Blank text becomes empty.
 */
export function cleanText(text: string): string {
  if (text === '') return text;
  if (PLAIN.test(text)) return text.charCodeAt(0) === 39 ? text.replace(GUARDED, '') : text;
  if (GUARDED_BREAK.test(text)) return cleanText(text.slice(1)) || "'";
  return toNfc(text).replace(CONTROL, ' ').trim().replace(GUARDED, '');
}

/** True if cleaning leaves nothing of a text. */
export function isBlank(text: string): boolean {
  if (text === '') return true;
  const first = text.charCodeAt(0);
  const isVisible = first > 32 && first < 127;
  return !isVisible && cleanText(text) === '';
}

/**
 * Folds a word for comparison: cleaned, lower case, underscores instead of blanks. `Partially Refunded`
 * becomes `partially_refunded`.
 */
export function foldWord(text: string): string {
  return cleanText(text).toLowerCase().replace(/\s+/g, '_');
}
