import { formatMoney } from '../core/money.ts';
import { renderTableCsv } from '../render/csv.ts';
import { renderTable } from '../render/table.ts';
import type { Terminal } from '../render/terminal.ts';
import type { QueryResult } from './query-views.ts';

/**
 * Renders the result of a query as CSV, as a table, or, if not even the titles fit in one line, row by row.
 */
export function renderQuery(
  { columns, rows }: QueryResult,
  { terminal, isCsv }: { readonly terminal: Terminal; readonly isCsv: boolean },
): string {
  if (isCsv) return rows.length === 0 ? '' : renderTableCsv(columns, withoutNulls(rows));
  if (rows.length === 0) return 'No rows.\n';
  const cells = readable(columns, withoutNulls(rows));
  const fits = columns.join(GAP).length <= terminal.columns;
  return fits ? asTable({ columns, cells }, terminal) : asRecords({ columns, cells }, terminal);
}

const GAP = '  ';

type Shown = { readonly columns: readonly string[]; readonly cells: readonly (readonly string[])[] };

function asTable({ columns, cells }: Shown, terminal: Terminal): string {
  const titled = columns.map((title, index) => ({
    title,
    align: cells.every((row) => isNumber(row[index] ?? '')) ? ('right' as const) : ('left' as const),
  }));
  return `${renderTable(titled, cells, { terminal })}\n`;
}

function asRecords({ columns, cells }: Shown, terminal: Terminal): string {
  const records = cells.map((row, index) => {
    const pairs = columns.map((title, column) => [title, row[column] ?? '']);
    const titled = [{ title: 'row' }, { title: String(index + 1), cutAt: 'end' }] as const;
    return renderTable(titled, pairs, { terminal });
  });
  return `${records.join('\n\n')}\n`;
}

function withoutNulls(rows: QueryResult['rows']): readonly (readonly string[])[] {
  return rows.map((row) => row.map((cell) => cell ?? ''));
}

/** Formats times and amounts as in all commands. CSV and JSON keep their full precision. */
function readable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const isMoney = columns.map((_, index) => rows.every((row) => MONEY.test(row[index] ?? '')));
  const currency = columns.indexOf('currency');
  return rows.map((row) =>
    row.map((cell, index) => {
      if (isMoney[index] !== true || cell === '') return shortInstant(cell);
      // The currency has its own column.
      return formatMoney(cell, row[currency] || null).split(' ')[0] ?? cell;
    }),
  );
}

/** Only amounts are stored with four decimals. */
const MONEY = /^(-?\d+\.\d{4})?$/;

/**
 * Shortens `2026-04-01T00:30:00.123456+00:00` to `2026-04-01 00:30:00`, the format of all displayed times.
 * CSV and JSON keep the full value.
 */
function shortInstant(cell: string): string {
  return cell.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?\+00:00$/, '$1 $2');
}

function isNumber(cell: string): boolean {
  return /^-?[\d,]*(\.\d+)?$/.test(cell);
}
