import {
  addUp,
  type DecimalText,
  formatAmounts,
  formatAtLeast,
  formatKnown,
  formatMoney,
  formatNumber,
  formatSums,
  type Money,
} from '../../core/money.ts';
import { sumOrders } from '../../core/order.ts';
import { foldHandle } from '../../core/text/fold.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import type { ConvertedTotal } from '../../money/convert-lines.ts';
import type { Statement, StatementLine, UncountedOrders, UnknownFee } from '../../money/statement.ts';
import type { UncountedSum } from '../../money/sum-statement.ts';
import {
  type Block,
  column,
  creators,
  deals,
  more,
  number,
  type Part,
  type Section,
  say,
  section,
  table,
  whole,
} from '../../render/block.ts';
import { renderTableCsv } from '../../render/csv.ts';
import { formatCount, plural } from '../../render/text.ts';
import type { listWaitingOrders } from '../list-orders.ts';

/**
 * Describes a statement for the terminal and for PDF: the amount owed to each deal in each currency, and the
 * orders that it does not contain yet.
 *
 * @param options.showsLines true to list every line as well.
 */
export function describeStatement(
  statement: Statement,
  {
    showsLines,
    total = null,
  }: {
    readonly showsLines: boolean;
    /** Total of all currencies in the reporting currency. Null if none is configured. */
    readonly total?: ConvertedTotal | null;
  },
): readonly Block[] {
  const { lines, closed, month } = statement;
  const close = { lines: [`npx influencer-sync statement close --month ${month} --reason '…'`] };
  return [
    say(describeState(statement)),
    ...(lines.length === 0
      ? [say('No order counts in this month, and there is nothing to correct.', { tone: 'dim' })]
      : section('To pay', {
          note: describeToPay(lines, statement),
          parts: dealsTable(lines),
          help: 'Commission is a share of the revenue net of refunds, cancellations and excluded products. A correction is the difference to what an earlier statement said about an order.',
        })),
    ...(total !== null && lines.length > 0 ? [say(describeTotal(total))] : []),
    ...(showsLines ? section('Lines', { count: lines.length, parts: linesTable(lines) }) : []),
    ...describeLeftOut(statement),
    ...(closed === null && lines.length > 0
      ? [say('To freeze the statement once the month is over:', { tone: 'dim', commands: close })]
      : []),
  ];
}

/** Of orders of which it is unknown what they earn, whatever the reason is: a closed statement may have them already. */
const UNCHANGED =
  'They are in no statement, or stay as a closed one has them. Once it is known what they earn, the next statement has them, or the difference.';

/** Why it is unknown, or open, what orders earn, and what to do about it. */
const UNCOUNTED: Readonly<
  Record<UncountedOrders['why'], { title: string; text: (returnWindowDays: number) => string; help?: string }>
> = {
  unknown_rate: {
    title: 'Rate unknown',
    text: () => 'Neither the terms nor what the mirror has read of the service say what these orders earn.',
    help: 'Run the mirror, if it has not read these deals yet: it reads the rates that the service states. Otherwise, add a row for each deal to statements.terms, with its rate in per cent.',
  },
  unknown_lines: {
    title: 'Products unknown',
    text: () => 'Your terms depend on products, and it is unknown what was bought in these orders.',
    help: 'Set order_lines: true on the source, and export these orders again with their SKUs.',
  },
  unknown_customer: {
    title: 'Customer unknown',
    text: () =>
      'Your terms depend on whether a customer is new, and that is unknown for these orders: they name no customer or no time, or older orders of the customer may be missing.',
    help: 'Set customer_key: true on the source, and say in statements.customers_since since when its exports have every order. A month after that day without any order of the source, or in which most orders have no customer, makes what follows unknown: export that month again, or let customers_since begin after it. Or end the condition of the row in statements.terms.',
  },
  unknown_start: {
    title: 'Begin of the deal unknown',
    text: () =>
      'Your terms have a row for the first days of a deal, and the service does not say when the deal began.',
    help: 'Write the days of the row as valid_from and valid_to, instead of first_days. Or run the mirror: it shows which deals are older.',
  },
  unknown_tier: {
    title: 'Tier unknown',
    text: () =>
      'Your terms depend on the orders before these, and not all of them are known: the time, the refund or the currency of an order is unknown or another one, or another tool credited orders of the deal.',
    help: 'Settle the orders of the deal whose refund is unknown, and export those without a time again. If orders have another currency than the row, use from_orders instead of from_revenue. If another tool credited orders, write the days of the row as valid_from and valid_to.',
  },
  unknown_currency: {
    title: 'Amount in another currency',
    text: () =>
      'The terms state an amount in another currency than these orders have, so it is unknown what they earn.',
    help: 'In statements.terms, add a row with the amount in the currency of these orders, and otherwise like the one that applies.',
  },
  unknown_change: {
    title: 'Change of the rate unclear',
    text: () =>
      'The rate is that of the service. An event says that it changed, but the mirror read another rate or has not read the deal since, or the order has no time on the day of the change. So it is unknown which rate these orders have.',
    help: 'Run the mirror, if it has not run since the change. Otherwise, look up in the service since when the deal has its commission, and write the rates into statements.terms, with valid_from and valid_to.',
  },
  unknown_net: {
    title: 'Refund unknown',
    text: () =>
      'The export states a refund of these orders that is negative or larger than the order, so it is unknown what is left.',
    help: 'Correct the refunds in the shop, and export these orders again.',
  },
  pending: {
    title: 'Pending',
    text: (days) =>
      `An order counts ${plural(days, 'day')} after it was placed, when it can no longer be returned. These count in a later month.`,
  },
};

/**
 * Describes the amounts to pay. If it is unknown what some orders earn, or whether a fee is owed, the creators have
 * earned at least these amounts. Orders whose return window is open are not owed yet, whatever they earn.
 */
export function describeToPay(
  amounts: readonly Money[],
  {
    uncounted,
    unknownFees,
  }: { uncounted: readonly Pick<UncountedOrders, 'dueOrders'>[]; unknownFees: readonly UnknownFee[] },
): string {
  const unknown = uncounted.reduce((sum, { dueOrders }) => sum + dueOrders, 0);
  return formatAtLeast(formatAmounts(amounts), unknown, unknownFees.length);
}

/**
 * Describes what a statement does not contain: orders that do not count yet, fees and orders of which it is unknown what
 * they come to.
 *
 * @param part.sums all uncounted orders, if not all deals are listed.
 * @param part.limit how many deals of each kind are listed.
 */
export function describeLeftOut(
  {
    month,
    uncounted,
    unknownFees,
    held,
    carried,
    returnWindowDays,
  }: Pick<Statement, 'month' | 'uncounted' | 'unknownFees' | 'held' | 'carried' | 'returnWindowDays'>,
  { sums = uncounted, limit = uncounted.length }: { sums?: readonly UncountedSum[]; limit?: number } = {},
): readonly Section[] {
  const rest = `and more deals. To list all: npx influencer-sync statement --month ${month}`;
  return [
    ...Object.entries(UNCOUNTED).flatMap(([why, { title, text, help = null }]) => {
      const orders = uncounted.filter((one) => one.why === why);
      const all = sums.filter((one) => one.why === why);
      const net = all.flatMap(({ currency, netAmount: amount }) =>
        amount === null ? [] : [{ currency, amount }],
      );
      const sum = net.length === 0 ? '' : ` Their net revenue is ${formatAmounts(net)}.`;
      return section(title, {
        note: plural(sumOrders(all), 'order'),
        ...(why === 'pending' ? {} : { tone: 'alarm' }),
        why: `${text(returnWindowDays)}${why === 'pending' ? '' : ` ${UNCHANGED}`}${sum}`,
        parts: [
          table(orders.slice(0, limit), [
            deals(({ dealId }) => dealId),
            creators(({ influencerHandle }) => influencerHandle),
            number('orders', ({ orders: count }) => formatCount(count)),
            number('net revenue', ({ netAmount, currency }) => formatKnown(netAmount, currency)),
            number('would earn', ({ earnedAmount, currency }) => formatKnown(earnedAmount, currency)),
          ]),
          ...more(orders.length > limit, rest),
        ],
        help:
          why === 'unknown_rate' && orders[0]?.dealId != null
            ? `${help} With the columns deal_id,code,rate, the first is:  ${orders[0].dealId},,RATE`
            : help,
      });
    }),
    ...section('Unknown deal', {
      why: 'The terms state fees for deals or codes that neither the mirror, nor a codes.csv, nor a credited order knows. They may be typing errors, so they are not paid.',
      help: 'Correct the deal or the code in statements.terms. If the deal is right and new, run the mirror, or add its code to codes.csv and run its job. The next statement then includes the fee.',
      tone: 'alarm',
      note: plural(unknownFees.length, 'fee'),
      parts: table(unknownFees, [
        whole('deal or code', ({ dealId, code }) => dealId ?? `code ${code ?? ''}`),
        column('owed from', ({ dueOn }) => dueOn),
        number('fee', ({ amount, currency }) => formatMoney(amount, currency)),
      ]),
    }),
    ...section('Carried forward', {
      note: plural(carried.length, 'deal'),
      why: 'These deals come to less than their minimum payout. Their lines are not in this statement, and are in the first one that reaches the minimum.',
      parts: [
        table(carried, [
          deals(({ dealId }) => dealId),
          creators(({ influencerHandle }) => influencerHandle),
          number('amount', ({ amount, currency }) => formatMoney(amount, currency)),
          number('minimum', ({ minimum, currency }) => formatMoney(minimum, currency)),
        ]),
      ],
    }),
    ...section('Changed, and held', {
      why: 'It is unknown what these orders come to now: they are held, or an export states another currency than was sent. They earn what they earned before.',
      help: 'Settle why they are held, or export them again in the currency that was sent. If no export will, decide about them: npx influencer-sync statement restated. The view bi.adjustments lists all of them: kind held, is_latest.',
      tone: 'alarm',
      note: plural(sumOrders(held), 'order'),
      parts: table(held, [
        deals(({ dealId }) => dealId),
        number('orders', ({ orders }) => formatCount(orders)),
        number('sent', ({ sentAmount, currency }) => formatMoney(sentAmount, currency)),
      ]),
    }),
  ];
}

/** Describes the orders that the statement of a month would have if they were credited, and how they are settled. */
export function describeWaiting({
  orders,
  sums,
}: Awaited<ReturnType<typeof listWaitingOrders>>): readonly Section[] {
  const rest = sumOrders(sums) - orders.length;
  return section('Not credited yet', {
    note: `${plural(sumOrders(sums), 'order')}, ${formatSums(sums)}`,
    why: 'This statement would have these orders if they were credited. Once they are, the next statement has them.',
    parts: [
      table(orders, [
        whole('order', ({ orderId }) => orderId),
        whole('placed on', ({ orderedOn }) => orderedOn),
        deals(({ dealId }) => dealId),
        creators(({ influencerHandle }) => influencerHandle),
        number('amount', ({ amount, currency }) => formatKnown(amount, currency)),
        column('why', ({ disposition, reason }) =>
          [disposition, reason].flatMap((word) => word?.replaceAll('_', ' ') ?? []).join(': '),
        ),
      ]),
      ...more(rest > 0, `and ${plural(rest, 'more order')}`),
    ],
    commands: {
      about: 'all in doubt, and all that are held',
      lines: ['npx influencer-sync review', 'npx influencer-sync review --held'],
    },
  });
}

/** Maximum number of missing exchange rates that are listed. */
const NAMED_RATES = 5;

/** Describes the total of all currencies, also for the console. */
export function describeTotal({ currency, amount, missing }: ConvertedTotal): string {
  if (amount !== null)
    return `Total: ${formatMoney(amount, currency)}, with each line at the exchange rate of the day on which it counts.`;
  const named = missing.slice(0, NAMED_RATES).map((one) => `${one.currency} on ${one.day}`);
  const others = missing.length - named.length;
  return `The total in ${currency} is unknown: statements.fx has no rate for ${named.join(', ')}${others === 0 ? '' : ` and ${others} more`}.`;
}

function describeState({ month, closed, timeZone }: Statement): string {
  return closed === null
    ? `Statement of ${month}, open: it may still change. Days are in the time zone ${timeZone}.`
    : `Statement of ${month}, closed by ${closed.by} at ${formatInstant(closed.at)} UTC. Days are in the time zone ${timeZone}.`;
}

function dealsTable(lines: readonly StatementLine[]): Part {
  const known = new Map(
    lines.flatMap(({ dealId, influencerHandle: of }) => (of === null ? [] : [[dealId, of]])),
  );
  // A deal that changed hands has a row for each creator.
  const creatorOf = ({ dealId, influencerHandle }: StatementLine) =>
    dealId === null ? '' : foldHandle(influencerHandle ?? known.get(dealId) ?? '');
  const groups = [
    ...Map.groupBy(lines, (line) => JSON.stringify([line.dealId, line.currency, creatorOf(line)])).values(),
  ];
  type Group = readonly StatementLine[];
  const of = (group: Group, kind: StatementLine['kind']) => group.filter((line) => line.kind === kind);
  const sum = (amounts: readonly Money[]) => (amounts.length === 0 ? null : formatNumber(addUp(amounts)));
  const net = (group: Group) =>
    of(group, 'order').flatMap(({ netAmount: amount, currency }) =>
      amount === null ? [] : [{ amount, currency }],
    );
  return table(groups, [
    whole(
      'deal',
      (group) => group[0]?.dealId ?? (group.some((line) => feeCode(line) !== null) ? 'fees of codes' : null),
    ),
    creators(
      (group) => group.find(({ influencerHandle }) => influencerHandle !== null)?.influencerHandle ?? null,
    ),
    number('orders', (group) => String(of(group, 'order').length)),
    number('net revenue', (group) => sum(net(group))),
    number('commission', (group) => sum(of(group, 'order'))),
    number('corrections', (group) => sum(of(group, 'correction'))),
    number('fees', (group) => sum(of(group, 'fixed_fee'))),
    number('to pay', (group) => formatAmounts(group)),
  ]);
}

function linesTable(lines: readonly StatementLine[]): Part {
  // With a single deal, its id is shown above the table. Blank cells make the table omit the column.
  const isOneDeal = new Set(lines.map(({ dealId }) => dealId)).size === 1;
  const isOneCreator = new Set(lines.map(({ influencerHandle }) => influencerHandle)).size === 1;
  return table(lines, [
    whole('deal', ({ dealId }) => (isOneDeal ? null : dealId)),
    creators(({ influencerHandle }) => (isOneCreator ? null : influencerHandle)),
    whole('day', ({ orderedOn, dueOn }) => orderedOn ?? dueOn),
    whole('order', describeLine),
    number('net revenue', (line) => numberOf(line.netAmount, line)),
    number('excluded', (line) => numberOf(line.excludedAmount, line)),
    number('rate', ({ ratePercent }) => (ratePercent === null ? null : `${ratePercent} %`)),
    column('terms', ({ termsText }) => termsText),
    number('earned', (line) => numberOf(line.earnedAmount, line)),
    number('before', (line) => numberOf(line.closedBefore, line)),
    number('adds', ({ amount, currency }) => formatMoney(amount, currency)),
  ]);
}

function numberOf(amount: DecimalText | null, { currency }: StatementLine): string {
  return amount === null ? '' : formatNumber({ amount, currency });
}

/** The code that a fee is for. Null: the fee is of a deal, or the line is no fee. */
function feeCode({ subject }: StatementLine): string | null {
  return /^fee:code (.*):[^:]*$/.exec(subject)?.[1] ?? null;
}

function describeLine(line: StatementLine): string {
  const { kind, orderId } = line;
  const code = feeCode(line);
  const subject = orderId ?? (code === null ? 'fixed fee' : `fee of code ${code}`);
  return kind === 'correction' ? `${subject}, corrected` : subject;
}

const CSV_COLUMNS = [
  ['kind', 'kind'],
  ['deal_id', 'dealId'],
  ['collab_id', 'collabId'],
  ['brand_id', 'brandId'],
  ['influencer_handle', 'influencerHandle'],
  ['source', 'source'],
  ['order_platform', 'orderPlatform'],
  ['order_id', 'orderId'],
  ['ordered_on', 'orderedOn'],
  ['due_on', 'dueOn'],
  ['currency', 'currency'],
  ['sent_amount', 'sentAmount'],
  ['net_amount', 'netAmount'],
  ['excluded_amount', 'excludedAmount'],
  ['rate_percent', 'ratePercent'],
  ['rate_from', 'rateFrom'],
  ['terms', 'termsText'],
  ['earned_amount', 'earnedAmount'],
  ['closed_before', 'closedBefore'],
  ['amount', 'amount'],
] as const satisfies readonly (readonly [string, keyof StatementLine])[];

/** Renders all lines as CSV for a spreadsheet. Amounts are exact, with a decimal point. */
export function renderStatementCsv({ lines }: Statement): string {
  return renderTableCsv(
    CSV_COLUMNS.map(([name]) => name),
    lines.map((line) => CSV_COLUMNS.map(([, name]) => line[name] ?? '')),
  );
}

/**
 * Returns the part of a statement that belongs to a brand, a deal, or both; null does not restrict it. Orders
 * that are not counted yet are restricted only by deal.
 */
export function narrowStatement(
  statement: Statement,
  { brandId = null, dealId = null }: { brandId?: string | null; dealId?: string | null },
): Statement {
  const isOfDeal = (of: { readonly dealId: string | null }): boolean => (dealId ?? of.dealId) === of.dealId;
  return {
    ...statement,
    lines: statement.lines.filter((line) => (brandId ?? line.brandId) === line.brandId && isOfDeal(line)),
    uncounted: statement.uncounted.filter(isOfDeal),
    carried: statement.carried.filter(isOfDeal),
    held: statement.held.filter(isOfDeal),
    unknownFees: statement.unknownFees.filter(isOfDeal),
  };
}
