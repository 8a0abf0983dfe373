import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type CsvError, parse } from 'csv-parse/sync';
import type { KnownError, KnownErrorDetails, Problem, RowProblem } from '../known-error.ts';
import { quoteCell } from './csv-cell.ts';
import { didYouMean } from './did-you-mean.ts';
import { foldHeader } from './fold.ts';
import { hasAddress, maskAddresses } from './mask-addresses.ts';
import { plural } from './plural.ts';

/**
 * A small CSV file that a person or a query writes, for example codes.csv: its columns, in any order, and what
 * a row means. Exports of shops, which may be large, are read by src/intake/csv/.
 */
export type Sheet<Column extends string, Row> = {
  readonly columns: readonly Column[];
  /** Other names of the columns, folded by `foldHeader`, for files that others write. */
  readonly aliases?: ReadonlyMap<string, Column>;
  /** The header must have at least one column of each of these groups. */
  readonly required: readonly (readonly Column[])[];
  /** Whether other columns are only a warning. Remarks for people are not even that (`REMARKS`). */
  readonly mayHaveOthers: boolean;
  /** Names of other columns, folded by `foldHeader`, that are a mistake if they are filled, and how to correct it. */
  readonly refusedOthers?: { readonly names: RegExp; readonly help: string };
  /**
   * Whether a spreadsheet may have added the same number of blank cells to every row. Not for numbers: without
   * quotes, `12,5` before a blank cell looks the same.
   */
  readonly mayBePadded: boolean;
  /** What to write instead of an e-mail address, which refuses its row. Null: `readRow` judges addresses. */
  readonly insteadOfAddress: string | null;
  /** Whether problems show no value of a cell, because all of them are personal. */
  readonly isPersonal?: boolean;
  /** @returns null if the row does not count. If that is a mistake, `refuse` has recorded it. */
  readonly readRow: (row: SheetRow<Column>) => Row | null;
};

export type SheetRow<Column extends string> = {
  /** 1-based number of the line on which the row begins. 0 if it is in no file. */
  readonly line: number;
  /** Returns the trimmed text of a cell. Empty if it is blank, or the file has no such column. */
  readonly cell: (column: Column) => string;
  /** Records why a cell makes the row unusable, and how to correct it. */
  readonly refuse: (column: Column, reason: string, help: string) => null;
  /** Refuses the row if an earlier one has the same key. @returns true if the row is refused. */
  readonly isRepeated: (column: Column, key: string, what: string) => boolean;
};

export type ReadSheet<Row> = {
  readonly rows: readonly Row[];
  /** Rows that cannot be used, and mistakes in the header, by line. They contain no e-mail address. */
  readonly problems: readonly RowProblem[];
  /** Columns that are not used and need not be a mistake. */
  readonly warnings: readonly RowProblem[];
  /** Names of columns with remarks for people (`REMARKS`). They are not used. */
  readonly remarks: readonly string[];
  /** Required columns that the header lacks. If there are any, there are no rows. */
  readonly missingColumns: readonly string[];
};

/** Names of columns in which people write to each other. Whatever their cells say, a row means the same. */
const REMARKS =
  /^(?:.*[^\p{L}])?(?:notes?|comments?|remarks?|memo|description|internal|not[ai]s?|notiz(?:en)?|(?:be|an)merkung(?:en)?|kommentare?|beschreibung|intern|opmerking(?:en)?|omschrijving|remarques?|commentaires?|comentarios?|observaci(?:ó|o)n(?:es)?|comment[io]|osservazion[ei])(?:[^\p{L}].*)?$/u;

/**
 * Reads the rows of a file, and everything that is wrong with it. Cells are separated by commas, semicolons or
 * tabs. A byte order mark, blank rows and any mix of line ends are allowed.
 */
export function readSheet<Column extends string, Row>(
  text: string,
  sheet: Sheet<Column, Row>,
): ReadSheet<Row> {
  const columns: readonly string[] = sheet.columns;
  const nameOf = (written: string): string => {
    const name = foldHeader(written);
    return sheet.aliases?.get(name) ?? name;
  };
  const { lines, problems } = readLines(text, (name) => columns.includes(nameOf(name)));
  const [header, ...records] = lines;
  const names = (header?.cells ?? []).map(nameOf);
  const { missingColumns, mistakes, warnings, remarks } = judgeHeader(names, sheet, records);
  // A header with broken quotes is no header. Only the quotes are wrong then.
  if (header !== undefined || problems.length === 0) problems.push(...mistakes);
  const width = sheet.mayBePadded ? widthOf(names, records) : names.length;
  const lineOf = new Map<string, number>();
  const rows = (missingColumns.length > 0 ? [] : records).flatMap((record) => {
    if (record.cells.length === width || record.cells.length === names.length)
      return readCells(sheet, { ...record, names, problems, lineOf }) ?? [];
    problems.push({
      line: record.line,
      column: null,
      value: null,
      reason: `The row has ${plural(record.cells.length, 'cell')}, and the header has ${names.length}.`,
      help:
        record.cells.length < names.length
          ? 'Write the commas of blank cells too: otherwise it is unclear which cell is missing.'
          : 'Put a value that contains the delimiter in quotes.',
    });
    return [];
  });
  problems.sort((one, other) => one.line - other.line);
  return { rows, problems, warnings, remarks, missingColumns };
}

/** Reads one row that is in no file. Missing and null cells are blank. */
export function readSheetRow<Column extends string, Row>(
  cells: Readonly<Partial<Record<Column, string | null>>>,
  sheet: Sheet<Column, Row>,
): { readonly row: Row | null; readonly problems: readonly RowProblem[] } {
  const names = sheet.columns;
  const problems: RowProblem[] = [];
  const record = { line: 0, cells: names.map((column) => cells[column] ?? '') };
  return { row: readCells(sheet, { ...record, names, problems, lineOf: new Map() }), problems };
}

/** What to change in a file: cells of some rows, by the line on which they begin, and a row to add at its end. */
export type SheetEdit<Column extends string> = {
  readonly cells: ReadonlyMap<number, Readonly<Partial<Record<Column, string>>>>;
  readonly added: Readonly<Partial<Record<Column, string>>>;
};

/**
 * Changes a file that `readSheet` reads without a problem. Its delimiter, its line ends and all other rows stay as they
 * are written. A column that it lacks is added to every row. A blank file gets a header.
 *
 * @returns the text, and the row that was added.
 */
export function editSheet<Column extends string>(
  text: string,
  { cells: edits, added }: SheetEdit<Column>,
  columns: readonly Column[],
): { readonly text: string; readonly row: string } {
  const isColumn = (name: string): boolean => columns.some((column) => column === foldHeader(name));
  const needed = columns.filter((column) =>
    [added, ...edits.values()].some((one) => one[column] !== undefined),
  );
  const { lines: records } = readLines(text, isColumn);
  const header = records[0]?.cells ?? [];
  const missing = needed.filter((column) => !header.some((name) => foldHeader(name) === column));
  const names = [...header.map(foldHeader), ...missing];
  const delimiter = delimiterOf(text, isColumn);
  const written = text.split(/(?<=\r\n|\r(?!\n)|\n)/);
  const lineEnd = /(?:\r\n|\r|\n)$/.exec(written[0] ?? '')?.[0] ?? '\n';
  const rowOf = (cells: readonly string[]): string =>
    cells.map((cell) => quoteCell(cell, delimiter)).join(delimiter);
  const change = ({ cells, line }: Line): void => {
    const edit = edits.get(line);
    if (edit === undefined && missing.length === 0) return;
    const values: Readonly<Record<string, string | undefined>> =
      line === records[0]?.line ? Object.fromEntries(missing.map((name) => [name, name])) : (edit ?? {});
    const height = cells.join('').split('\n').length;
    const mark = line === records[0]?.line && text.startsWith('\ufeff') ? '\ufeff' : '';
    const row = rowOf(names.map((name, index) => values[name] ?? cells[index] ?? ''));
    written.splice(
      line - 1,
      height,
      `${mark}${row}${lineEnd}`,
      ...Array.from({ length: height - 1 }, () => ''),
    );
  };
  if (records.length === 0) written.push(`${rowOf(names)}${lineEnd}`);
  for (const record of records) change(record);
  const row = rowOf(names.map((name) => (added as Readonly<Record<string, string | undefined>>)[name] ?? ''));
  const before = written.join('');
  return { text: `${before}${/(^|[\r\n])$/.test(before) ? '' : lineEnd}${row}${lineEnd}`, row };
}

export type Unreadable = {
  readonly path: string;
  /** False: it is not UTF-8. */
  readonly isMissing: boolean;
  readonly cause: unknown;
};

/** Reads a file as text. @throws what `unreadable` creates. */
export function readSheetFile(
  path: string,
  unreadable: (why: Unreadable) => KnownError,
): { readonly bytes: Buffer; readonly text: string } {
  let isMissing = true;
  try {
    const bytes = readFileSync(path);
    isMissing = false;
    return { bytes, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (cause) {
    throw unreadable({ path, isMissing, cause });
  }
}

/**
 * Loads a file of the configuration of which one bad row refuses the whole.
 *
 * @param options.what what it is, such as `file of creators`, and the `setting` that names it.
 * @throws what `unusable` creates.
 */
export function loadSheet<Column extends string, Row>(
  path: string,
  sheet: Sheet<Column, Row>,
  {
    what,
    setting,
    unusable,
  }: { what: string; setting: string; unusable: (details: UnusableSheet) => KnownError },
): readonly Row[] {
  const where = path;
  const { text } = readSheetFile(path, ({ isMissing, cause }) =>
    isMissing
      ? unusable({
          message: `The ${what} cannot be read.`,
          where,
          help: `Check the path in ${setting}, and that this user may read the file.`,
          cause,
        })
      : unusable({ message: `The ${what} is not UTF-8.`, where, help: 'Save it as "CSV UTF-8".', cause }),
  );
  const { rows, problems } = readSheet(text, sheet);
  if (problems.length === 0) return rows;
  throw unusable({
    message: `Rows of the ${what} cannot be used.`,
    where,
    help: 'Correct them and try again.',
    problems: describeProblems(problems, basename(path)),
  });
}

type UnusableSheet = Pick<KnownErrorDetails, 'message' | 'where' | 'help' | 'problems' | 'cause'>;

/** Maximum number of problems that are listed at once. A file of another kind has one in each row. */
const SHOWN = 20;

/** Describes problems with their place, for example `terms.csv:2 rate`. @param file its name for messages. */
export function describeProblems(problems: readonly RowProblem[], file: string): readonly Problem[] {
  const more = problems.length - SHOWN;
  return [
    ...problems
      .slice(0, SHOWN)
      .map(({ line, column, value, reason, help }) => ({
        where: `${file}:${line}${column === null ? '' : ` ${column}`}`,
        message: value === null ? reason : `${JSON.stringify(value)}: ${reason}`,
        help,
      })),
    ...(more > 0
      ? [
          {
            where: file,
            message: `${plural(more, 'more row')} cannot be used.`,
            help: 'Fix the rows above first.',
          },
        ]
      : []),
  ];
}

type Line = { readonly cells: readonly string[]; readonly line: number };

type OpenRow = Line & {
  readonly names: readonly string[];
  readonly problems: RowProblem[];
  /** The first line with each key. */
  readonly lineOf: Map<string, number>;
};

function readCells<Column extends string, Row>(
  sheet: Sheet<Column, Row>,
  { names, cells, line, problems, lineOf }: OpenRow,
): Row | null {
  const cell = (column: string): string => cells[names.indexOf(column)]?.trim() ?? '';
  const refuse = (column: string, reason: string, help: string): null => {
    const value = cell(column);
    const isHidden = sheet.isPersonal === true || value === '' || hasAddress(value);
    problems.push({ line, column, value: isHidden ? null : value, reason, help });
    return null;
  };
  const withAddress = names.find((_, index) => hasAddress(cells[index] ?? ''));
  if (withAddress !== undefined && sheet.insteadOfAddress !== null)
    return refuse(withAddress, 'This is an e-mail address, which is personal data.', sheet.insteadOfAddress);
  return sheet.readRow({
    line,
    cell,
    refuse,
    isRepeated(column, key, what) {
      const before = lineOf.get(key);
      if (before === undefined) lineOf.set(key, line);
      else refuse(column, `Line ${before} already has ${what}.`, 'Keep one of the two rows.');
      return before !== undefined;
    },
  });
}

/** The delimiter is the one that gives the header most of the columns. */
function delimiterOf(text: string, isColumn: (name: string) => boolean): string {
  const [header = ''] = text.trimStart().split('\n', 1);
  const known = (delimiter: string): number => header.split(delimiter).filter(isColumn).length;
  return [',', ';', '\t'].reduce((best, other) => (known(other) > known(best) ? other : best));
}

/** Splits a text into the rows that are not blank, header first. */
function readLines(
  text: string,
  isColumn: (name: string) => boolean,
): { readonly lines: readonly Line[]; readonly problems: RowProblem[] } {
  // With one kind of line end, csv-parse reads every mix and counts the lines within quotes once.
  const even = text.replace(/\r\n?/g, '\n');
  const broken = new Set<number>();
  let isUnclosed = false;
  const parsed: unknown = parse(even, {
    bom: true,
    delimiter: delimiterOf(even, isColumn),
    record_delimiter: '\n',
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip(error: CsvError | undefined) {
      if (error?.code === 'CSV_QUOTE_NOT_CLOSED') isUnclosed = true;
      else broken.add(Number(error?.lines ?? 0));
    },
  });
  // With `info`, each record comes with its last line, which the types of csv-parse do not declare.
  const records = parsed as { record: string[]; info: { lines: number } }[];
  const problems = [...broken].map((line) => notCsv(line, 'The row is not valid CSV.'));
  if (isUnclosed) {
    // The quote consumes everything after it, so it opens after the last row that ends.
    const last = Math.max(0, records.at(-1)?.info.lines ?? 0, ...broken);
    const blank = even
      .split('\n')
      .slice(last)
      .findIndex((line) => line.trim() !== '');
    problems.push(notCsv(last + 1 + Math.max(0, blank), UNCLOSED));
  }
  const lines = records
    .map(({ record: cells, info }) => ({ cells, line: info.lines - cells.join('').split('\n').length + 1 }))
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
  return { lines, problems };
}

const UNCLOSED = 'A quote opens here and is never closed: nothing from here to the end of the file is used.';

function notCsv(line: number, reason: string): RowProblem {
  return { line, column: null, value: null, reason, help: 'Check its quotes.' };
}

function judgeHeader(
  names: readonly string[],
  {
    columns,
    required,
    mayHaveOthers,
    refusedOthers,
  }: Pick<Sheet<string, unknown>, 'columns' | 'required' | 'mayHaveOthers' | 'refusedOthers'>,
  records: readonly Line[],
): {
  readonly missingColumns: readonly string[];
  readonly mistakes: RowProblem[];
  readonly warnings: RowProblem[];
  readonly remarks: readonly string[];
} {
  const [mistakes, warnings, remarks]: [RowProblem[], RowProblem[], string[]] = [[], [], []];
  const known = `Known columns: ${columns.join(', ')}.`;
  const problem = (column: string | null, reason: string, help: string): RowProblem => ({
    line: 1,
    value: null,
    reason,
    help,
    column: column === null ? null : maskAddresses(column),
  });
  const missingColumns = required
    .filter((group) => !group.some((column) => names.includes(column)))
    .map((group) => group.join(', ').replace(/, (?=[^,]*$)/, ' or '));
  for (const column of missingColumns) mistakes.push(problem(column, 'The column is missing.', known));
  for (const [index, name] of names.entries()) {
    const isFilled = records.some(({ cells }) => (cells[index] ?? '').trim() !== '');
    if (name === '') {
      if (isFilled && !mayHaveOthers)
        mistakes.push(
          problem(null, `Column ${index + 1} has no name.`, `Give it a name, for example note. ${known}`),
        );
    } else if (columns.includes(name)) {
      if (names.indexOf(name) !== index)
        mistakes.push(problem(name, 'The column appears twice.', 'Remove one of them.'));
    } else {
      const refused = isFilled && refusedOthers?.names.test(name) === true ? refusedOthers.help : null;
      if (refused === null && REMARKS.test(name)) {
        remarks.push(maskAddresses(name));
        continue;
      }
      const near = didYouMean(name, columns);
      const rename = `If it is a remark, rename it, for example to note_${maskAddresses(name).replaceAll(' ', '_')}.`;
      const help =
        near === null ? (refused ?? `${known} ${rename}`) : `Did you mean "${near}"? ${known} ${rename}`;
      (near === null && refused === null && mayHaveOthers ? warnings : mistakes).push(
        problem(name, 'The column is unknown and not used.', help),
      );
    }
  }
  return { missingColumns, mistakes, warnings, remarks };
}

/**
 * Returns the expected number of cells: that of the header, or more if a spreadsheet has padded every row with
 * the same number of blank cells.
 */
function widthOf(names: readonly string[], records: readonly Line[]): number {
  const [first = names.length, ...others] = new Set(records.map(({ cells }) => cells.length));
  const isPadded = records.every(({ cells }) =>
    cells.slice(names.length).every((cell) => cell.trim() === ''),
  );
  return others.length === 0 && first > names.length && isPadded ? first : names.length;
}
