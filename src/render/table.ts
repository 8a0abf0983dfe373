import { toPrintableLine } from '../core/text/printable.ts';
import type { Terminal } from './terminal.ts';
import { cellWidth, cut, cutFront } from './text.ts';

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
 * Renders a table within the width of the terminal. If it is too wide, the widest cells that may be cut are
 * cut, marked with …. Columns without any value are left out.
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
  const widths = fitWidths(columns, clean, terminal.columns - indent.length);
  const line = (cells: readonly string[]): string =>
    indent +
    columns
      .map((column, index) => place(cells[index] ?? '', column, widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  const title = terminal.style('bold', line(columns.map((column) => column.title)));
  return [title, ...clean.map(line)].join('\n');
}

function fitWidths(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  total: number,
): readonly number[] {
  const widths = columns.map((column, index) =>
    rows.reduce((most, row) => Math.max(most, cellWidth(row[index] ?? '')), cellWidth(column.title)),
  );
  const available = total - GAP.length * (columns.length - 1);
  for (let over = sum(widths) - available; over > 0; over -= 1) {
    const widest = columns.reduce((best, column, index) => {
      const width = widths[index] ?? 0;
      return cutOf(column) !== 'never' && width > Math.max(MIN_WIDTH, widths[best] ?? 0) ? index : best;
    }, -1);
    if (widest === -1) break;
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
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
