/**
 * A cell that a spreadsheet runs as a formula, at once or after removing leading tabs, line breaks, blanks
 * and invisible characters. Japanese editions also accept full-width signs.
 */
const FORMULA = /^[\p{Cc}\p{Cf}\p{Z}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/** @returns true if a spreadsheet would run a cell with this text. */
export function isFormula(text: string): boolean {
  return FORMULA.test(text);
}

/** Returns a text as a cell of CSV, in quotes if it needs them. */
export function quoteCell(text: string, delimiter: string): string {
  return text.includes(delimiter) || /["\r\n]/.test(text) || text.trim() !== text
    ? `"${text.replaceAll('"', '""')}"`
    : text;
}
