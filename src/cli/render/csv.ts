/** A spreadsheet would run such a cell as a formula. */
const FORMULA = /^[=+\-@\t]/;

/** Rows as CSV with CRLF, quoted where needed. With `escapeFormulas` cells like `=1+1` get a leading apostrophe, which our parser takes off again. */
export function renderCsv(
  rows: readonly (readonly string[])[],
  { delimiter, escapeFormulas }: { readonly delimiter: string; readonly escapeFormulas: boolean },
): string {
  const cell = (text: string): string => {
    const safe = escapeFormulas && FORMULA.test(text) ? `'${text}` : text;
    return safe.includes(delimiter) || /["\r\n]/.test(safe) || safe.trim() !== safe
      ? `"${safe.replaceAll('"', '""')}"`
      : safe;
  };
  return rows.map((row) => `${row.map(cell).join(delimiter)}\r\n`).join('');
}
