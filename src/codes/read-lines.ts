import { type CsvError, parse } from 'csv-parse/sync';

/** A row and its 1-based line number, counting the header. */
export type Line = { readonly record: readonly string[]; readonly line: number };

/** A row that is not valid CSV. */
export type LineProblem = {
  readonly line: number;
  readonly column: null;
  readonly value: null;
  readonly reason: string;
  readonly help: string;
};

/**
 * Reads the rows of a small CSV file that a person or a query wrote, header first. The delimiter is a comma
 * or a semicolon; a byte order mark is allowed. Blank rows are left out. Exports of shops, which may be
 * large, are read by `parse/`.
 */
export function readLines(text: string): {
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
  const lines = records
    .map(({ record, info }) => ({ record, line: info.lines }))
    .filter(({ record }) => record.some((cell) => cell.trim() !== ''));
  return { lines, problems };
}

const UNCLOSED = 'A quote opens here and is never closed: nothing from here to the end of the file is used.';

function notCsv(line: number, reason: string): LineProblem {
  return { line, column: null, value: null, reason, help: 'Check its quotes.' };
}
