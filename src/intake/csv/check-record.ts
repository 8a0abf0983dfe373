import type { RejectedRow } from '../../core/record.ts';
import { plural } from '../../core/text/plural.ts';

/** A problem with a row, without its position. */
export type Fault = Omit<RejectedRow, 'line' | 'record'>;

/**
 * Creates the check for every record of a file. Unnamed columns at the end of the header (a trailing
 * delimiter) may be missing in a row. Blank cells beyond the header are accepted here; `RowWidths` decides
 * whether they are padding. A blank record does not count as a row. A row with names of the header in other places
 * is the header of another table: `second_table`. If it is as wide as the header, as spreadsheets pad it, its other
 * cells must look like names, too. Almost every row has a digit in its first cell, so the check costs nothing.
 */
export function recordChecker(
  header: readonly string[],
): (cells: readonly string[]) => 'good' | 'blank' | 'second_table' | Fault {
  const width = header.length;
  const named = header.findLastIndex((name) => !isBlank(name)) + 1;
  const [firstName] = header;
  const names = new Set(header.filter((name) => !isBlank(name)));
  const isOtherHeader = (cells: readonly string[]): boolean =>
    new Set(cells.filter((cell) => names.has(cell))).size > 1;
  return (cells) => {
    if (cells.length !== width) {
      if (cells.every(isBlank)) return 'blank';
      const isWithin = cells.length >= named && cells.length <= width;
      const isPadded = cells.length > width && cells.slice(width).every(isBlank);
      if (!isWithin && !isPadded) return isOtherHeader(cells) ? 'second_table' : ragged(cells.length, named);
    } else if (isBlank(cells[0] ?? '') && cells.every(isBlank)) return 'blank';
    if (cells[0] !== firstName) {
      const isValue = cells.some((cell) => VALUE.test(cell) && !names.has(cell));
      return isValue || !isOtherHeader(cells) ? 'good' : 'second_table';
    }
    if (cells.every((cell, index) => cell === (header[index] ?? ''))) return REPEATED_HEADER;
    return isOtherHeader(cells) ? 'second_table' : 'good';
  };
}

/** What names of columns do not have: amounts, ids, times and addresses. */
const VALUE = /[\d@]/;

/** Quotes that cannot be interpreted. The text is not shown, because it may contain anything. */
export const BAD_QUOTING: Fault = {
  code: 'bad_quoting',
  column: null,
  value: null,
  reason: 'A cell contains a quote, or a quoted cell continues after its closing quote.',
  help: 'Put the whole cell in quotes and double each quote inside it ("5"" pipe"), or remove the quote.',
  rowCount: 1,
};

/** Creates the problem of a row with more or fewer cells than its header. */
export function ragged(found: number, expected: number): Fault {
  const isMore = found > expected;
  return {
    code: 'ragged_row',
    column: null,
    value: null,
    reason: `The row has ${plural(found, 'cell')}, the header has ${expected}.`,
    help: isMore
      ? 'A cell that contains the delimiter must be in quotes.'
      : 'Cells are missing at its end, or the row was cut. Export the file again, or fill them in.',
    rowCount: 1,
  };
}

export const REPEATED_HEADER: Fault = {
  code: 'repeated_header',
  column: null,
  value: null,
  reason: 'The header appears here again, as if two files had been joined.',
  help: 'Check that both files belong here. You can then remove this row.',
  rowCount: 1,
};

function isBlank(cell: string): boolean {
  if (cell === '') return true;
  const first = cell.charCodeAt(0);
  return (first <= 32 || first > 126) && cell.trim() === '';
}
