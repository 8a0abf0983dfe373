/**
 * A spreadsheet would run such a cell as a formula, or would once it has taken off what stands before: a tab, a line break, blanks and characters
 * that are not seen. Full-width signs are signs in Japanese editions.
 */
const FORMULA = /^[\p{Cc}\p{Cf}\p{Z}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/** Whether a spreadsheet would run a cell of this text. */
export function isFormula(text: string): boolean {
  return FORMULA.test(text);
}

/** Rows as CSV with CRLF, quoted where needed. With `escapeFormulas` cells like `=1+1` get a leading apostrophe, which our parser takes off again. */
export function renderCsv(
  rows: readonly (readonly string[])[],
  { delimiter, escapeFormulas }: { readonly delimiter: string; readonly escapeFormulas: boolean },
): string {
  const cell = (text: string): string => {
    const safe = escapeFormulas && isFormula(text) ? `'${text}` : text;
    return safe.includes(delimiter) || /["\r\n]/.test(safe) || safe.trim() !== safe
      ? `"${safe.replaceAll('"', '""')}"`
      : safe;
  };
  return rows.map((row) => `${row.map(cell).join(delimiter)}\r\n`).join('');
}
