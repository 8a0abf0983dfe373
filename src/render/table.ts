import { toPrintableLine } from '../core/text/printable.ts';
import { wrap } from '../core/text/wrap.ts';
import type { Terminal } from './terminal.ts';
import { cellWidth, cutFront, fold } from './text.ts';

export type Column = {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /**
   * What becomes of a value if the table is too wide. Its words wrap into further lines by default; a path is cut at the
   * `front`; numbers, and other values that stay on one line, `never` change. Default for right-aligned columns: `never`.
   */
  readonly cutAt?: 'front' | 'never';
  /** What its values are the names of; the console links them to its pages. Default: nothing that has one. */
  readonly names?: 'creator' | 'deal' | 'order';
};

const GAP = '  ';
/** Minimum width of a cell that wraps or is cut. */
const MIN_WIDTH = 8;

/**
 * Renders a table within the width of the terminal. If it is too wide, the widest cells wrap between their words. A word
 * may be an id, which must stay whole: if that does not fit, the table becomes a list of its rows; in a pipe, which has no
 * width, its lines are longer. Columns without any value are left out.
 *
 * @param options.indent text before each line; it counts towards the width.
 */
export function renderTable(
  allColumns: readonly Column[],
  allRows: readonly (readonly string[])[],
  options: { readonly terminal: Terminal; readonly indent?: string },
): string {
  const { terminal, indent = '' } = options;
  const isFilled = allColumns.map(
    (_, index) => allRows.length === 0 || allRows.some((row) => (row[index] ?? '') !== ''),
  );
  const columns = allColumns.filter((_, index) => isFilled[index]);
  const rows = allRows.map((row) => row.filter((_, index) => isFilled[index]));
  const clean = rows.map((row) => columns.map((_, index) => oneLine(row[index] ?? '')));
  const total = (terminal.tableColumns ?? terminal.columns) - indent.length;
  const widths = fitWidths(columns, clean, total);
  if (!widths.isFitting && terminal.isInteractive) return asList(columns, clean, { terminal, indent, total });
  const linesOf = (cells: readonly string[]): readonly string[] => {
    const folded = columns.map((column, index) =>
      foldCell(cells[index] ?? '', column, widths.of[index] ?? 0),
    );
    return Array.from({ length: Math.max(...folded.map(({ length }) => length)) }, (_, row) => {
      const line = columns.map((column, index) =>
        place(folded[index]?.[row] ?? '', column, widths.of[index] ?? 0),
      );
      return indent + line.join(GAP).trimEnd();
    });
  };
  const titles = linesOf(columns.map(({ title }) => title)).map((line) => terminal.style('bold', line));
  return [...titles, ...clean.flatMap(linesOf)].join('\n');
}

/** Renders each row as lines of a title and a value. A value that is too long goes on in the next line. */
function asList(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { terminal, indent, total }: { terminal: Terminal; indent: string; total: number },
): string {
  const titled = Math.max(...columns.map(({ title }) => cellWidth(title)));
  const width = Math.max(MIN_WIDTH, total - titled - GAP.length);
  const listed = rows.map((row) =>
    columns.flatMap(({ title }, index) => {
      const [first = '', ...others] = wrapCell(row[index] ?? '', width);
      if (first === '') return [];
      const named = terminal.style('bold', title) + ' '.repeat(titled - cellWidth(title));
      return [`${named}${GAP}${first}`, ...others.map((other) => `${' '.repeat(titled)}${GAP}${other}`)];
    }),
  );
  return listed.map((lines) => lines.map((line) => indent + line).join('\n')).join('\n\n');
}

/** The widths of the columns, and whether their words fit. */
function fitWidths(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  total: number,
): { readonly of: readonly number[]; readonly isFitting: boolean } {
  const widths = columns.map((column, index) =>
    rows.reduce((most, row) => Math.max(most, cellWidth(row[index] ?? '')), cellWidth(column.title)),
  );
  const least = columns.map((column, index) =>
    cutOf(column) === 'front'
      ? MIN_WIDTH
      : [column.title, ...rows.map((row) => row[index] ?? '')].reduce(
          (most, cell) => Math.max(most, ...wordsOf(cell).map(cellWidth)),
          MIN_WIDTH,
        ),
  );
  const available = total - GAP.length * (columns.length - 1);
  for (let over = widths.reduce((total, number) => total + number, 0) - available; over > 0; over -= 1) {
    const widest = columns.reduce((best, column, index) => {
      const width = widths[index] ?? 0;
      const mayShrink = cutOf(column) !== 'never' && width > (least[index] ?? MIN_WIDTH);
      return mayShrink && width > (widths[best] ?? 0) ? index : best;
    }, -1);
    if (widest === -1) return { of: widths, isFitting: rows.length === 0 };
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return { of: widths, isFitting: true };
}

/** The parts of a cell between which it may wrap. An amount stays with its currency. */
function wordsOf(cell: string): readonly string[] {
  return wrap(cell, { width: 1, indent: '' }).split('\n');
}

function foldCell(cell: string, column: Column, width: number): readonly string[] {
  if (cellWidth(cell) <= width || cutOf(column) === 'never') return [cell];
  if (cutOf(column) === 'front') return [cutFront(cell, width)];
  return wrapCell(cell, width);
}

/** Wraps text by the cells of the terminal between its words, and breaks a word only if it is too long for a line. */
function wrapCell(cell: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of wordsOf(cell)) {
    const joined = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && cellWidth(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines.flatMap((line) => fold(line, width));
}

function place(shown: string, { align }: Column, width: number): string {
  const padding = ' '.repeat(Math.max(0, width - cellWidth(shown)));
  return align === 'right' ? `${padding}${shown}` : `${shown}${padding}`;
}

function cutOf({ cutAt, align }: Column): 'wrap' | 'front' | 'never' {
  return cutAt ?? (align === 'right' ? 'never' : 'wrap');
}

/** Makes a cell printable: its text comes from a file and must not move the cursor or break the table. */
function oneLine(cell: string): string {
  return toPrintableLine(cell.replace(/\s+/g, ' '));
}
