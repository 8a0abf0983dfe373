import type { RejectedRow } from '../../core/record.ts';
import { plural } from '../../core/text/plural.ts';

/** A problem with a row, without its position. */
export type Fault = Omit<RejectedRow, 'line' | 'record'>;

/**
 * Creates the check for every record of a file. Unnamed columns at the end of the header (a trailing
 * delimiter) may be missing in a row. Blank cells beyond the header are accepted here; `RowWidths` decides
 * whether they are padding. A blank record does not count as a row. A row with names of the header in other places
 * is the header of another table.
 */
export function recordChecker(
  header: readonly string[],
): (cells: readonly string[]) => 'good' | 'blank' | Fault {
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
      if (!isWithin && !isPadded) return isOtherHeader(cells) ? SECOND_TABLE : ragged(cells.length, named);
    } else if (isBlank(cells[0] ?? '') && cells.every(isBlank)) return 'blank';
    if (cells[0] !== firstName) return 'good';
    if (cells.every((cell, index) => cell === (header[index] ?? ''))) return REPEATED_HEADER;
    return isOtherHeader(cells) ? SECOND_TABLE : 'good';
  };
}

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

/** The header of another table. Its rows say something else than those above, for example what was refunded. */
export const SECOND_TABLE: Fault = {
  ...REPEATED_HEADER,
  code: 'second_table',
  reason: 'Another table begins here, with other columns.',
};

function isBlank(cell: string): boolean {
  if (cell === '') return true;
  const first = cell.charCodeAt(0);
  return (first <= 32 || first > 126) && cell.trim() === '';
}
