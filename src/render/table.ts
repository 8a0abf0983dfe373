import { toPrintableLine } from '../core/text/printable.ts';
import { wrap } from '../core/text/wrap.ts';
import type { Terminal } from './terminal.ts';
import { cellWidth, cut, cutFront, fold } from './text.ts';

export type Column = {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /**
   * Where a value is cut if the table is too wide; `never` for numbers. Default: `end`, or `never` for
   * right-aligned columns.
   */
  readonly cutAt?: 'end' | 'front' | 'never';
};

const GAP = '  ';
/** Minimum width of a cell that is cut. */
const MIN_WIDTH = 8;

/**
 * Renders a table within the width of the terminal. If it is too wide, the widest cells with several words are
 * cut, marked with …. A single word may be an id, which must stay whole: if that does not fit, the table becomes a list of its
 * rows; in a pipe, which has no width, its lines are longer. Columns without any value are left out.
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
  const line = (cells: readonly string[]): string =>
    indent +
    columns
      .map((column, index) => place(cells[index] ?? '', column, widths.of[index] ?? 0))
      .join(GAP)
      .trimEnd();
  const title = terminal.style('bold', line(columns.map((column) => column.title)));
  return [title, ...clean.map(line)].join('\n');
}

/** Renders each row as lines of a title and a value. A value that is too long goes on in the next line. */
function asList(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  {
    terminal,
    indent,
    total,
  }: { readonly terminal: Terminal; readonly indent: string; readonly total: number },
): string {
  const titled = Math.max(...columns.map(({ title }) => cellWidth(title)));
  const width = Math.max(MIN_WIDTH, total - titled - GAP.length);
  const listed = rows.map((row) =>
    columns.flatMap(({ title }, index) => {
      const wrapped = wrap(row[index] ?? '', { width, indent: '' }).split('\n');
      const [first = '', ...others] = wrapped.flatMap((line) => fold(line, width));
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
    cutOf(column) === 'end'
      ? rows.reduce(
          (most, { [index]: cell = '' }) => (cell.includes(' ') ? most : Math.max(most, cellWidth(cell))),
          MIN_WIDTH,
        )
      : MIN_WIDTH,
  );
  const available = total - GAP.length * (columns.length - 1);
  for (let over = sum(widths) - available; over > 0; over -= 1) {
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

function place(cell: string, column: Column, width: number): string {
  const shown =
    cutOf(column) === 'never' ? cell : cutOf(column) === 'front' ? cutFront(cell, width) : cut(cell, width);
  const padding = ' '.repeat(Math.max(0, width - cellWidth(shown)));
  return column.align === 'right' ? `${padding}${shown}` : `${shown}${padding}`;
}

function cutOf(column: Column): 'end' | 'front' | 'never' {
  return column.cutAt ?? (column.align === 'right' ? 'never' : 'end');
}

/** Makes a cell printable: its text comes from a file and must not move the cursor or break the table. */
function oneLine(cell: string): string {
  return toPrintableLine(cell.replace(/\s+/g, ' '));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
