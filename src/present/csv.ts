import iconv from 'iconv-lite';
import type { RawRows } from '../model/record.ts';

/**
 * A spreadsheet would run such a cell as a formula, or would once it has taken off what stands before: a tab, a line break, blanks and characters
 * that are not seen. Full-width signs are signs in Japanese editions.
 */
const FORMULA = /^[\p{Cc}\p{Cf}\p{Z}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/** Whether a spreadsheet would run a cell of this text. */
function isFormula(text: string): boolean {
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

/** A table as CSV for a spreadsheet: text that it would run is escaped, and a negative amount stays a number. */
export function renderTableCsv(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const isNumber = (cell: string): boolean => /^-?[\d,]*(\.\d+)?$/.test(cell);
  const safe = rows.map((row) => row.map((cell) => (isFormula(cell) && !isNumber(cell) ? `'${cell}` : cell)));
  return renderCsv([columns, ...safe], { delimiter: ',', escapeFormulas: false });
}

/**
 * Rows as they stand in their files, under their header, in the encoding and with the delimiter of the first: what is corrected there can be
 * dropped back as it is.
 *
 * @returns null where there are none, or where the headers differ.
 */
export function encodeRows(
  files: readonly RawRows[],
  { escapeFormulas }: { readonly escapeFormulas: boolean },
): Buffer | null {
  const [first] = files;
  if (first === undefined || files.some(({ header }) => header.join('\n') !== first.header.join('\n')))
    return null;
  const rows = [first.header, ...files.flatMap((file) => file.rows)];
  const text = renderCsv(rows, { delimiter: first.delimiter, escapeFormulas });
  return iconv.encode(text, first.encoding, { addBOM: /^utf-?16/i.test(first.encoding) });
}
