import {
  type DealPayout,
  type DisputedOrder,
  hintAtDoubts,
  type ReconciledDeal,
} from '../../core/money/reconciliation.ts';
import { formatKnown, formatMoney } from '../../core/money.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import {
  type Block,
  column,
  creators,
  deals,
  item,
  more,
  number,
  orders,
  say,
  section,
  table,
  whole,
} from '../../render/block.ts';
import { formatCount, plural } from '../../render/text.ts';
import { describeHint, HINT_IS_NO_PROOF, settleCommands } from '../doubts/doubt-hints.ts';

type Compared = {
  readonly deals: readonly ReconciledDeal[];
  readonly unexplained: readonly ReconciledDeal[];
  /** The job that reads the totals; null if none is configured. */
  readonly mirrorJob: string | null;
};

/** Describes how posted orders compare with the orders that the service counts, for the terminal. */
export function describeReconciliation({
  deals,
  orders,
  payouts,
  unexplained,
  mirrorJob,
}: Compared & {
  readonly orders: readonly DisputedOrder[];
  readonly payouts: readonly DealPayout[];
}): readonly Block[] {
  const inDoubt = deals.filter(({ doubts, unexplained: orders }) => doubts > 0 && orders === 0);
  const hints = inDoubt.map(hintAtDoubts).filter((hint) => hint !== null);
  const nothing = 'There is nothing to compare: no order was posted, and the mirror has read no totals.';
  if (deals.length === 0) return [say(nothing, { tone: 'dim' })];
  return [
    ...describeOrders(deals, 'Orders'),
    ...describeAmounts(deals),
    ...describePayouts(payouts),
    ...describeAllUnexplained(deals, unexplained),
    ...describeDisputes(orders),
    ...(inDoubt.length === 0
      ? []
      : section('Doubts', {
          count: inDoubt.reduce((sum, { doubts }) => sum + doubts, 0),
          why: `${HINT_IS_NO_PROOF} Look each order up in the service.`,
          ...(hints.length === 0
            ? {}
            : { parts: hints.map((hint) => item(`deal ${hint.dealId}: ${describeHint(hint)}`)) }),
          commands: settleCommands(hints),
        })),
    ...describeUnread(deals, mirrorJob),
  ];
}

/** Describes the first deals of the stored comparison, for the page of a run. */
export function describeCompared({
  deals,
  hasMore,
  unexplained,
  mirrorJob,
}: Compared & { readonly hasMore: boolean }): readonly Block[] {
  const nothing =
    'Posted orders were not compared with those that the service counts: the mirror has published no totals.';
  if (deals.length === 0) return [say(nothing, { tone: 'dim' })];
  return [
    ...describeOrders(deals, 'Posted orders compared with those that the service counts', hasMore),
    ...describeAmounts(deals),
    ...describeAllUnexplained(deals, unexplained),
    ...describeUnread(deals, mirrorJob),
  ];
}

export function orUnknown(count: number | null): string {
  return count === null ? 'unknown' : formatCount(count);
}

/** Number of orders that the service may count: of each it is unknown. */
export function mayBe({ doubts, writtenOff, late, creditedTwice }: ReconciledDeal): number {
  return doubts + writtenOff + late + creditedTwice;
}

/** Columns that explain a difference. A column is omitted if it is 0 or unknown for all deals. */
const EXPLAINING = [
  number('before', ({ before }: ReconciledDeal) => orUnknown(before)),
  number('others', ({ others }: ReconciledDeal) => formatCount(others)),
  number('may be', (deal: ReconciledDeal) => formatCount(mayBe(deal))),
];

function describeOrders(deals: readonly ReconciledDeal[], title: string, hasMore = false): readonly Block[] {
  const rest = `These are the ${plural(deals.length, 'deal')} with the largest unexplained differences. The page Money of the console has all.`;
  return section(title, {
    note: plural(deals.length, 'deal'),
    why: 'counted: orders that the service counts. posted: orders that this tool posted, and that were accepted when the deal was last read. before: counted beyond those posted when the deal was first read. others: counted since, and named by events. may be: in doubt, written off, credited twice, or in flight while the deal was read.',
    parts: [
      table(deals, [
        whole('deal', ({ dealId }) => dealId),
        creators(({ influencerHandle }) => influencerHandle),
        column('read', ({ readAt }) => (readAt === null ? 'never' : formatInstant(readAt))),
        number('counted', ({ theirs }) => orUnknown(theirs)),
        number('posted', ({ ours }) => formatCount(ours)),
        ...EXPLAINING.filter(({ cell }) => deals.some((deal) => !['0', 'unknown'].includes(cell(deal)))),
        number('unexplained', ({ unexplained }) =>
          unexplained === null ? 'unknown' : formatDifference(unexplained),
        ),
      ]),
      ...more(hasMore, rest),
    ],
  });
}

/** Lists the differences that nothing explains, or states that there are none among the deals that could be compared. */
function describeAllUnexplained(
  deals: readonly ReconciledDeal[],
  unexplained: readonly ReconciledDeal[],
): readonly Block[] {
  const compared = deals.filter((deal) => deal.unexplained !== null).length;
  const among =
    compared === deals.length ? '' : ` among the ${plural(compared, 'deal')} that could be compared`;
  if (unexplained.length === 0)
    return [
      compared === 0
        ? say('No deal could be compared.', { tone: 'yellow' })
        : say(`Nothing is unexplained${among}.`, { tone: 'green' }),
    ];
  return section('Unexplained', {
    count: unexplained.length,
    tone: 'alarm',
    why: 'If the service counts more orders than were posted, something else posts orders of these deals. If it counts fewer, it lost or refused some after it had accepted them, or somebody removed them.',
    parts: unexplained.map((deal) => item(describeUnexplained(deal))),
    help: 'Look up the deals in the service, and turn off any second channel: an order that two channels post is credited twice.',
    commands: { lines: ['npx influencer-sync reconcile --deal <id>'] },
  });
}

/** States how many totals are unknown, and how to read them. Empty if all are known. */
function describeUnread(deals: readonly ReconciledDeal[], mirrorJob: string | null): readonly Block[] {
  const unread = deals.filter(({ theirs }) => theirs === null).length;
  if (unread === 0) return [];
  const unknown = `The total of ${plural(unread, 'deal')} is unknown: the mirror has not read it, or the service does not state it.`;
  const none = ' Totals are read by a job of kind mirror-account, and the configuration has none.';
  return [
    mirrorJob === null
      ? say(`${unknown}${none}`, { tone: 'dim' })
      : say(unknown, { tone: 'dim', commands: { lines: [`npx influencer-sync run ${mirrorJob}`] } }),
  ];
}

/** Why amounts are unknown if the currency of the account is. */
export const NO_CURRENCY: Block = say(
  'Amounts are not compared, because the currency of the account is unknown. It comes from events of orders, or from reconcile.account_currency.',
  { tone: 'dim' },
);

function describeAmounts(deals: readonly ReconciledDeal[]): readonly Block[] {
  const currency = deals[0]?.accountCurrency ?? null;
  if (currency === null) return [NO_CURRENCY];
  return section('Amounts', {
    parts: table(deals, [
      whole('deal', ({ dealId }) => dealId),
      number('counted', ({ theirsAmount }) => formatKnown(theirsAmount, currency)),
      number('posted', ({ oursAmount }) => formatKnown(oursAmount, currency)),
      number('other currency', ({ otherCurrency }) =>
        otherCurrency === 0 ? null : plural(otherCurrency, 'order'),
      ),
      number('unexplained', ({ unexplainedAmount }) => formatKnown(unexplainedAmount, currency)),
    ]),
  });
}

function describeUnexplained({ dealId, unexplained, unexplainedAmount, accountCurrency }: ReconciledDeal) {
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
const DISPUTES = {
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

/** Describes the orders about which events and ledger disagree, by what they disagree about. */
export function describeDisputes(disputed: readonly DisputedOrder[]): readonly Block[] {
  const money = (amount: string | null, currency: string | null) =>
    amount === null ? null : formatMoney(amount, currency);
  return [...Map.groupBy(disputed, ({ kind }) => kind)].flatMap(([kind, group]) => {
    const [title, why] = DISPUTES[kind];
    const shown = table(group, [
      orders(({ orderId }) => orderId),
      column('platform', ({ orderPlatform }) => orderPlatform),
      deals(({ dealId }) => dealId),
      number('posted', ({ oursAmount, currency }) => money(oursAmount, currency)),
      number('counted', ({ theirsAmount, currency }) => money(theirsAmount, currency)),
      column('at (UTC)', ({ at }) => formatInstant(at)),
    ]);
    return section(title, { count: group.length, why, parts: [shown] });
  });
}

/** Formats a difference with its sign: `+2`, `-1`, `0`. */
export function formatDifference(count: number): string {
  return count > 0 ? `+${count}` : String(count);
}

/**
 * Describes what deals earned and what was paid out.
 * @param shown.hasMore whether these are only the largest differences.
 */
export function describePayouts(payouts: readonly DealPayout[], hasMore = false): readonly Block[] {
  if (payouts.length === 0)
    return [
      say(
        'Payouts are not compared: no statement is closed, and the service reports neither payouts nor payout requests.',
        { tone: 'dim' },
      ),
    ];
  const text = `These are the ${plural(payouts.length, 'row')} with the largest differences. All: npx influencer-sync reconcile`;
  return section('Earned and paid out', {
    why: 'earned: the total of closed statements. requested: the payout requests in events of the service. paid out: the total that the service reports, in the currency of the account. before: the part that was already paid when the mirror first read the deal, which statements may not contain. A difference is not an error: you pay after you close a statement, and you may have paid for something else.',
    parts: [
      table(payouts, [
        deals(({ dealId }) => dealId),
        creators(({ influencerHandle }) => influencerHandle),
        number('earned', ({ earnedAmount, currency }) => formatMoney(earnedAmount, currency)),
        number('requested', ({ requestedAmount, currency }) => formatKnown(requestedAmount, currency)),
        number('paid out', ({ paidAmount, currency }) => formatKnown(paidAmount, currency)),
        number('before', ({ paidBeforeAmount, currency }) => formatKnown(paidBeforeAmount, currency)),
        number('earned less paid out', ({ differenceAmount, currency }) =>
          formatKnown(differenceAmount, currency),
        ),
      ]),
      ...more(hasMore, text),
    ],
  });
}
