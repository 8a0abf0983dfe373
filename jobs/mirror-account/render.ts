import type { RecordCounts } from '../../src/mirror/publish-records.ts';
import { wrap } from '../../src/model/text/wrap.ts';
import type { ReportRenderer, RunSummary } from '../../src/present/report-renderer.ts';
import { renderItem, renderSection, renderSums } from '../../src/present/sections.ts';
import { renderTable } from '../../src/present/table.ts';
import type { Terminal } from '../../src/present/terminal.ts';
import { clause, formatCount, formatInstant, plural } from '../../src/present/text.ts';
import type { Drift, MirrorReport, Unread } from './report.ts';

type Summary = RunSummary<MirrorReport>;

/** What a run of `mirror-account` changed, how complete the mirror is, and where its answers differ from earlier ones. */
export const renderMirror: ReportRenderer<MirrorReport> = {
  did: ({ deals }) =>
    `${formatCount(deals.asked)} read, ${formatCount(deals.new + deals.changed)} new or changed`,
  attention: ({ counts, details }) =>
    [
      clause(counts.deals.failed, 'deal could not be read', 'deals could not be read'),
      clause(counts.unreadable, 'answer could not be read', 'answers could not be read'),
      clause(details.problems.length, 'list is incomplete', 'lists are incomplete'),
      clause(counts.drift, 'field changed at the service', 'fields changed at the service'),
    ].flat(),
  events: ({ details }) => details.drift.map((drift) => ({ event: 'drift', ...drift })),
  sections: (summary, terminal) => [
    renderPlan(summary, terminal),
    renderChanges(summary, terminal),
    renderCoverage(summary, terminal),
    renderProblems(summary, terminal),
    renderUnread('Deals that could not be read', summary.report.details.failing, terminal),
    renderUnread('Answers that could not be read', summary.report.details.unreadable, terminal),
    renderDrift(summary, terminal),
    renderDealSums(summary, terminal),
  ],
};

function renderPlan({ report: { details, counts } }: Summary, terminal: Terminal): string {
  const { plan } = details;
  if (plan === null) return '';
  const due = Object.values(plan.dueByWay).reduce((sum, deals) => sum + deals, 0);
  const ways = Object.entries(plan.dueByWay).map(([way, deals]) => `${wordFor(way)} ${formatCount(deals)}`);
  const asks = Math.min(plan.handles + plan.prefixes, plan.autocompleteBudget);
  const lines = [
    `  ${formatCount(2).padStart(9)}  listings: brands, dealflows`,
    `  ${formatCount(plan.handles).padStart(9)}  handles without a known deal`,
    `  ${formatCount(plan.prefixes).padStart(9)}  prefixes of handles, and more if an answer is cut off`,
    `  ${formatCount(due).padStart(9)}  deals that are due${ways.length === 0 ? '' : `: ${ways.join(', ')}`}`,
  ];
  const budget =
    `At most ${plural(plan.budget, 'request')} (budget), ${formatCount(plan.autocompleteBudget)} of them to search for deals. ${
      2 + asks + due > plan.budget
        ? 'The rest waits for the next run; deals read longest ago come first.'
        : ''
    }`.trim();
  return [
    `${terminal.style('bold', 'A run would request')}, of ${plural(counts.deals_known, 'deal')} that ${counts.deals_known === 1 ? 'is' : 'are'} known:`,
    ...lines,
    wrap(budget, { width: terminal.columns, indent: '  ' }),
  ].join('\n');
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

function renderChanges({ report: { counts, details } }: Summary, terminal: Terminal): string {
  if (details.plan !== null) return '';
  const asked = `Sent ${plural(counts.requests, 'request')}, discovered ${plural(counts.deals_discovered, 'new deal')}.`;
  if (!counts.published) {
    const staged = `Nothing was published: ${plural(details.staged, 'record')} read so far wait for the next run and are not read again.`;
    return wrap(`${asked} ${staged}`, { width: terminal.columns, indent: '' });
  }
  const rows = KINDS.map(([label, kind]) => [label, ...cells(counts[kind])]);
  return `${asked}\n${renderTable(CHANGE_COLUMNS, rows, { terminal, indent: '  ' })}`;
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
  task: 'tasks',
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

function renderCoverage({ report: { details } }: Summary, terminal: Terminal): string {
  const all = details.coverage[0];
  if (all === undefined) return '';
  const rows = details.coverage.map((way) => [
    wordFor(way.way),
    ...[way.known, way.alsoKnown, way.fresh, way.stale, way.unread, way.failing, way.deleted].map(
      formatCount,
    ),
    way.oldestReadAt === null ? '' : formatInstant(way.oldestReadAt).slice(5, 16),
  ]);
  const note =
    'The service has no list of deals. This table shows the deals discovered so far; others may exist.';
  return renderSection(
    {
      title: 'Coverage',
      count: all.known,
      note: 'deals by how they were first discovered',
      lines: [
        renderTable(COVERAGE_COLUMNS, rows, { terminal, indent: '  ' }),
        terminal.style('dim', wrap(note, { width: terminal.columns, indent: '  ' })),
        ...(details.waiting > 0 ? [`  ${plural(details.waiting, 'deal')} to read in the next run.`] : []),
      ],
    },
    terminal,
  );
}

function renderProblems({ report: { details } }: Summary, terminal: Terminal): string {
  if (details.problems.length === 0) return '';
  const lines = details.problems.map((problem) => renderItem(problem, terminal));
  return renderSection({ title: 'Read only in part', count: lines.length, lines }, terminal);
}

function renderUnread(title: string, unread: readonly Unread[], terminal: Terminal): string {
  if (unread.length === 0) return '';
  const count = unread.reduce((sum, { records }) => sum + records, 0);
  const lines = unread.map(({ records, reason, recordKind }) =>
    renderItem(`${formatCount(records)} × ${recordKind}: ${reason}`, terminal),
  );
  return renderSection({ title, count, lines }, terminal);
}

function renderDrift({ report: { counts, details } }: Summary, terminal: Terminal): string {
  if (details.drift.length === 0) return '';
  return renderSection(
    {
      title: 'Drift',
      count: counts.drift,
      note: 'the answers of the service changed',
      lines: details.drift.map((drift) => renderItem(describe(drift), terminal)),
      shown: details.drift.length,
      help: '`raw` has the complete records; a column whose value does not fit is empty. Table: mirror.drift.',
    },
    terminal,
  );
}

function describe({ recordKind, field, kind, expected, found, records, sampleId }: Drift): string {
  const where = `${recordKind}.${field}`;
  const of = `in ${plural(records, 'record')}${sampleId === null ? '' : `, for example ${sampleId}`}`;
  if (kind === 'vanished') return `${where} has vanished, ${of}`;
  if (kind === 'missing') return `${where} is missing, ${of}`;
  if (kind === 'type_changed') return `${where} was ${expected} and is ${found}, ${of}`;
  return `${where} should be ${expected} and is ${found}, ${of}`;
}

function renderDealSums({ report: { counts, details, sumsAddUp } }: Summary, terminal: Terminal): string {
  if (!counts.published || details.plan !== null) return '';
  const { deals } = counts;
  const equation = `${plural(deals.asked, 'deal')} requested = ${formatCount(deals.new)} new + ${formatCount(deals.changed)} changed + ${formatCount(deals.unchanged)} unchanged + ${formatCount(deals.gone)} gone + ${formatCount(deals.failed)} not read`;
  const otherwise = ', or the rows of the coverage do not add up to all deals. Please report this.';
  return renderSums({ equation, sumsAddUp, otherwise }, terminal);
}
