import type { RejectedRowPlace } from '../../model/run.ts';
import { renderRejectedRow } from './run-summary.ts';
import type { Screen } from './screen.ts';
import { formatCount, plural } from './text.ts';

export type RejectedInput = {
  readonly rows: readonly RejectedRowPlace[];
  /** Rows that the filter finds in all. */
  readonly total: number;
  readonly configOption?: string;
};

/** Rejected rows with their place, value, reason and help, and how to get at them. */
export function renderRejected({ rows, total, configOption = '' }: RejectedInput, screen: Screen): string {
  if (rows.length === 0) return 'No row was rejected.\n';
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
