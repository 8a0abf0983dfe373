import type { QueryResult } from '../../report/query-views.ts';
import { renderCsv } from './csv.ts';
import type { Screen } from './screen.ts';
import { renderTable } from './table.ts';

/** The answer to a question as a table, numbers to the right, or as CSV. */
export function renderQuery(
  { columns, rows }: QueryResult,
  { screen, isCsv }: { readonly screen: Screen; readonly isCsv: boolean },
): string {
  const cells = rows.map((row) => row.map((cell) => cell ?? ''));
  if (isCsv) return rows.length === 0 ? '' : renderCsv([columns, ...cells], CSV);
  if (rows.length === 0) return 'No rows.\n';
  const titled = columns.map((title, index) => ({
    title,
    align: cells.every((row) => isNumber(row[index] ?? '')) ? ('right' as const) : ('left' as const),
  }));
  return `${renderTable(titled, cells, { screen })}\n`;
}

/** Text such as `=1+1` comes from exports; a negative amount is no formula. */
const CSV = { delimiter: ',', escapeFormulas: true } as const;

function isNumber(cell: string): boolean {
  return /^-?\d*(\.\d+)?$/.test(cell);
}
