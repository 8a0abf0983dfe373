import { type Block, item, section } from '../../src/render/block.ts';
import type { ReportRenderer } from '../../src/render/report-renderer.ts';
import { clause, formatBytes, plural } from '../../src/render/text.ts';
import type { DeleteDataReport } from './report.ts';

/** Renders what a run of `delete-data` removed. */
export const renderDeleted: ReportRenderer<DeleteDataReport> = {
  did: ({ forgotten, pruned_rows: rows }) =>
    `${plural(forgotten, 'customer')} forgotten, ${plural(rows, 'old row')} deleted`,
  tally(counts, { isPlan = false } = {}) {
    if (counts.requests === 0) return null;
    return {
      kind: 'counts',
      count: counts.requests,
      whole: plural(counts.requests, 'request'),
      meaning: 'to forget a customer',
      lines: [
        [isPlan ? 'to be forgotten' : 'forgotten', counts.forgotten, { color: 'green', always: true }],
        ['forgotten before', counts.forgotten_before],
        [
          'postponed',
          counts.postponed,
          { note: 'a job reads or sends customers now; the next run forgets them' },
        ],
        ['unreadable', counts.unreadable, { note: 'not an e-mail address', color: 'yellow' }],
      ],
    };
  },
  attention: ({ counts, details }) => [
    ...clause(counts.unreadable, 'request is not an address', 'requests are not addresses'),
    ...clause(details.problems.length, 'file of requests cannot be read', 'files of requests cannot be read'),
    ...clause(
      details.kept.length,
      'customer is still named somewhere',
      'customers are still named somewhere',
    ),
  ],
  events: ({ details }) => details.kept.map((certificate) => ({ event: 'certificate', ...certificate })),
  blocks: ({ report: { details }, isPlan = false }) => [
    ...section('Files that cannot be read', { parts: details.problems.map((text) => item(text)) }),
    ...describePruned(details, isPlan),
    ...section('Still in the data: remove by hand', {
      parts: details.kept.flatMap(({ tombstone, found }) =>
        found.flatMap(({ place, rows, why }) =>
          why === null ? [] : [item(`${tombstone}: ${place} (${rows}). ${why}`)],
        ),
      ),
    }),
  ],
};

function describePruned({ pruned }: DeleteDataReport['details'], isPlan: boolean): readonly Block[] {
  const gone = pruned.tables.filter(({ rows }) => rows > 0);
  if (gone.length === 0) return [{ kind: 'text', text: 'No data is older than retention allows.' }];
  return section(isPlan ? 'A run would delete' : 'Deleted because of its age', {
    parts: gone.map(({ table, rows, bytes, days }) =>
      item(`${table}: ${plural(rows, 'row')}, ${formatBytes(bytes)}, older than ${plural(days, 'day')}`),
    ),
  });
}
