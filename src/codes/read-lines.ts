import { type CsvError, parse } from 'csv-parse/sync';

/** A row and its 1-based line number, counting the header. */
export type Line = { readonly record: readonly string[]; readonly line: number };

/** A row that cannot be read: it is not valid CSV, or nobody knows which of its cells belongs to which column. */
export type LineProblem = {
  readonly line: number;
  readonly column: null;
  readonly value: null;
  readonly reason: string;
  readonly help: string;
};

/**
 * Reads the rows of a small CSV file that a person or a query wrote, header first. The delimiter is a comma
 * or a semicolon; a byte order mark is allowed. Blank rows are left out. A row with more or fewer cells than the
 * header is a problem: in `2026-04-30,USD,EUR,1,08`, the rate would be 1. Exports of shops, which may be large, are
 * read by `parse/`.
 *
 * @param options.mayBePadded true: blank cells that a spreadsheet has added to every row are no problem.
 */
export function readLines(
  text: string,
  { mayBePadded = false }: { readonly mayBePadded?: boolean } = {},
): {
  readonly lines: readonly Line[];
  readonly problems: readonly LineProblem[];
} {
  const problems: LineProblem[] = [];
  let isUnclosed = false;
  const skipped = (error: CsvError | undefined) => {
    if (error?.code === 'CSV_QUOTE_NOT_CLOSED') isUnclosed = true;
    else problems.push(notCsv(Number(error?.lines ?? 0), 'The row is not valid CSV.'));
  };
  const parsed: unknown = parse(text, {
    bom: true,
    delimiter: /^[^\n]*;/.test(text) && !/^[^\n;]*,/.test(text) ? ';' : ',',
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => void skipped(error),
  });
  // With `info`, each record comes with its position, which the types of csv-parse do not declare.
  const records = parsed as { record: string[]; info: { lines: number } }[];
  // An unclosed quote consumes everything after it and is detected only at the end of the file.
  if (isUnclosed) problems.push(notCsv((records.at(-1)?.info.lines ?? 0) + 1, UNCLOSED));
  const filled = records
    .map(({ record, info }) => ({ record, line: info.lines }))
    .filter(({ record }) => record.some((cell) => cell.trim() !== ''));
  const width = filled[0]?.record.length ?? 0;
  const padded = mayBePadded ? paddedWidthOf(filled.slice(1), width) : width;
  const isWhole = ({ record }: Line): boolean => record.length === width || record.length === padded;
  const ragged = filled.filter((line) => !isWhole(line)).map((line) => raggedRow(line, width));
  return { lines: filled.filter(isWhole), problems: [...problems, ...ragged] };
}

/** The number of cells of every row, if a spreadsheet has added the same number of blank cells to each. */
function paddedWidthOf(rows: readonly Line[], width: number): number {
  const [length = width, ...others] = new Set(rows.map(({ record }) => record.length));
  const isPadded = rows.every(({ record }) => record.slice(width).every((cell) => cell.trim() === ''));
  return others.length === 0 && isPadded && length > width ? length : width;
}

const UNCLOSED = 'A quote opens here and is never closed: nothing from here to the end of the file is used.';

function raggedRow({ record, line }: Line, width: number): LineProblem {
  return {
    ...{ line, column: null, value: null },
    reason: `The row has ${record.length} cells, and the header has ${width}.`,
    help:
      record.length < width
        ? 'Write the commas of blank cells too: otherwise it is unclear which cell is missing.'
        : 'Put a value that contains the delimiter in quotes.',
  };
}

function notCsv(line: number, reason: string): LineProblem {
  return { line, column: null, value: null, reason, help: 'Check its quotes.' };
}
