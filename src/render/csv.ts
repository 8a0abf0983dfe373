import iconv from 'iconv-lite';
import type { RawRows } from '../core/record.ts';
import { isFormula, quoteCell } from '../core/text/csv-cell.ts';

/**
 * Renders rows as CSV, quoted if needed. Lines end with CRLF, as spreadsheets write them, or with `lineEnd` in files that
 * people keep beside code. With `escapeFormulas`, cells like `=1+1` get a leading
 * apostrophe, which this project's parser removes again.
 */
export function renderCsv(
  rows: readonly (readonly string[])[],
  {
    delimiter,
    escapeFormulas,
    lineEnd = '\r\n',
  }: { delimiter: string; escapeFormulas: boolean; lineEnd?: '\n' | '\r\n' },
): string {
  const cell = (text: string): string =>
    quoteCell(escapeFormulas && isFormula(text) ? `'${text}` : text, delimiter);
  return rows.map((row) => `${row.map(cell).join(delimiter)}${lineEnd}`).join('');
}

/** Whether a cell is a number, as it is stored or shown. A blank one is. */
export function isNumber(cell: string): boolean {
  return /^-?[\d,]*(\.\d+)?$/.test(cell);
}

/** Renders a table as CSV for a spreadsheet. Formulas are escaped, but negative amounts stay numbers. */
export function renderTableCsv(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map((cell) => (isFormula(cell) && !isNumber(cell) ? `'${cell}` : cell)));
  return renderCsv([columns, ...safe], { delimiter: ',', escapeFormulas: false });
}

/**
 * Encodes rows as in their files, under their header, in the encoding and with the delimiter of the first
 * file. Once corrected, the result can be imported as it is.
 *
 * @returns null if there are no files, or if their headers differ.
 */
export function encodeRows(
  files: readonly RawRows[],
  { escapeFormulas }: { escapeFormulas: boolean },
): Buffer | null {
  const [first] = files;
  if (first === undefined || files.some(({ header }) => header.join('\n') !== first.header.join('\n')))
    return null;
  const rows = [first.header, ...files.flatMap((file) => file.rows)];
  const text = renderCsv(rows, { delimiter: first.delimiter, escapeFormulas });
  return iconv.encode(text, first.encoding, { addBOM: /^utf-?16/i.test(first.encoding) });
}
