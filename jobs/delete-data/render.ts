import type { Block, CountLine } from '../../src/render/block.ts';
import type { ReportRenderer } from '../../src/render/report-renderer.ts';
import { clause, formatBytes, plural } from '../../src/render/text.ts';
import type { DeleteDataReport } from './report.ts';

/** Renders what a run of `delete-data` removed. */
export const renderDeleted: ReportRenderer<DeleteDataReport> = {
  did: ({ forgotten, pruned_rows: rows }) =>
    `${plural(forgotten, 'customer')} forgotten, ${plural(rows, 'old row')} deleted`,
  sum: ({ requests, forgotten_before, forgotten, postponed, unreadable }) => ({
    count: requests,
    whole: plural(requests, 'request'),
    parts: [
      [forgotten_before, 'forgotten before'],
      [forgotten, 'forgotten'],
      [postponed, 'postponed'],
      [unreadable, 'unreadable'],
    ],
  }),
  attention: ({ counts, details }) =>
    [
      clause(counts.unreadable, 'request is not an address', 'requests are not addresses'),
      clause(details.problems.length, 'file of requests cannot be read', 'files of requests cannot be read'),
      clause(details.kept.length, 'customer is still named somewhere', 'customers are still named somewhere'),
    ].flat(),
  events: ({ details }) => details.kept.map((certificate) => ({ event: 'certificate', ...certificate })),
  blocks: ({ report, isPlan = false }) => [
    ...describeRequests(report, isPlan),
    ...describePruned(report, isPlan),
    ...describeKept(report),
  ],
};

function describeRequests({ counts, details }: DeleteDataReport, isPlan: boolean): readonly Block[] {
  if (counts.requests + details.problems.length === 0) return [];
  const lines: readonly CountLine[] = [
    [isPlan ? 'to be forgotten' : 'forgotten', counts.forgotten, { color: 'green', always: true }],
    ['forgotten before', counts.forgotten_before],
    [
      'postponed',
      counts.postponed,
      { note: 'a job reads or sends customers now; the next run forgets them' },
    ],
    ['unreadable', counts.unreadable, { note: 'not an e-mail address', color: 'yellow' }],
  ];
  const whole = plural(counts.requests, 'request');
  const parts = details.problems.map((text) => ({ kind: 'item', text }) as const);
  return [
    { kind: 'counts', whole, meaning: 'to forget a customer', lines, labelWidth: 18, total: counts.requests },
    ...(parts.length === 0 ? [] : [{ kind: 'section', title: 'Files that cannot be read', parts } as const]),
  ];
}

function describePruned({ details }: DeleteDataReport, isPlan: boolean): readonly Block[] {
  const gone = details.pruned.tables.filter(({ rows }) => rows > 0);
  if (gone.length === 0) return [{ kind: 'text', text: 'No data is older than retention allows.' }];
  const parts = gone.map(
    ({ table, rows, bytes, days }) =>
      ({
        kind: 'item',
        text: `${table}: ${plural(rows, 'row')}, ${formatBytes(bytes)}, older than ${plural(days, 'day')}`,
      }) as const,
  );
  return [{ kind: 'section', title: isPlan ? 'A run would delete' : 'Deleted because of its age', parts }];
}

function describeKept({ details }: DeleteDataReport): readonly Block[] {
  if (details.kept.length === 0) return [];
  const parts = details.kept.flatMap(({ tombstone, found }) =>
    found.flatMap(({ place, rows, why }) =>
      why === null ? [] : [{ kind: 'item', text: `${tombstone}: ${place} (${rows}). ${why}` } as const],
    ),
  );
  return [{ kind: 'section', title: 'Still in the data: remove by hand', parts }];
}
