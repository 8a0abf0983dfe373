/**
 * Characters that a terminal interprets instead of showing them. They can come from file names, headers,
 * cells or answers of a server. These are the ASCII control characters (C0) except tab and line breaks, DEL,
 * the C1 control characters (where U+009B begins a sequence like ESC [ does), and characters that change the
 * direction of text or break lines (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069).
 */
const OBEYED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
  /\u001b\[(?:[12]|22|3[1236]|39)m|\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The same without C0, which JSON escapes anyway. */
const OBEYED_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const INSTEAD = '?';

/**
 * Makes text safe for a terminal: replaces each character that a terminal would interpret by `?`, which keeps
 * the width of the text. Line breaks are kept. All output must pass through this function.
 *
 * @param options.isStyled keeps the styles that `Terminal` inserts (bold, dim, red, green, yellow, cyan) and
 * no other sequence.
 */
export function toPrintable(text: string, { isStyled = false }: { isStyled?: boolean } = {}): string {
  return text.replace(OBEYED, (found) => (isStyled && found.endsWith('m') ? found : INSTEAD));
}

/**
 * Like `toPrintable`, for text within a line: also replaces line breaks and tabs by blanks, so that a file
 * name cannot begin a new line.
 */
export function toPrintableLine(text: string): string {
  return toPrintable(text.replace(/[\r\n\t]/g, ' '));
}

/**
 * Makes JSON text safe for a terminal without changing its meaning: writes such characters as escapes, for
 * example `\u009b`.
 */
export function toPrintableJson(json: string): string {
  return json.replace(OBEYED_IN_JSON, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value as a person types it in a shell: in quotes if the shell would read something else into it. */
export function shellWord(value: string): string {
  return /^[\w./:@%+,=-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

/** A text of a file for a command that a message suggests, in double quotes: the shell reads nothing else into it. */
export function inShellQuotes(text: string): string {
  return `"${toPrintableLine(text).replace(/["$`\\]/g, '\\$&')}"`;
}
