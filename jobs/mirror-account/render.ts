import type { RecordCounts } from '../../src/mirror/publish-records.ts';
import { wrap } from '../../src/model/text/wrap.ts';
import type { ReportRenderer, RunSummary } from '../../src/present/report-renderer.ts';
import type { Screen } from '../../src/present/screen.ts';
import { heading, renderSums } from '../../src/present/sections.ts';
import { renderTable } from '../../src/present/table.ts';
import { formatCount, formatInstant, plural } from '../../src/present/text.ts';
import type { Drift, MirrorReport, Unread } from './report.ts';

type Summary = RunSummary<MirrorReport>;

/** What a run of `mirror-account` changed, how complete the mirror is, and what the service sends otherwise than before. */
export const renderMirror: ReportRenderer<MirrorReport> = {
  did: ({ deals }) =>
    `${formatCount(deals.asked)} read, ${formatCount(deals.new + deals.changed)} new or changed`,
  events: ({ details }) => details.drift.map((drift) => ({ event: 'drift', ...drift })),
  sections: (summary, screen) => [
    renderPlan(summary, screen),
    renderChanges(summary, screen),
    renderCoverage(summary, screen),
    renderProblems(summary, screen),
    renderUnread('Deals that could not be read', summary.report.details.failing, screen),
    renderUnread('Answers that could not be read', summary.report.details.unreadable, screen),
    renderDrift(summary, screen),
    renderDealSums(summary, screen),
  ],
};

function renderPlan({ report: { details, counts } }: Summary, screen: Screen): string {
  const { plan } = details;
  if (plan === null) return '';
  const due = Object.values(plan.dueByWay).reduce((sum, deals) => sum + deals, 0);
  const ways = Object.entries(plan.dueByWay).map(([way, deals]) => `${wordFor(way)} ${formatCount(deals)}`);
  const asks = Math.min(plan.handles + plan.prefixes, plan.autocompleteBudget);
  const lines = [
    `  ${formatCount(2).padStart(9)}  listings: brands, dealflows`,
    `  ${formatCount(plan.handles).padStart(9)}  handles whose deals are not known`,
    `  ${formatCount(plan.prefixes).padStart(9)}  beginnings of handles, and more where an answer is cut off`,
    `  ${formatCount(due).padStart(9)}  deals that are due${ways.length === 0 ? '' : `: ${ways.join(', ')}`}`,
  ];
  const budget =
    `At most ${plural(plan.budget, 'request')} (budget), ${formatCount(plan.autocompleteBudget)} of them to look for deals. ${
      2 + asks + due > plan.budget
        ? 'What does not fit waits for the next run, deals read longest ago come first.'
        : ''
    }`.trim();
  return [
    `${screen.style('bold', 'A run would ask for')}, of ${plural(counts.deals_known, 'deal')} that ${counts.deals_known === 1 ? 'is' : 'are'} known:`,
    ...lines,
    wrap(budget, { width: screen.columns, indent: '  ' }),
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

function renderChanges({ report: { counts, details } }: Summary, screen: Screen): string {
  if (details.plan !== null) return '';
  const asked = `Asked ${plural(counts.requests, 'time')}, met ${plural(counts.deals_met, 'new deal')}.`;
  if (!counts.published) {
    const staged = `Nothing was published: what was read (${plural(details.staged, 'record')}) waits for the next run and is not read again.`;
    return wrap(`${asked} ${staged}`, { width: screen.columns, indent: '' });
  }
  const rows = KINDS.map(([label, kind]) => [label, ...cells(counts[kind])]);
  return `${asked}\n${renderTable(CHANGE_COLUMNS, rows, { screen, indent: '  ' })}`;
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
  { title: 'by', cutAt: 'never' },
  { title: 'known', align: 'right' },
  { title: 'also', align: 'right' },
  { title: 'fresh', align: 'right' },
  { title: 'stale', align: 'right' },
  { title: 'unread', align: 'right' },
  { title: 'failing', align: 'right' },
  { title: 'gone', align: 'right' },
  { title: 'oldest', cutAt: 'never' },
] as const;

function renderCoverage({ report: { details } }: Summary, screen: Screen): string {
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
    'The service lists no deals: these are those that were met. That one is not here never means that it does not exist.';
  return [
    heading('Coverage', all.known, 'deals by the way they were met first', screen),
    renderTable(COVERAGE_COLUMNS, rows, { screen, indent: '  ' }),
    screen.style('dim', wrap(note, { width: screen.columns, indent: '  ' })),
    ...(details.waiting > 0 ? [`  ${plural(details.waiting, 'deal')} to read in the next run.`] : []),
  ].join('\n');
}

function renderProblems({ report: { details } }: Summary, screen: Screen): string {
  if (details.problems.length === 0) return '';
  return [
    heading('Read in part', details.problems.length, '', screen),
    ...details.problems.map((problem) =>
      wrap(problem, { width: screen.columns, indent: '    ', firstIndent: '  ' }),
    ),
  ].join('\n');
}

function renderUnread(title: string, unread: readonly Unread[], screen: Screen): string {
  if (unread.length === 0) return '';
  const total = unread.reduce((sum, { records }) => sum + records, 0);
  const lines = unread.map(({ records, reason, recordKind }) =>
    wrap(`${formatCount(records)} × ${recordKind}: ${reason}`, {
      width: screen.columns,
      indent: '    ',
      firstIndent: '  ',
    }),
  );
  return [heading(title, total, '', screen), ...lines].join('\n');
}

function renderDrift({ report: { counts, details } }: Summary, screen: Screen): string {
  if (details.drift.length === 0) return '';
  const more = counts.drift - details.drift.length;
  const note =
    'The records are kept whole, in raw; a column that could not be filled is empty. Table: mirror.drift.';
  return [
    heading('Drift', counts.drift, 'the service sends something otherwise than before', screen),
    ...details.drift.map((drift) =>
      wrap(describe(drift), { width: screen.columns, indent: '    ', firstIndent: '  ' }),
    ),
    ...(more > 0 ? [`  and ${formatCount(more)} more`] : []),
    screen.style('cyan', wrap(note, { width: screen.columns, indent: '  ' })),
  ].join('\n');
}

function describe({ recordKind, field, kind, expected, found, records, sampleId }: Drift): string {
  const where = `${recordKind}.${field}`;
  const of = `in ${plural(records, 'record')}${sampleId === null ? '' : `, for example ${sampleId}`}`;
  if (kind === 'vanished') return `${where} has vanished, ${of}`;
  if (kind === 'missing') return `${where} is missing, ${of}`;
  if (kind === 'type_changed') return `${where} was ${expected} and is ${found}, ${of}`;
  return `${where} should be ${expected} and is ${found}, ${of}`;
}

function renderDealSums({ report: { counts, details, sumsAddUp } }: Summary, screen: Screen): string {
  if (!counts.published || details.plan !== null) return '';
  const { deals } = counts;
  const equation = `${plural(deals.asked, 'deal')} asked for = ${formatCount(deals.new)} new + ${formatCount(deals.changed)} changed + ${formatCount(deals.unchanged)} unchanged + ${formatCount(deals.gone)} gone + ${formatCount(deals.failed)} not read`;
  const otherwise = ', or the ways do not add up to all deals. Please report this.';
  return renderSums({ equation, sumsAddUp, otherwise }, screen);
}
