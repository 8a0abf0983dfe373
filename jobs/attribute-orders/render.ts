import { formatAmounts, formatMoney } from '../../src/model/money.ts';
import { attentionToCodes, codeProblemEvents, renderCodeProblems } from '../../src/present/code-problems.ts';
import { renderDoubleCredits, renderDoubtSection } from '../../src/present/doubts.ts';
import {
  attentionToFiles,
  renderHeldFiles,
  renderRead,
  renderRejectedRows,
} from '../../src/present/read-files.ts';
import type { ReportRenderer, RunSummary } from '../../src/present/report-renderer.ts';
import {
  type CountLine,
  formatReasons,
  formatSum,
  renderCounts,
  renderRefusals,
  renderSection,
  renderSums,
} from '../../src/present/sections.ts';
import { renderTable } from '../../src/present/table.ts';
import type { Terminal } from '../../src/present/terminal.ts';
import { clause, formatCount, plural } from '../../src/present/text.ts';
import type { Disposition, DispositionGroup } from './read-dispositions.ts';
import type { OrderDetails, OrdersReport } from './report.ts';

type Summary = RunSummary<OrdersReport>;

/** What a run of `attribute-orders` did, where every order stands, and what each number means. */
export const renderOrders: ReportRenderer<OrdersReport> = {
  did: ({ entries }) => `${formatCount(entries.accepted)} posted`,
  attention: (report) => {
    const { rejected, held } = report.counts.entries;
    return [
      ...attentionToFiles(report),
      ...attentionToCodes(report.details.codeProblems),
      ...clause(rejected + held + report.doubts, 'order needs your attention', 'orders need your attention'),
    ];
  },
  events: ({ details }) => codeProblemEvents(details.codeProblems),
  sections: (summary, terminal) => {
    const { report, configOption } = summary;
    const { details } = report;
    return [
      renderRead(summary),
      renderDispositions(summary, terminal),
      renderHeldFiles(summary, { consequence: 'nothing in them was posted', terminal }),
      renderRejectedRows(summary, terminal),
      renderCodeProblems(details.codeProblems, terminal),
      renderUnownedCodes(report, terminal),
      renderHeldOrders(report, terminal),
      renderRefusals(refusalsOf(report), terminal),
      renderDoubtSection({ ...doubtsOf(report), configOption }, terminal),
      renderDoubleCredits(details.doubleCredits, { configOption, terminal }),
      renderAdjustments(report, terminal),
      renderOrderSums(summary, terminal),
    ];
  },
};

type Line = {
  readonly disposition: Disposition;
  readonly label: string;
  readonly note: (groups: readonly DispositionGroup[]) => string;
  readonly color?: 'green' | 'yellow' | 'red';
  readonly always?: boolean;
};

/** One line for each way in which an order can stand. */
const LINES: readonly Line[] = [
  { disposition: 'accepted', label: 'posted', note: formatAmounts, color: 'green', always: true },
  { disposition: 'already', label: 'already known', note: () => 'posted before this run', always: true },
  { disposition: 'ready', label: 'to be posted', note: toBePosted },
  { disposition: 'excluded', label: 'excluded', note: formatReasons },
  { disposition: 'unattributed', label: 'unattributed', note: formatReasons },
  { disposition: 'organic', label: 'organic', note: () => 'no code, link or handle' },
  { disposition: 'held', label: 'held', note: formatReasons, color: 'yellow' },
  { disposition: 'rejected', label: 'refused', note: () => 'by the service, see below', color: 'yellow' },
  {
    disposition: 'in_doubt',
    label: 'in doubt',
    note: (groups) => `${formatAmounts(groups)}, see below`,
    color: 'red',
    always: true,
  },
  { disposition: 'unaccounted', label: 'unaccounted', note: () => 'this must not happen', color: 'red' },
];

function renderDispositions(
  { report: { counts, details }, isPlan = false }: Summary,
  terminal: Terminal,
): string {
  const lines = LINES.map(({ disposition, label, note, ...look }): CountLine => {
    const groups = groupsAt(disposition, details);
    const shownLabel = isPlan && disposition === 'ready' ? 'would be posted' : label;
    return [shownLabel, sumOf(groups), { note: note(groups), ...look }];
  });
  return [
    `${terminal.style('bold', plural(counts.orders, 'order'))} of this job so far, each counted once:`,
    ...renderCounts(lines, { labelWidth: 16, total: counts.orders, terminal }),
  ].join('\n');
}

function groupsAt(disposition: Disposition, { dispositions }: OrderDetails): readonly DispositionGroup[] {
  return dispositions.filter((group) => group.disposition === disposition);
}

function sumOf(groups: readonly DispositionGroup[]): number {
  return groups.reduce((sum, { orders }) => sum + orders, 0);
}

/** What a backfill has taken waits for it, and for no run. */
function toBePosted(groups: readonly DispositionGroup[]): string {
  const taken = groups.filter(({ reason }) => reason === 'by_backfill');
  const count = sumOf(taken);
  const ofThem =
    count === 0 ? '' : `, ${formatCount(count)} of them by the backfill (${formatAmounts(taken)})`;
  return `${formatAmounts(groups)}${ofThem}`;
}

function renderUnownedCodes({ details }: OrdersReport, terminal: Terminal): string {
  if (details.unownedCodes.length === 0) return '';
  const rows = details.unownedCodes.map(({ code, orders, amount, currency }) => [
    code,
    formatCount(orders),
    formatMoney(amount, currency),
  ]);
  const columns = [
    { title: 'code' },
    { title: 'orders', align: 'right' },
    { title: 'revenue', align: 'right' },
  ] as const;
  return renderSection(
    {
      title: 'Codes that credited nobody',
      count: details.unownedCodesTotal,
      note: 'by revenue',
      lines: [renderTable(columns, rows, { terminal, indent: '  ' })],
      shown: rows.length,
      help: 'No influencer owned these codes on the order date, or the code belongs to another brand. Fix codes.csv; the next run retries these orders.',
    },
    terminal,
  );
}

function renderHeldOrders({ details }: OrdersReport, terminal: Terminal): string {
  const groups = groupsAt('held', details).filter(({ reason }) => reason === 'ambiguous_codes');
  if (groups.length === 0) return '';
  return renderSection(
    {
      title: 'Held for ambiguous codes',
      count: sumOf(groups),
      note: formatAmounts(groups),
      help: 'Each order carries codes of two deals, so the tool does not guess. Give the codes one owner in codes.csv, or end the validity of one of them; the next run decides again.',
    },
    terminal,
  );
}

function refusalsOf({ details }: OrdersReport) {
  const groups = groupsAt('rejected', details);
  return {
    count: sumOf(groups),
    items: groups.map(
      ({ reason, orders, amount, currency }) =>
        `${plural(orders, 'order')}, ${formatMoney(amount, currency)}: ${reason ?? 'no reason was given'}`,
    ),
    help: 'Fix what the message names, often a handle or deal in codes.csv. The next run sends the orders that changed.',
  };
}

function doubtsOf({ counts, details }: OrdersReport) {
  return {
    doubts: details.doubts,
    count: Math.max(counts.entries.in_doubt, details.doubts.length),
    note: formatAmounts(groupsAt('in_doubt', details)),
    why: 'The service may have credited these orders, but no answer says so.',
    todo: 'look up each order in the service, then settle it',
  };
}

function renderAdjustments({ details }: OrdersReport, terminal: Terminal): string {
  if (details.adjustments.length === 0) return '';
  return renderSection(
    {
      title: 'Changed after they were posted',
      count: details.adjustments.reduce((sum, { entries }) => sum + entries, 0),
      note: details.adjustments.map(({ kind, entries }) => `${kind} ${formatCount(entries)}`).join(', '),
      why: 'The service has no operation to correct an order, so nothing was sent. Each change is recorded as an adjustment.',
    },
    terminal,
  );
}

function renderOrderSums({ report: { counts, sumsAddUp }, isPlan }: Summary, terminal: Terminal): string {
  const excluded = Object.values(counts.excluded).reduce((sum, count) => sum + count, 0);
  const { accepted, already, ready, rejected, held, in_doubt: doubts } = counts.entries;
  const equation = formatSum(plural(counts.orders, 'order'), [
    [accepted, 'posted'],
    [already, 'already known'],
    [ready, isPlan === true ? 'would be posted' : 'to be posted'],
    [excluded, 'excluded'],
    [counts.unattributed, 'unattributed'],
    [counts.organic, 'organic'],
    [held, 'held'],
    [rejected, 'refused'],
    [doubts, 'in doubt'],
  ]);
  const otherwise = '. Please report this. Nothing is posted twice meanwhile.';
  return renderSums({ equation, sumsAddUp, otherwise }, terminal);
}
