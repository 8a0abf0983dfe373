import type { DealPayout, DisputedOrder, ReconciledDeal } from '../../model/money/reconciliation.ts';
import { formatMoney } from '../../model/money.ts';
import { formatInstant } from '../../model/text/format-instant.ts';
import type { Block, Part } from '../blocks/block.ts';
import type { Column } from '../table.ts';
import { plural } from '../text.ts';

const RIGHT = { align: 'right' } as const;

/** Columns that explain a difference. A column is omitted if it is 0 or unknown for all deals. */
const EXPLAINING = ['before', 'others', 'may be'];

function orUnknown(count: number | null): string {
  return count === null ? 'unknown' : String(count);
}

/** Describes how posted orders compare with the orders that the service counts, for the terminal. */
export function describeReconciliation({
  deals,
  orders,
  payouts,
  unexplained,
  configOption = '',
  mirrorJob,
}: {
  readonly deals: readonly ReconciledDeal[];
  readonly orders: readonly DisputedOrder[];
  readonly payouts: readonly DealPayout[];
  readonly unexplained: readonly ReconciledDeal[];
  readonly configOption?: string;
  /** The job that reads the totals; null if none is configured. */
  readonly mirrorJob: string | null;
}): readonly Block[] {
  const unread = deals.filter(({ theirs }) => theirs === null);
  const inDoubt = deals.filter(({ doubts, unexplained: orders }) => doubts > 0 && orders === 0);
  if (deals.length === 0)
    return [
      {
        kind: 'text',
        text: 'There is nothing to compare: no order was posted, and the mirror has read no totals.',
        tone: 'dim',
      },
    ];
  return [
    {
      kind: 'section',
      title: 'Orders',
      note: plural(deals.length, 'deal'),
      why: 'counted: orders that the service counts. posted: orders that this tool posted, and that were accepted when the deal was last read. before: counted beyond those posted when the deal was first read. others: counted since, and named by events. may be: in doubt, written off, credited twice, or in flight while the deal was read.',
      parts: [ordersTable(deals)],
    },
    amountsSection(deals),
    payoutsSection(payouts),
    unexplained.length === 0
      ? describeNothing(deals)
      : {
          kind: 'section',
          title: 'Unexplained',
          count: unexplained.length,
          tone: 'alarm',
          why: 'If the service counts more orders than were posted, something else posts orders of these deals. If it counts fewer, it lost or refused some after it had accepted them, or somebody removed them.',
          parts: unexplained.map((deal) => ({ kind: 'item', text: describeUnexplained(deal) })),
          help: 'Look up the deals in the service, and turn off any second channel: an order that two channels post is credited twice.',
          commands: { lines: [`npx influencer-sync reconcile --deal <id>${configOption}`] },
        },
    ...ordersSections(orders),
    ...(inDoubt.length > 0
      ? [
          {
            kind: 'section',
            title: 'Doubts',
            count: inDoubt.reduce((sum, { doubts }) => sum + doubts, 0),
            why: 'Totals say how many orders the service counts, not which ones, so they settle no doubt. Look each order up in the service.',
            parts: [],
            commands: { lines: [`npx influencer-sync review${configOption}`] },
          } as const,
        ]
      : []),
    ...(unread.length > 0
      ? [
          {
            kind: 'text',
            text: describeUnread(unread.length, mirrorJob),
            tone: 'dim',
            ...(mirrorJob === null
              ? {}
              : { commands: { lines: [`npx influencer-sync run ${mirrorJob}${configOption}`] } }),
          } as const,
        ]
      : []),
  ];
}

/** States that nothing is unexplained, and how many deals could be compared if some could not. */
function describeNothing(deals: readonly ReconciledDeal[]): Block {
  const compared = deals.filter(({ unexplained }) => unexplained !== null).length;
  if (compared === 0) return { kind: 'text', text: 'No deal could be compared.', tone: 'yellow' };
  const among =
    compared === deals.length ? '' : ` among the ${plural(compared, 'deal')} that could be compared`;
  return { kind: 'text', text: `Nothing is unexplained${among}.`, tone: 'green' };
}

function describeUnread(deals: number, mirrorJob: string | null): string {
  const unknown = `The total of ${plural(deals, 'deal')} is unknown: the mirror has not read it, or the service does not state it.`;
  return mirrorJob === null
    ? `${unknown} Totals are read by a job of kind mirror-account, and the configuration has none.`
    : unknown;
}

function ordersTable(deals: readonly ReconciledDeal[]): Part {
  const all: readonly (readonly [Column, (deal: ReconciledDeal) => string])[] = [
    [{ title: 'deal', cutAt: 'never' }, ({ dealId }) => dealId],
    [{ title: 'influencer' }, ({ influencerHandle }) => influencerHandle ?? ''],
    [{ title: 'read' }, ({ readAt }) => (readAt === null ? 'never' : formatInstant(readAt))],
    [{ title: 'counted', ...RIGHT }, ({ theirs }) => orUnknown(theirs)],
    [{ title: 'posted', ...RIGHT }, ({ ours }) => String(ours)],
    [{ title: 'before', ...RIGHT }, ({ before }) => orUnknown(before)],
    [{ title: 'others', ...RIGHT }, ({ others }) => String(others)],
    [
      { title: 'may be', ...RIGHT },
      ({ doubts, writtenOff, late, creditedTwice }) => String(doubts + writtenOff + late + creditedTwice),
    ],
    [
      { title: 'unexplained', ...RIGHT },
      ({ unexplained }) => (unexplained === null ? 'unknown' : formatDifference(unexplained)),
    ],
  ];
  // A column of zeros explains nothing and takes space from the ids.
  const shown = all.filter(
    ([{ title }, cellOf]) =>
      !EXPLAINING.includes(title) || deals.some((deal) => !['0', 'unknown'].includes(cellOf(deal))),
  );
  const columns = shown.map(([column]) => column);
  const rows = deals.map((deal) => shown.map(([, cellOf]) => cellOf(deal)));
  return { kind: 'table', columns, rows };
}

function amountsSection(deals: readonly ReconciledDeal[]): Block {
  const currency = deals[0]?.accountCurrency ?? null;
  if (currency === null)
    return {
      kind: 'text',
      text: 'Amounts are not compared, because the currency of the account is unknown. It comes from events of orders, or from reconcile.account_currency.',
      tone: 'dim',
    };
  const columns = [
    { title: 'deal', cutAt: 'never' as const },
    { title: 'counted', ...RIGHT },
    { title: 'posted', ...RIGHT },
    { title: 'other currency', ...RIGHT },
    { title: 'unexplained', ...RIGHT },
  ];
  const money = (amount: string | null): string =>
    amount === null ? 'unknown' : formatMoney(amount, currency);
  const rows = deals.map((deal) => [
    deal.dealId,
    money(deal.theirsAmount),
    money(deal.oursAmount),
    deal.otherCurrency === 0 ? '' : plural(deal.otherCurrency, 'order'),
    money(deal.unexplainedAmount),
  ]);
  return { kind: 'section', title: 'Amounts', parts: [{ kind: 'table', columns, rows }] };
}

/** Explanation of the comparison of payouts, also for the console. */
export const PAYOUTS_WHY =
  'earned: the total of closed statements. requested: the payout requests in events of the service. paid out: the total that the service reports, in the currency of the account. before: the part that was already paid when the mirror first read the deal, which statements may not contain. A difference is not an error: you pay after you close a statement, and you may have paid for something else.';

function payoutsSection(payouts: readonly DealPayout[]): Block {
  if (payouts.length === 0)
    return {
      kind: 'text',
      text: 'Payouts are not compared: no statement is closed, and the service reports neither payouts nor payout requests.',
      tone: 'dim',
    };
  const columns = [
    { title: 'deal', cutAt: 'never' as const },
    { title: 'influencer' },
    { title: 'earned', ...RIGHT },
    { title: 'requested', ...RIGHT },
    { title: 'paid out', ...RIGHT },
    { title: 'before', ...RIGHT },
    { title: 'earned less paid out', ...RIGHT },
  ];
  const rows = payouts.map((payout) => [
    payout.dealId,
    payout.influencerHandle ?? '',
    formatMoney(payout.earnedAmount, payout.currency),
    ...payoutCells(payout),
  ]);
  return {
    kind: 'section',
    title: 'Earned and paid out',
    why: PAYOUTS_WHY,
    parts: [{ kind: 'table', columns, rows }],
  };
}

/** Formats the requested, paid and previously paid amounts and the difference, also for the console. */
export function payoutCells({
  currency,
  requestedAmount,
  paidAmount,
  paidBeforeAmount,
  differenceAmount,
}: DealPayout): readonly string[] {
  return [requestedAmount, paidAmount, paidBeforeAmount, differenceAmount].map((amount) =>
    amount === null ? 'unknown' : formatMoney(amount, currency),
  );
}

function describeUnexplained({
  dealId,
  unexplained,
  unexplainedAmount,
  accountCurrency,
}: ReconciledDeal): string {
  const orders = unexplained ?? 0;
  const parts = [
    orders === 0 ? '' : `${plural(Math.abs(orders), 'order')} ${orders > 0 ? 'more' : 'fewer'}`,
    unexplainedAmount === null || /^-?0\.0+$/.test(unexplainedAmount)
      ? ''
      : formatMoney(unexplainedAmount, accountCurrency),
  ];
  return `deal ${dealId}: ${parts.filter((part) => part !== '').join(', ')}`;
}

/** Title and explanation of each kind of disagreement between the service and this tool. */
export const DISPUTES = {
  not_ours: [
    'Counted by the service, but not posted by this tool',
    'Events name these orders, so something else posts them.',
  ],
  other_amount: ['Different amount', 'The service counts a different revenue than was sent.'],
  other_deal: ['Different deal', 'The service credits a different deal than its answer named.'],
  no_event: [
    'Posted, but without an event',
    'The service counts fewer orders of these deals than were posted, and sent no event about these orders.',
  ],
} as const satisfies Record<DisputedOrder['kind'], readonly [string, string]>;

function ordersSections(orders: readonly DisputedOrder[]): readonly Block[] {
  return [...Map.groupBy(orders, ({ kind }) => kind)].map(([kind, group]) => {
    const [title, why] = DISPUTES[kind];
    const columns: readonly Column[] = [
      { title: 'order', cutAt: 'never' },
      { title: 'platform' },
      { title: 'deal', cutAt: 'never' },
      { title: 'posted', ...RIGHT },
      { title: 'counted', ...RIGHT },
      { title: 'at' },
    ];
    const money = (amount: string | null, currency: string | null): string =>
      amount === null ? '' : formatMoney(amount, currency);
    const rows = group.map((order) => [
      order.orderId,
      order.orderPlatform ?? '',
      order.dealId ?? '',
      money(order.oursAmount, order.currency),
      money(order.theirsAmount, order.currency),
      formatInstant(order.at),
    ]);
    return { kind: 'section', title, count: group.length, why, parts: [{ kind: 'table', columns, rows }] };
  });
}

/** Formats a difference with its sign: `+2`, `-1`, `0`. */
export function formatDifference(count: number): string {
  return count > 0 ? `+${count}` : String(count);
}
