import { fileName } from '../model/file-name.ts';
import type { RejectedRowPlace } from '../model/report.ts';
import type { Screen } from './screen.ts';
import { cut, formatCount, plural, wrap } from './text.ts';

export type RejectedInput = {
  readonly rows: readonly RejectedRowPlace[];
  /** Rows that the filter finds in all. */
  readonly total: number;
  /** Only some were asked for. */
  readonly isFiltered?: boolean;
  readonly configOption?: string;
};

/** Rejected rows with their place, value, reason and help, and how to get at them. */
export function renderRejected(
  { rows, total, isFiltered = false, configOption = '' }: RejectedInput,
  screen: Screen,
): string {
  if (rows.length === 0) return isFiltered ? 'No rejected row matches.\n' : 'No row was rejected.\n';
  const shown = rows.reduce((sum, row) => sum + row.rowCount, 0);
  const more = total - shown;
  return `${[
    screen.style('bold', plural(total, 'rejected row')),
    ...rows.flatMap((row) => renderRejectedRow(row, screen)),
    ...(more > 0 ? [`  and ${formatCount(more)} more: add --limit ${total}`] : []),
    screen.style('dim', '# the rows themselves, to mend them and drop them back'),
    `npx influencer-sync rejected --export mend.csv${configOption}`,
  ].join('\n')}\n`;
}

/** File, line, column, value, source, what is wrong, how to mend it. */
export function renderRejectedRow(row: RejectedRowPlace, screen: Screen): readonly string[] {
  const column = row.column === null ? '' : `, column ${row.column}`;
  const value = row.value === null ? '' : ` ${JSON.stringify(cut(row.value, 40))}`;
  const place = `${fileName(row.uri)} line ${formatCount(row.line)}${column}`;
  const source = `(source ${row.source})`;
  // The place and the value stay on one line, which can be searched for.
  const fits = `  ${place}${value} ${source}`.length <= screen.columns;
  return [
    `  ${screen.style('bold', place)}${value}${fits ? ` ${source}` : ''}`,
    wrap(fits ? row.reason : `${source} ${row.reason}`, { width: screen.columns, indent: '    ' }),
    screen.style('cyan', wrap(row.help, { width: screen.columns, indent: '    ' })),
  ];
}
