import { formatAmounts, formatMoney } from '../../src/model/money.ts';
import { wrap } from '../../src/model/text/wrap.ts';
import { renderCodeProblems } from '../../src/present/code-problems.ts';
import { renderDoubleCredits, renderDoubtLine } from '../../src/present/doubts.ts';
import { renderHeldFiles, renderRead, renderRejectedRows } from '../../src/present/read-files.ts';
import type { ReportRenderer, RunSummary } from '../../src/present/report-renderer.ts';
import type { Screen } from '../../src/present/screen.ts';
import { formatReasons, formatSum, heading, renderSums } from '../../src/present/sections.ts';
import { renderTable } from '../../src/present/table.ts';
import { clause, formatCount, plural } from '../../src/present/text.ts';
import type { Standing, StandingGroup } from './read-standings.ts';
import type { OrdersReport } from './report.ts';

type Summary = RunSummary<OrdersReport>;

const COMMAND = 'npx influencer-sync';

/** What a run of `attribute-orders` did and where every order stands, so that nobody has to ask what a number means. */
export const renderOrders: ReportRenderer<OrdersReport> = {
  did: ({ entries }) => `${formatCount(entries.accepted)} posted`,
  attention: ({ counts, details, doubts }) => {
    const { rejected, held } = counts.entries;
    return [
      clause(counts.rejected_rows, 'row was rejected', 'rows were rejected'),
      clause(details.heldFiles.length, 'file is held', 'files are held'),
      clause(
        details.codeProblems.length,
        'row of codes.csv needs correction',
        'rows of codes.csv need correction',
      ),
      clause(rejected + held + doubts, 'order needs your attention', 'orders need your attention'),
    ].flat();
  },
  events: ({ details }) => details.codeProblems.map((problem) => ({ event: 'code_problem', ...problem })),
  sections: (summary, screen) => [
    renderRead({ ...summary.report.counts, duplicateFiles: summary.report.details.duplicateFiles }),
    renderStandings(summary, screen),
    renderHeldFiles(summary.report.details.heldFiles, 'nothing in them was posted', screen),
    renderRejectedRows(
      {
        rows: summary.report.details.rejectedRows,
        total: summary.report.counts.rejected_rows,
        runId: summary.finished.run_id,
        configOption: summary.configOption,
        isPlan: summary.isPlan,
      },
      screen,
    ),
    renderCodeProblems(summary.report.details.codeProblems, screen),
    renderUnownedCodes(summary, screen),
    renderHeldOrders(summary, screen),
    renderRefusals(summary, screen),
    renderDoubts(summary, screen),
    renderDoubleCredits(summary.report.details.doubleCredits, {
      configOption: summary.configOption ?? '',
      screen,
    }),
    renderAdjustments(summary, screen),
    renderOrderSums(summary, screen),
  ],
};

type Line = {
  readonly standing: Standing;
  readonly label: string;
  readonly note: (groups: readonly StandingGroup[]) => string;
};

/** One line for each way in which an order can stand. */
const LINES: readonly Line[] = [
  { standing: 'accepted', label: 'posted', note: formatAmounts },
  { standing: 'already', label: 'already known', note: () => 'posted before this run' },
  { standing: 'ready', label: 'to be posted', note: toBePosted },
  { standing: 'excluded', label: 'excluded', note: formatReasons },
  { standing: 'unattributed', label: 'unattributed', note: formatReasons },
  { standing: 'organic', label: 'organic', note: () => 'no code, link or handle' },
  { standing: 'held', label: 'held', note: formatReasons },
  { standing: 'rejected', label: 'refused', note: () => 'by the service, see below' },
  { standing: 'in_doubt', label: 'in doubt', note: (groups) => `${formatAmounts(groups)}, see below` },
  { standing: 'unaccounted', label: 'unaccounted', note: () => 'this must not happen' },
];

const ALWAYS_SHOWN: readonly Standing[] = ['accepted', 'already', 'in_doubt'];

function renderStandings({ report: { counts, details }, isPlan }: Summary, screen: Screen): string {
  const { orders } = counts;
  const countWidth = Math.max(formatCount(orders).length, 5);
  const lines = LINES.flatMap(({ standing, label, note }) => {
    const groups = details.standings.filter((group) => group.standing === standing);
    const count = groups.reduce((sum, group) => sum + group.orders, 0);
    if (count === 0 && !ALWAYS_SHOWN.includes(standing)) return [];
    const shownLabel = isPlan === true && standing === 'ready' ? 'would be posted' : label;
    const start = `  ${shownLabel.padEnd(16)}${formatCount(count).padStart(countWidth)}`;
    const text =
      count === 0
        ? start
        : wrap(note(groups), {
            width: screen.columns,
            firstIndent: `${start}  `,
            indent: ' '.repeat(start.length + 2),
          });
    return [count > 0 && COLORS[standing] !== undefined ? screen.style(COLORS[standing], text) : text];
  });
  return [
    `${screen.style('bold', plural(orders, 'order'))} of this job so far, each counted once:`,
    ...lines,
  ].join('\n');
}

/** What a backfill has taken waits for it, and for no run. */
function toBePosted(groups: readonly StandingGroup[]): string {
  const taken = groups.filter(({ reason }) => reason === 'by_backfill');
  const count = taken.reduce((sum, group) => sum + group.orders, 0);
  const ofThem =
    count === 0 ? '' : `, ${formatCount(count)} of them by the backfill (${formatAmounts(taken)})`;
  return `${formatAmounts(groups)}${ofThem}`;
}

const COLORS: Partial<Record<Standing, 'green' | 'yellow' | 'red'>> = {
  accepted: 'green',
  held: 'yellow',
  rejected: 'yellow',
  in_doubt: 'red',
  unaccounted: 'red',
};

function renderUnownedCodes({ report: { details } }: Summary, screen: Screen): string {
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
  const help =
    'No influencer owned these codes on the order date, or the code belongs to another brand. Fix codes.csv; the next run retries these orders.';
  const more = details.unownedCodesTotal - details.unownedCodes.length;
  return [
    heading('Codes that credited nobody', details.unownedCodesTotal, 'by revenue', screen),
    renderTable(columns, rows, { screen, indent: '  ' }),
    ...(more > 0 ? [`  and ${formatCount(more)} more`] : []),
    screen.style('cyan', wrap(help, { width: screen.columns, indent: '  ' })),
  ].join('\n');
}

function renderHeldOrders({ report: { details } }: Summary, screen: Screen): string {
  const groups = details.standings.filter(
    ({ standing, reason }) => standing === 'held' && reason === 'ambiguous_codes',
  );
  if (groups.length === 0) return '';
  const count = groups.reduce((sum, group) => sum + group.orders, 0);
  const help =
    'Each order carries codes of two deals, so the tool does not guess. Give the codes one owner in codes.csv, or end the validity of one of them; the next run decides again.';
  return [
    heading('Held for ambiguous codes', count, formatAmounts(groups), screen),
    screen.style('cyan', wrap(help, { width: screen.columns, indent: '  ' })),
  ].join('\n');
}

function renderRefusals({ report: { details } }: Summary, screen: Screen): string {
  const groups = details.standings.filter(({ standing }) => standing === 'rejected');
  if (groups.length === 0) return '';
  const lines = groups.map(({ reason, orders, amount, currency }) => {
    const text = `${plural(orders, 'order')}, ${formatMoney(amount, currency)}: ${reason ?? 'no reason was given'}`;
    return wrap(text, { width: screen.columns, indent: '    ', firstIndent: '  ' });
  });
  const count = groups.reduce((sum, group) => sum + group.orders, 0);
  const help =
    'Fix what the message names, often a handle or deal in codes.csv. The next run sends the orders that changed.';
  const fix = screen.style('cyan', wrap(help, { width: screen.columns, indent: '  ' }));
  return [heading('Refused by the service', count, '', screen), ...lines, fix].join('\n');
}

function renderDoubts({ report: { counts, details }, configOption = '' }: Summary, screen: Screen): string {
  if (details.doubts.length === 0) return '';
  const groups = details.standings.filter(({ standing }) => standing === 'in_doubt');
  const count = Math.max(counts.entries.in_doubt, details.doubts.length);
  const why =
    'The service may have credited these orders, but no answer says so. They are not sent again automatically.';
  return [
    heading('Doubts', count, groups.length === 0 ? '' : formatAmounts(groups), screen),
    wrap(why, { width: screen.columns, indent: '  ' }),
    ...details.doubts.map((doubt) => renderDoubtLine(doubt, screen)),
    screen.style('dim', '  # look up each order in the service, then settle it'),
    `  ${COMMAND} review${configOption}`,
  ].join('\n');
}

function renderAdjustments({ report: { details } }: Summary, screen: Screen): string {
  if (details.adjustments.length === 0) return '';
  const count = details.adjustments.reduce((sum, group) => sum + group.orders, 0);
  const kinds = details.adjustments.map(({ kind, orders }) => `${kind} ${formatCount(orders)}`).join(', ');
  const why =
    'The service has no operation to correct an order, so nothing was sent. Each change is recorded as an adjustment.';
  return [
    heading('Changed after they were posted', count, kinds, screen),
    wrap(why, { width: screen.columns, indent: '  ' }),
  ].join('\n');
}

function renderOrderSums({ report: { counts, sumsAddUp }, isPlan }: Summary, screen: Screen): string {
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
  return renderSums({ equation, sumsAddUp, otherwise }, screen);
}
