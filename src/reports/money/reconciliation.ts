import {
  type DealPayout,
  type DisputedOrder,
  hintAtDoubts,
  type ReconciledDeal,
} from '../../core/money/reconciliation.ts';
import { formatMoney } from '../../core/money.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import type { Block, Part } from '../../render/block.ts';
import type { Column } from '../../render/table.ts';
import { plural } from '../../render/text.ts';
import { describeHint, HINT_IS_NO_PROOF, settleCommands } from '../doubts/doubt-hints.ts';
import { payoutsSection } from './payouts.ts';

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
  mirrorJob,
}: {
  readonly deals: readonly ReconciledDeal[];
  readonly orders: readonly DisputedOrder[];
  readonly payouts: readonly DealPayout[];
  readonly unexplained: readonly ReconciledDeal[];
  /** The job that reads the totals; null if none is configured. */
  readonly mirrorJob: string | null;
}): readonly Block[] {
  const inDoubt = deals.filter(({ doubts, unexplained: orders }) => doubts > 0 && orders === 0);
  const hints = inDoubt.map(hintAtDoubts).filter((hint) => hint !== null);
  if (deals.length === 0)
    return [
      {
        kind: 'text',
        text: 'There is nothing to compare: no order was posted, and the mirror has read no totals.',
        tone: 'dim',
      },
    ];
  return [
    ordersSection(deals, { title: 'Orders' }),
    amountsSection(deals),
    payoutsSection(payouts),
    unexplainedBlock(deals, unexplained),
    ...ordersSections(orders),
    ...(inDoubt.length > 0
      ? [
          {
            kind: 'section',
            title: 'Doubts',
            count: inDoubt.reduce((sum, { doubts }) => sum + doubts, 0),
            why: `${HINT_IS_NO_PROOF} Look each order up in the service.`,
            parts: hints.map(
              (hint): Part => ({
                kind: 'item',
                text: `deal ${hint.dealId}: ${describeHint(hint)}`,
              }),
            ),
            commands: settleCommands(hints),
          } as const,
        ]
      : []),
    ...unreadBlocks(deals, mirrorJob),
  ];
}

/** Describes the first deals of the stored comparison, for the page of a run. */
export function describeCompared({
  deals,
  hasMore,
  unexplained,
  mirrorJob,
}: Pick<Parameters<typeof describeReconciliation>[0], 'deals' | 'unexplained' | 'mirrorJob'> & {
  readonly hasMore: boolean;
}): readonly Block[] {
  if (deals.length === 0)
    return [
      {
        kind: 'text',
        text: 'Posted orders were not compared with those that the service counts: the mirror has published no totals.',
        tone: 'dim',
      },
    ];
  const rest = `These are the ${plural(deals.length, 'deal')} with the largest unexplained differences. The page Money of the console has all.`;
  return [
    ordersSection(deals, {
      title: 'Posted orders compared with those that the service counts',
      rest: hasMore ? rest : null,
    }),
    amountsSection(deals),
    unexplainedBlock(deals, unexplained),
    ...unreadBlocks(deals, mirrorJob),
  ];
}

function ordersSection(
  deals: readonly ReconciledDeal[],
  { title, rest = null }: { readonly title: string; readonly rest?: string | null },
): Block {
  return {
    kind: 'section',
    title,
    note: plural(deals.length, 'deal'),
    why: 'counted: orders that the service counts. posted: orders that this tool posted, and that were accepted when the deal was last read. before: counted beyond those posted when the deal was first read. others: counted since, and named by events. may be: in doubt, written off, credited twice, or in flight while the deal was read.',
    parts: [ordersTable(deals), ...(rest === null ? [] : [{ kind: 'aside' as const, text: rest }])],
  };
}

/** Lists the differences that nothing explains, or states that there are none. */
function unexplainedBlock(deals: readonly ReconciledDeal[], unexplained: readonly ReconciledDeal[]): Block {
  if (unexplained.length === 0) return describeNothing(deals);
  return {
    kind: 'section',
    title: 'Unexplained',
    count: unexplained.length,
    tone: 'alarm',
    why: 'If the service counts more orders than were posted, something else posts orders of these deals. If it counts fewer, it lost or refused some after it had accepted them, or somebody removed them.',
    parts: unexplained.map((deal) => ({ kind: 'item', text: describeUnexplained(deal) })),
    help: 'Look up the deals in the service, and turn off any second channel: an order that two channels post is credited twice.',
    commands: { lines: ['npx influencer-sync reconcile --deal <id>'] },
  };
}

/** States that nothing is unexplained, and how many deals could be compared if some could not. */
function describeNothing(deals: readonly ReconciledDeal[]): Block {
  const compared = deals.filter(({ unexplained }) => unexplained !== null).length;
  if (compared === 0) return { kind: 'text', text: 'No deal could be compared.', tone: 'yellow' };
  const among =
    compared === deals.length ? '' : ` among the ${plural(compared, 'deal')} that could be compared`;
  return { kind: 'text', text: `Nothing is unexplained${among}.`, tone: 'green' };
}

/** States how many totals are unknown, and how to read them. Empty if all are known. */
function unreadBlocks(deals: readonly ReconciledDeal[], mirrorJob: string | null): readonly Block[] {
  const unread = deals.filter(({ theirs }) => theirs === null).length;
  if (unread === 0) return [];
  const command = { lines: [`npx influencer-sync run ${mirrorJob}`] };
  const text = describeUnread(unread, mirrorJob);
  return [{ kind: 'text', text, tone: 'dim', ...(mirrorJob === null ? {} : { commands: command }) }];
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
