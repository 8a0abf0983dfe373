import { BELOW_ZERO, REFUNDS_APART } from '../../src/core/held/held-order.ts';
import { formatAtLeast, formatKnown, formatMoney, formatSums } from '../../src/core/money.ts';
import { sumOrders } from '../../src/core/order.ts';
import { helpForCodesInText } from '../../src/core/text/codes-in-text.ts';
import { type Bars, type CountLine, column, item, number, section, table } from '../../src/render/block.ts';
import { formatReasons } from '../../src/render/render-blocks.ts';
import type { ReportRenderer } from '../../src/render/report-renderer.ts';
import { clause, formatCount, markLookAlikes, plural } from '../../src/render/text.ts';
import { describeRunDoubts } from '../../src/reports/doubts/doubts.ts';
import { describeFiles } from '../../src/reports/files/read-files.ts';
import { describeHeldOrders } from '../../src/reports/held/describe-held-orders.ts';
import { describeLeaks } from '../../src/reports/money/leaks.ts';
import { describeOtherCurrency } from '../../src/reports/money/other-currency.ts';
import type { Disposition, DispositionGroup } from './read-dispositions.ts';
import type { OrderCounts, OrderDetails, OrdersReport } from './report.ts';

/**
 * Renders what a run of `attribute-orders` did, the disposition of every order, and what each number means.
 */
export const renderOrders: ReportRenderer<OrdersReport> = {
  did: ({ entries }) => `${formatCount(entries.accepted)} posted`,
  tally(counts, more) {
    const lines = dispositionLines(counts, more);
    return {
      kind: 'counts',
      count: counts.orders,
      whole: plural(counts.orders, 'order'),
      meaning: 'of this job so far, each counted once',
      lines,
      // Without the unaccounted ones: they are what does not add up.
      parts: lines.slice(0, -1),
    };
  },
  attention: ({ counts: { entries, excluded, other_currency }, details, doubts }) => [
    ...clause(
      entries.rejected + entries.held + doubts + other_currency + (excluded[BELOW_ZERO] ?? 0),
      'order needs your attention',
      'orders need your attention',
    ),
    ...clause(
      details.heldOrders.reduce((sum, { sent }) => sum + sent, 0),
      'posted order would be held today',
      'posted orders would be held today',
    ),
  ],
  blocks(summary) {
    const { report } = summary;
    const { counts, details } = report;
    return [
      ...section('Credited to influencers', {
        note: 'by currency, highest total first; bars compare amounts in one currency',
        parts: creditBars(details),
      }),
      ...describeFiles(summary),
      ...section('Codes that credited no influencer', {
        of: details.unownedCodesTotal,
        note: 'highest revenue in each currency first',
        parts: table(details.unownedCodes, [
          column('code', ({ code }) => markLookAlikes(code)),
          number('orders', ({ orders }) => formatCount(orders)),
          number('revenue', ({ amount, currency, withoutAmount }) =>
            formatKnown(amount, currency, withoutAmount),
          ),
        ]),
        help: `No influencer owned these codes on the order date, or the code belongs to another brand. Fix codes.csv; the next run retries these orders. ${helpForCodesInText(details.unownedCodes.map(({ code }) => code)) ?? ''}`.trimEnd(),
      }),
      ...describeHeldOrders({ groups: details.heldOrders, isStored: summary.isPlan !== true }),
      ...section('Refunds that lower no order', {
        count: counts.excluded[BELOW_ZERO] ?? 0,
        parts: groupsAt('excluded', details)
          .filter(({ reason }) => reason === BELOW_ZERO)
          .map((group) => item(`${plural(group.orders, 'row')} below zero, ${formatSums([group])}`)),
        why: 'They lower no order, so the orders that they refund or cancel may count in full.',
        help: REFUNDS_APART,
      }),
      ...describeOtherCurrency(details.otherCurrency, { count: counts.other_currency }),
      ...(details.leaks.length === 0 ? [] : describeLeaks(details.leaks)),
      ...section('Refused by the service', {
        count: counts.entries.rejected,
        parts: groupsAt('rejected', details).map((group) =>
          item(
            `${plural(group.orders, 'order')}, ${formatSums([group])}: ${group.reason ?? 'no reason was given'}`,
          ),
        ),
        help: 'Fix what the message names, often a handle or deal in codes.csv. The next run sends the orders that changed.',
      }),
      ...describeRunDoubts(report, {
        note: formatSums(groupsAt('in_doubt', details)),
        why: 'The service may have credited these orders, but no answer says so.',
        todo: 'look up each order in the service, then settle it',
      }),
      ...(details.adjustments.length === 0
        ? []
        : section('Changed after they were posted', {
            count: details.adjustments.reduce((sum, { entries }) => sum + entries, 0),
            note: details.adjustments
              .map(
                ({ kind, currency, entries, amount }) =>
                  `${kind} ${formatCount(entries)}${currency === null || Number(amount) === 0 ? '' : ` (${formatMoney(amount, currency)}${kind === 'held' ? ' when posted' : ''})`}`,
              )
              .join(', '),
            why: 'The service has no operation to correct an order, so nothing was sent. Each change is recorded as an adjustment.',
          })),
    ];
  },
};

/** One line for each disposition of orders, in the order in which a summary shows them. */
export function dispositionLines(
  { orders, excluded, unattributed, organic, entries }: OrderCounts,
  { isPlan = false, details }: { isPlan?: boolean; details?: OrderDetails } = {},
): readonly CountLine[] {
  const at = (disposition: Disposition) => (details === undefined ? [] : groupsAt(disposition, details));
  const unsure =
    isPlan && details?.areOwnersChecked === false
      ? '; `npx influencer-sync codes` checks that the service knows their owners'
      : '';
  const allExcluded = Object.values(excluded).reduce((sum, count) => sum + count, 0);
  const lines: readonly CountLine[] = [
    ['posted', entries.accepted, { note: formatSums(at('accepted')), color: 'green', always: true }],
    ['already known', entries.already, { note: 'posted before this run', always: true }],
    [
      isPlan ? 'would be posted' : 'to be posted',
      entries.ready,
      { note: `${toBePosted(at('ready'))}${unsure}` },
    ],
    ['excluded', allExcluded, { note: formatReasons(at('excluded')) }],
    ['unattributed', unattributed, { note: formatReasons(at('unattributed')) }],
    ['organic', organic, { note: 'no code, link or handle' }],
    ['held', entries.held, { note: formatReasons(at('held')), color: 'yellow' }],
    ['refused', entries.rejected, { note: 'by the service, see below', color: 'yellow' }],
    [
      'in doubt',
      entries.in_doubt,
      { note: `${formatSums(at('in_doubt'))}, see below`, color: 'red', always: true },
    ],
  ];
  const lost = orders - lines.reduce((sum, [, count]) => sum + count, 0);
  return [...lines, ['unaccounted', lost, { note: 'this must not happen', color: 'red' }]];
}

function groupsAt(disposition: Disposition, { dispositions }: OrderDetails): readonly DispositionGroup[] {
  return dispositions.filter((group) => group.disposition === disposition);
}

/** Marks ready orders that a backfill has taken: the backfill posts them, a run does not. */
function toBePosted(groups: readonly DispositionGroup[]): string {
  const taken = groups.filter(({ reason }) => reason === 'by_backfill');
  const count = sumOrders(taken);
  const ofThem = count === 0 ? '' : `, ${formatCount(count)} of them by the backfill (${formatSums(taken)})`;
  return `${formatSums(groups)}${ofThem}`;
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
      ...(knowsEarnings ? [{ title: 'commission', align: 'right' } as const] : []),
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
