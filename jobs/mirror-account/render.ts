import { formatInstant } from '../../src/core/text/format-instant.ts';
import { type Block, column, item, number, section, table, whole } from '../../src/render/block.ts';
import type { ReportRenderer, RunSummary } from '../../src/render/report-renderer.ts';
import { clause, formatCount, plural } from '../../src/render/text.ts';
import { sayWay } from '../../src/reports/list-deals.ts';
import type { Drift, MirrorReport, Unread } from './report.ts';

type Summary = RunSummary<MirrorReport>;

/**
 * Renders what a run of `mirror-account` changed, how complete the mirror is, and how answers differ from
 * earlier ones.
 */
export const renderMirror: ReportRenderer<MirrorReport> = {
  did: ({ deals }) =>
    `${formatCount(deals.asked)} read, ${formatCount(deals.new + deals.changed)} new or changed`,
  // Deals that an unpublished run has read are counted by the run that publishes them.
  tally: ({ published, deals }) =>
    published
      ? {
          kind: 'counts',
          count: deals.asked,
          whole: `${plural(deals.asked, 'deal')} requested`,
          meaning: '',
          // A table shows them beside the other kinds of records.
          lines: [],
          parts: [
            ['new', deals.new],
            ['changed', deals.changed],
            ['unchanged', deals.unchanged],
            ['gone', deals.gone],
            ['not read', deals.failed],
          ],
        }
      : null,
  attention: ({ counts, details }) => [
    ...clause(counts.deals_failing, 'deal could not be read', 'deals could not be read'),
    ...clause(counts.unreadable, 'answer could not be read', 'answers could not be read'),
    ...clause(details.problems.length, 'list or search is incomplete', 'lists or searches are incomplete'),
    ...clause(counts.drift, 'field changed at the service', 'fields changed at the service'),
  ],
  events: ({ details }) => details.drift.map((drift) => ({ event: 'drift', ...drift })),
  blocks: (summary) => {
    const { counts, details } = summary.report;
    return [
      ...describePlan(summary),
      ...describeChanges(summary),
      ...describeCoverage(summary),
      ...section('Read only in part', {
        count: details.problems.length,
        parts: details.problems.map((text) => item(text)),
      }),
      ...describeUnread('Deals that could not be read', details.failing),
      ...describeUnread('Answers that could not be read', details.unreadable),
      ...section('Drift', {
        of: counts.drift,
        note: 'the answers of the service have changed',
        parts: details.drift.map((drift) => item(describe(drift))),
        help: '`raw` has the complete records; a column whose value does not fit is empty. Table: mirror.drift.',
      }),
    ];
  },
};

function describePlan({ report: { details, counts } }: Summary): readonly Block[] {
  const { plan } = details;
  if (plan === null) return [];
  const due = Object.values(plan.dueByWay).reduce((sum, deals) => sum + deals, 0);
  const ways = Object.entries(plan.dueByWay).map(([way, deals]) => `${sayWay(way)} ${formatCount(deals)}`);
  const asks = Math.min(plan.handles + plan.prefixes, plan.autocompleteBudget);
  const rows = [
    [2, 'listings: brands, dealflows'],
    [plan.handles, 'handles without a known deal'],
    [plan.prefixes, 'prefixes of handles, and more if an answer is cut off'],
    [due, `deals that are due${ways.length === 0 ? '' : `: ${ways.join(', ')}`}`],
  ] as const;
  const rest =
    2 + asks + due > plan.budget
      ? ' The rest waits for the next run; deals read longest ago come first.'
      : '';
  const budget = `At most ${plural(plan.budget, 'request')} (budget), ${formatCount(plan.autocompleteBudget)} of them to search for deals.${rest}`;
  const known = `${plural(counts.deals_known, 'deal')} that ${counts.deals_known === 1 ? 'is' : 'are'} known`;
  return section(`A run would request, of ${known}`, {
    parts: [
      // Lines that begin with blanks are not wrapped, so that the numbers align.
      ...rows.map(([count, what]) => item(`  ${formatCount(count).padStart(7)}  ${what}`)),
      { kind: 'aside', text: budget },
    ],
  });
}

const KINDS = ['brands', 'dealflows', 'deals', 'collaborations'] as const;

function describeChanges({ report: { counts, details } }: Summary): readonly Block[] {
  if (details.plan !== null) return [];
  const asked = `Sent ${plural(counts.requests, 'request')}, discovered ${plural(counts.deals_discovered, 'new deal')}.`;
  if (!counts.published) {
    const staged = `Nothing was published: ${plural(details.staged, 'record that was read waits', 'records that were read wait')} for the next run, which does not read ${details.staged === 1 ? 'it' : 'them'} again.`;
    return [{ kind: 'text', text: `${asked} ${staged}` }];
  }
  const changes = table(KINDS, [
    column('', (kind) => kind),
    ...(['new', 'changed', 'unchanged', 'gone'] as const).map((change) =>
      number(change, (kind: (typeof KINDS)[number]) => formatCount(counts[kind][change])),
    ),
  ]);
  return [{ kind: 'text', text: asked, parts: [changes] }];
}

function describeCoverage({ report: { details } }: Summary): readonly Block[] {
  const all = details.coverage[0];
  if (all === undefined) return [];
  const toRead = `${plural(details.waiting, 'deal')} to read in the next run.`;
  return section('Coverage', {
    count: all.known,
    note: 'deals by how they were first discovered',
    parts: [
      table(details.coverage, [
        whole('through', ({ way }) => sayWay(way)),
        number('known', ({ known }) => formatCount(known)),
        number('also', ({ alsoKnown }) => formatCount(alsoKnown)),
        number('fresh', ({ fresh }) => formatCount(fresh)),
        number('stale', ({ stale }) => formatCount(stale)),
        number('unread', ({ unread }) => formatCount(unread)),
        number('failing', ({ failing }) => formatCount(failing)),
        number('gone', ({ deleted }) => formatCount(deleted)),
        whole('oldest', ({ oldestReadAt: at }) => (at === null ? null : formatInstant(at).slice(5, 16))),
      ]),
      {
        kind: 'aside',
        text: 'The service has no list of deals. This table shows the deals discovered so far; others may exist.',
      },
      ...(details.waiting > 0 ? [item(toRead)] : []),
    ],
  });
}

function describeUnread(title: string, unread: readonly Unread[]): readonly Block[] {
  return section(title, {
    count: unread.reduce((sum, { records }) => sum + records, 0),
    parts: unread.map(({ records, reason, recordKind }) =>
      item(`${formatCount(records)} × ${recordKind}: ${reason}`),
    ),
  });
}

function describe({ recordKind, field, kind, expected, found, records, sampleId }: Drift): string {
  const where = `${recordKind}.${field}`;
  const of = `in ${plural(records, 'record')}${sampleId === null ? '' : `, for example ${sampleId}`}`;
  if (kind === 'vanished') return `${where} has vanished, ${of}`;
  if (kind === 'missing') return `${where} is missing, ${of}`;
  return `${where} ${kind === 'type_changed' ? 'was' : 'should be'} ${expected} and is ${found}, ${of}`;
}
