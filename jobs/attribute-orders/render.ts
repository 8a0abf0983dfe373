import { formatAmounts, formatMoney } from '../../src/core/money.ts';
import type { Bars, Block, CountLine, Sum } from '../../src/render/block.ts';
import { describeRefusals, describeSums, formatReasons, formatSum } from '../../src/render/render-blocks.ts';
import type { ReportRenderer, RunSummary } from '../../src/render/report-renderer.ts';
import { clause, formatCount, markLookAlikes, plural } from '../../src/render/text.ts';
import {
  attentionToCodes,
  codeProblemEvents,
  describeCodeProblems,
} from '../../src/reports/codes/code-problems.ts';
import { describeDoubleCredits, describeDoubts, doubtsListed } from '../../src/reports/doubts/doubts.ts';
import {
  attentionToFiles,
  describeHeldFiles,
  describeRead,
  describeRejectedRows,
  describeWarnings,
  warningEvents,
} from '../../src/reports/files/read-files.ts';
import { describeHeldOrders } from '../../src/reports/held/describe-held-orders.ts';
import { formatAtLeast } from '../../src/reports/money/at-least.ts';
import { describeLeaks } from '../../src/reports/money/leaks.ts';
import type { Disposition, DispositionGroup } from './read-dispositions.ts';
import type { OrderCounts, OrderDetails, OrdersReport } from './report.ts';

type Summary = RunSummary<OrdersReport>;

/**
 * Renders what a run of `attribute-orders` did, the disposition of every order, and what each number means.
 */
export const renderOrders: ReportRenderer<OrdersReport> = {
  did: ({ entries }) => `${formatCount(entries.accepted)} posted`,
  sum: sumOfOrders,
  attention: (report) => {
    const { rejected, held } = report.counts.entries;
    return [
      ...attentionToFiles(report),
      ...attentionToCodes(report.details.codeProblems),
      ...clause(rejected + held + report.doubts, 'order needs your attention', 'orders need your attention'),
    ];
  },
  events: (report) => [...codeProblemEvents(report.details.codeProblems), ...warningEvents(report)],
  blocks: (summary) => {
    const { report } = summary;
    const { details } = report;
    return [
      describeRead(summary),
      ...describeDispositions(summary),
      ...describeCredits(report),
      ...describeHeldFiles(summary, 'nothing in them was posted'),
      ...describeWarnings(summary),
      ...describeRejectedRows(summary),
      ...describeCodeProblems(details.codeProblems),
      ...describeUnownedCodes(report),
      ...describeHeldOrders({ groups: details.heldOrders }),
      ...(details.leaks.length === 0 ? [] : describeLeaks(details.leaks)),
      ...describeRefusals(refusalsOf(report)),
      ...describeDoubts(doubtsOf(report)),
      ...describeDoubleCredits(details.doubleCredits),
      ...describeAdjustments(report),
      ...describeOrderSums(summary),
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

/** One line for each disposition of an order. */
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

function describeDispositions({ report: { counts, details }, isPlan = false }: Summary): readonly Block[] {
  const lines = dispositionLines(details, isPlan);
  return [
    {
      kind: 'counts',
      whole: plural(counts.orders, 'order'),
      meaning: 'of this job so far, each counted once',
      lines,
      labelWidth: 16,
      total: counts.orders,
    },
  ];
}

/** One line for each disposition of orders, in the order in which a summary shows them. */
export function dispositionLines(details: OrderDetails, isPlan = false): readonly CountLine[] {
  return LINES.map(({ disposition, label, note, ...look }): CountLine => {
    const groups = groupsAt(disposition, details);
    const shownLabel = isPlan && disposition === 'ready' ? 'would be posted' : label;
    return [shownLabel, sumOf(groups), { note: note(groups), ...look }];
  });
}

function groupsAt(disposition: Disposition, { dispositions }: OrderDetails): readonly DispositionGroup[] {
  return dispositions.filter((group) => group.disposition === disposition);
}

function sumOf(groups: readonly DispositionGroup[]): number {
  return groups.reduce((sum, { orders }) => sum + orders, 0);
}

/** Marks ready orders that a backfill has taken: the backfill posts them, a run does not. */
function toBePosted(groups: readonly DispositionGroup[]): string {
  const taken = groups.filter(({ reason }) => reason === 'by_backfill');
  const count = sumOf(taken);
  const ofThem =
    count === 0 ? '' : `, ${formatCount(count)} of them by the backfill (${formatAmounts(taken)})`;
  return `${formatAmounts(groups)}${ofThem}`;
}

/** What each influencer earned, in total and in this run. */
function describeCredits({ details }: OrdersReport): readonly Block[] {
  const { credits, creditsTotal } = details;
  if (credits.length === 0) return [];
  return [
    {
      kind: 'section',
      title: 'Credited to influencers',
      count: creditsTotal,
      note: 'highest total first; bars compare amounts in one currency',
      parts: [creditBars(details)],
    },
  ];
}

/** One row for each influencer and currency, with a bar. */
export function creditBars({ credits, creditsTotal }: OrderDetails): Bars {
  // Earnings are known only with terms or with rates of the service. Otherwise, omit their column.
  const knowsEarnings = credits.some(
    ({ earnedSoFar, earnedAtLeast }) => /\d/.test(earnedSoFar ?? '') || earnedAtLeast != null,
  );
  return {
    kind: 'bars',
    columns: [
      { title: 'influencer' },
      { title: 'new', align: 'right' },
      { title: 'orders', align: 'right' },
      { title: 'credited so far', align: 'right' },
      ...(knowsEarnings ? [{ title: 'earned so far', align: 'right' } as const] : []),
    ],
    rows: credits.map((credit) => {
      const { influencer, currency, orders, ordersSoFar, amountSoFar, earnedSoFar, earnedAtLeast, share } =
        credit;
      const earned =
        earnedSoFar === 'unknown' && earnedAtLeast
          ? formatAtLeast(formatMoney(earnedAtLeast.amount, currency), earnedAtLeast.unknownOrders)
          : earnedSoFar === null || earnedSoFar === 'unknown'
            ? (earnedSoFar ?? '')
            : formatMoney(earnedSoFar, currency);
      const counts = [formatCount(orders), formatCount(ordersSoFar), formatMoney(amountSoFar, currency)];
      return { cells: [influencer, ...counts, ...(knowsEarnings ? [earned] : [])], group: currency, share };
    }),
    total: creditsTotal,
    brief: 12,
  };
}

function describeUnownedCodes({ details }: OrdersReport): readonly Block[] {
  if (details.unownedCodes.length === 0) return [];
  const rows = details.unownedCodes.map(({ code, orders, amount, currency }) => [
    markLookAlikes(code),
    formatCount(orders),
    formatMoney(amount, currency),
  ]);
  const columns = [
    { title: 'code' },
    { title: 'orders', align: 'right' },
    { title: 'revenue', align: 'right' },
  ] as const;
  return [
    {
      kind: 'section',
      title: 'Codes that credited no influencer',
      count: details.unownedCodesTotal,
      note: 'by revenue',
      parts: [{ kind: 'table', columns, rows }],
      shown: rows.length,
      help: 'No influencer owned these codes on the order date, or the code belongs to another brand. Fix codes.csv; the next run retries these orders.',
    },
  ];
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

function doubtsOf(report: OrdersReport) {
  const { doubts, count } = doubtsListed(report);
  const amounts = doubts.length < count ? groupsAt('in_doubt', report.details) : doubts;
  return {
    doubts,
    count,
    note: formatAmounts(
      amounts.flatMap(({ amount, currency }) => (amount === null ? [] : [{ amount, currency }])),
    ),
    why: 'The service may have credited these orders, but no answer says so.',
    todo: 'look up each order in the service, then settle it',
  };
}

function describeAdjustments({ details }: OrdersReport): readonly Block[] {
  if (details.adjustments.length === 0) return [];
  return [
    {
      kind: 'section',
      title: 'Changed after they were posted',
      count: details.adjustments.reduce((sum, { entries }) => sum + entries, 0),
      note: details.adjustments.map(({ kind, entries }) => `${kind} ${formatCount(entries)}`).join(', '),
      why: 'The service has no operation to correct an order, so nothing was sent. Each change is recorded as an adjustment.',
    },
  ];
}

function describeOrderSums({ report: { counts, sumsAddUp }, isPlan }: Summary): readonly Block[] {
  const equation = formatSum(sumOfOrders(counts, isPlan));
  const otherwise = '. Please report this. No order is posted twice because of it.';
  return describeSums({ equation, sumsAddUp, otherwise });
}

function sumOfOrders(counts: OrderCounts, isPlan = false): Sum {
  const excluded = Object.values(counts.excluded).reduce((sum, count) => sum + count, 0);
  const { accepted, already, ready, rejected, held, in_doubt: doubts } = counts.entries;
  return {
    count: counts.orders,
    whole: plural(counts.orders, 'order'),
    parts: [
      [accepted, 'posted'],
      [already, 'already known'],
      [ready, isPlan ? 'would be posted' : 'to be posted'],
      [excluded, 'excluded'],
      [counts.unattributed, 'unattributed'],
      [counts.organic, 'organic'],
      [held, 'held'],
      [rejected, 'refused'],
      [doubts, 'in doubt'],
    ],
  };
}
