import { formatInstant } from '../../src/core/text/format-instant.ts';
import type { RecordCounts } from '../../src/mirror/publish-records.ts';
import type { Block, Sum } from '../../src/render/block.ts';
import { describeSums } from '../../src/render/render-blocks.ts';
import type { ReportRenderer, RunSummary } from '../../src/render/report-renderer.ts';
import { clause, formatCount, plural } from '../../src/render/text.ts';
import type { Drift, MirrorCounts, MirrorReport, Unread } from './report.ts';

type Summary = RunSummary<MirrorReport>;

/**
 * Renders what a run of `mirror-account` changed, how complete the mirror is, and how answers differ from
 * earlier ones.
 */
export const renderMirror: ReportRenderer<MirrorReport> = {
  did: ({ deals }) =>
    `${formatCount(deals.asked)} read, ${formatCount(deals.new + deals.changed)} new or changed`,
  sum: sumOfDeals,
  attention: ({ counts, details }) =>
    [
      clause(counts.deals_failing, 'deal could not be read', 'deals could not be read'),
      clause(counts.unreadable, 'answer could not be read', 'answers could not be read'),
      clause(details.problems.length, 'list or search is incomplete', 'lists or searches are incomplete'),
      clause(counts.drift, 'field changed at the service', 'fields changed at the service'),
    ].flat(),
  events: ({ details }) => details.drift.map((drift) => ({ event: 'drift', ...drift })),
  blocks: (summary) => [
    ...describePlan(summary),
    ...describeChanges(summary),
    ...describeCoverage(summary),
    ...describeProblems(summary),
    ...describeUnread('Deals that could not be read', summary.report.details.failing),
    ...describeUnread('Answers that could not be read', summary.report.details.unreadable),
    ...describeDrift(summary),
    ...describeDealSums(summary),
  ],
};

function describePlan({ report: { details, counts } }: Summary): readonly Block[] {
  const { plan } = details;
  if (plan === null) return [];
  const due = Object.values(plan.dueByWay).reduce((sum, deals) => sum + deals, 0);
  const ways = Object.entries(plan.dueByWay).map(([way, deals]) => `${wordFor(way)} ${formatCount(deals)}`);
  const asks = Math.min(plan.handles + plan.prefixes, plan.autocompleteBudget);
  const rows = [
    [2, 'listings: brands, dealflows'],
    [plan.handles, 'handles without a known deal'],
    [plan.prefixes, 'prefixes of handles, and more if an answer is cut off'],
    [due, `deals that are due${ways.length === 0 ? '' : `: ${ways.join(', ')}`}`],
  ] as const;
  const parts = rows.map(
    // Lines that begin with blanks are not wrapped, so that the numbers align.
    ([count, what]) => ({ kind: 'item', text: `  ${formatCount(count).padStart(7)}  ${what}` }) as const,
  );
  const budget =
    `At most ${plural(plan.budget, 'request')} (budget), ${formatCount(plan.autocompleteBudget)} of them to search for deals. ${
      2 + asks + due > plan.budget
        ? 'The rest waits for the next run; deals read longest ago come first.'
        : ''
    }`.trim();
  const known = `${plural(counts.deals_known, 'deal')} that ${counts.deals_known === 1 ? 'is' : 'are'} known`;
  return [
    {
      kind: 'section',
      title: `A run would request, of ${known}`,
      parts: [...parts, { kind: 'aside', text: budget }],
    },
  ];
}

const KINDS = [
  ['brands', 'brands'],
  ['dealflows', 'dealflows'],
  ['deals', 'deals'],
  ['collaborations', 'collaborations'],
] as const;

const CHANGE_COLUMNS = [
  { title: '' },
  { title: 'new', align: 'right' },
  { title: 'changed', align: 'right' },
  { title: 'unchanged', align: 'right' },
  { title: 'gone', align: 'right' },
] as const;

function describeChanges({ report: { counts, details } }: Summary): readonly Block[] {
  if (details.plan !== null) return [];
  const asked = `Sent ${plural(counts.requests, 'request')}, discovered ${plural(counts.deals_discovered, 'new deal')}.`;
  if (!counts.published) {
    const staged = `Nothing was published: ${plural(details.staged, 'record that was read waits', 'records that were read wait')} for the next run, which does not read ${details.staged === 1 ? 'it' : 'them'} again.`;
    return [{ kind: 'text', text: `${asked} ${staged}` }];
  }
  const rows = KINDS.map(([label, kind]) => [label, ...cells(counts[kind])]);
  return [{ kind: 'text', text: asked, parts: [{ kind: 'table', columns: CHANGE_COLUMNS, rows }] }];
}

function cells(counts: RecordCounts): readonly string[] {
  return [counts.new, counts.changed, counts.unchanged, counts.gone].map(formatCount);
}

const WAYS: Readonly<Record<string, string>> = {
  all: 'all',
  referral: 'orders',
  click: 'clicks',
  create_deal: 'created',
  note: 'notes',
  event: 'events',
  codes: 'codes.csv',
  order: 'exports',
  handle: 'handles',
  autocomplete: 'autocomplete',
  deal: 'other deals',
};

function wordFor(way: string): string {
  return WAYS[way] ?? way;
}

const COVERAGE_COLUMNS = [
  { title: 'through', cutAt: 'never' },
  { title: 'known', align: 'right' },
  { title: 'also', align: 'right' },
  { title: 'fresh', align: 'right' },
  { title: 'stale', align: 'right' },
  { title: 'unread', align: 'right' },
  { title: 'failing', align: 'right' },
  { title: 'gone', align: 'right' },
  { title: 'oldest', cutAt: 'never' },
] as const;

function describeCoverage({ report: { details } }: Summary): readonly Block[] {
  const all = details.coverage[0];
  if (all === undefined) return [];
  const rows = details.coverage.map((way) => [
    wordFor(way.way),
    ...[way.known, way.alsoKnown, way.fresh, way.stale, way.unread, way.failing, way.deleted].map(
      formatCount,
    ),
    way.oldestReadAt === null ? '' : formatInstant(way.oldestReadAt).slice(5, 16),
  ]);
  const note =
    'The service has no list of deals. This table shows the deals discovered so far; others may exist.';
  return [
    {
      kind: 'section',
      title: 'Coverage',
      count: all.known,
      note: 'deals by how they were first discovered',
      parts: [
        { kind: 'table', columns: COVERAGE_COLUMNS, rows },
        { kind: 'aside', text: note },
        ...(details.waiting > 0
          ? [{ kind: 'item', text: `${plural(details.waiting, 'deal')} to read in the next run.` } as const]
          : []),
      ],
    },
  ];
}

function describeProblems({ report: { details } }: Summary): readonly Block[] {
  if (details.problems.length === 0) return [];
  const parts = details.problems.map((text) => ({ kind: 'item', text }) as const);
  return [{ kind: 'section', title: 'Read only in part', count: parts.length, parts }];
}

function describeUnread(title: string, unread: readonly Unread[]): readonly Block[] {
  if (unread.length === 0) return [];
  const count = unread.reduce((sum, { records }) => sum + records, 0);
  const parts = unread.map(
    ({ records, reason, recordKind }) =>
      ({ kind: 'item', text: `${formatCount(records)} × ${recordKind}: ${reason}` }) as const,
  );
  return [{ kind: 'section', title, count, parts }];
}

function describeDrift({ report: { counts, details } }: Summary): readonly Block[] {
  if (details.drift.length === 0) return [];
  return [
    {
      kind: 'section',
      title: 'Drift',
      count: counts.drift,
      note: 'the answers of the service have changed',
      parts: details.drift.map((drift) => ({ kind: 'item', text: describe(drift) }) as const),
      shown: details.drift.length,
      help: '`raw` has the complete records; a column whose value does not fit is empty. Table: mirror.drift.',
    },
  ];
}

function describe({ recordKind, field, kind, expected, found, records, sampleId }: Drift): string {
  const where = `${recordKind}.${field}`;
  const of = `in ${plural(records, 'record')}${sampleId === null ? '' : `, for example ${sampleId}`}`;
  if (kind === 'vanished') return `${where} has vanished, ${of}`;
  if (kind === 'missing') return `${where} is missing, ${of}`;
  if (kind === 'type_changed') return `${where} was ${expected} and is ${found}, ${of}`;
  return `${where} should be ${expected} and is ${found}, ${of}`;
}

function describeDealSums({ report: { counts, details, sumsAddUp } }: Summary): readonly Block[] {
  const sum = sumOfDeals(counts);
  if (sum === null || details.plan !== null) return [];
  const parts = sum.parts.map(([count, words]) => `${formatCount(count)} ${words}`);
  const equation = `${sum.whole} = ${parts.join(' + ')}`;
  const otherwise = ', or the rows of the coverage do not add up to all deals. Please report this.';
  return describeSums({ equation, sumsAddUp, otherwise });
}

/** Deals that an unpublished run has read are counted by the run that publishes them. */
function sumOfDeals({ published, deals }: MirrorCounts): Sum | null {
  if (!published) return null;
  return {
    count: deals.asked,
    whole: `${plural(deals.asked, 'deal')} requested`,
    parts: [
      [deals.new, 'new'],
      [deals.changed, 'changed'],
      [deals.unchanged, 'unchanged'],
      [deals.gone, 'gone'],
      [deals.failed, 'not read'],
    ],
  };
}
