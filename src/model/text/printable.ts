/**
 * What a terminal obeys instead of showing it, wherever it comes from (file names, headers, cells, answers of a server): control characters of
 * ASCII (C0) but tab and line breaks, DEL, their second set (C1, in which U+009B begins a sequence as ESC [ does), and those that turn the
 * direction of writing or break lines (U+061C, U+200E to U+202E, U+2066 to U+2069).
 */
const OBEYED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /\u001b\[(?:[12]|22|3[1236]|39)m|\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The same without the first set, which JSON escapes anyway. */
const OBEYED_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const INSTEAD = '?';

/**
 * Text for people, in which nothing is obeyed: each such character becomes `?`, so that what is shown is as wide as before. Line breaks stay.
 * This is the only place that decides so; whatever is printed passes it.
 *
 * @param options.isStyled keeps the colours that `Terminal` puts in, and no other sequence: bold, dim, red, green, yellow, cyan.
 */
export function toPrintable(
  text: string,
  { isStyled = false }: { readonly isStyled?: boolean } = {},
): string {
  return text.replace(OBEYED, (found) => (isStyled && found.endsWith('m') ? found : INSTEAD));
}

/** The same for what stands within a line: a file name must not begin a line of its own. */
export function toPrintableLine(text: string): string {
  return toPrintable(text.replace(/[\r\n\t]/g, ' '));
}

/** JSON text that says the same and can be shown: what a terminal would obey is written as `\u009b`. */
export function toPrintableJson(json: string): string {
  return json.replace(OBEYED_IN_JSON, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
