import { addUp, formatMoney, formatNumber } from '../../core/money.ts';
import type { DecimalText } from '../../core/order.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import type { ConvertedTotal } from '../../money/convert-lines.ts';
import type {
  HeldOrders,
  Statement,
  StatementLine,
  UncountedOrders,
  UnknownFee,
} from '../../money/statement.ts';
import type { Block, Part } from '../../render/block.ts';
import { renderTableCsv } from '../../render/csv.ts';
import type { Column } from '../../render/table.ts';
import { plural } from '../../render/text.ts';
import { countOrders, describeToPay, HELD, UNCOUNTED, UNKNOWN_FEES } from './uncounted.ts';

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
  const { lines, closed, month, uncounted, held, unknownFees, returnWindowDays } = statement;
  return [
    { kind: 'text', text: describeState(statement) },
    lines.length === 0
      ? { kind: 'text', text: 'No order counts in this month, and there is nothing to correct.', tone: 'dim' }
      : {
          kind: 'section',
          title: 'To pay',
          note: describeToPay(lines, statement),
          parts: [dealsTable(lines)],
          help: 'Commission is a share of the revenue net of refunds, cancellations and excluded products. A correction is the difference to what an earlier statement said about an order.',
        },
    ...(total !== null && lines.length > 0 ? [{ kind: 'text', text: describeTotal(total) } as const] : []),
    ...(showsLines && lines.length > 0
      ? [{ kind: 'section', title: 'Lines', count: lines.length, parts: [linesTable(lines)] } as const]
      : []),
    ...UNCOUNTED.flatMap(({ why, title, text, help }): readonly Block[] => {
      const orders = uncounted.filter((one) => one.why === why);
      if (orders.length === 0) return [];
      return [
        {
          kind: 'section',
          ...{ title, note: plural(countOrders(orders), 'order') },
          ...(why === 'pending' ? {} : { tone: 'alarm' as const }),
          why: text(returnWindowDays),
          parts: [uncountedTable(orders)],
          ...(help === null ? {} : { help }),
        },
      ];
    }),
    ...(unknownFees.length > 0
      ? [
          {
            kind: 'section',
            tone: 'alarm',
            ...UNKNOWN_FEES,
            note: plural(unknownFees.length, 'fee'),
            parts: [unknownFeesTable(unknownFees)],
          } as const,
        ]
      : []),
    ...(held.length > 0
      ? [
          {
            kind: 'section',
            tone: 'alarm',
            ...HELD,
            note: plural(countOrders(held), 'order'),
            parts: [heldTable(held)],
          } as const,
        ]
      : []),
    ...(closed === null && lines.length > 0
      ? [
          {
            kind: 'text',
            text: 'To freeze the statement once the month is over:',
            tone: 'dim',
            commands: {
              lines: [`npx influencer-sync statement close --month ${month} --reason '…'`],
            },
          } as const,
        ]
      : []),
  ];
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

const RIGHT = { align: 'right' } as const;

function dealsTable(lines: readonly StatementLine[]): Part {
  const groups = Map.groupBy(lines, ({ dealId, currency }) => JSON.stringify([dealId, currency]));
  const rows = [...groups.values()].map((group) => {
    const [first] = group;
    const currency = first?.currency ?? '';
    const of = (kind: StatementLine['kind']) => group.filter((line) => line.kind === kind);
    const sum = (some: readonly StatementLine[]): string =>
      some.length === 0 ? '' : formatNumber(addUp(some));
    const net = of('order').flatMap(({ netAmount }) =>
      netAmount === null ? [] : [{ amount: netAmount, currency }],
    );
    return [
      first?.dealId ?? '',
      group.find(({ influencerHandle }) => influencerHandle !== null)?.influencerHandle ?? '',
      String(of('order').length),
      net.length === 0 ? '' : formatNumber(addUp(net)),
      sum(of('order')),
      sum(of('correction')),
      sum(of('fixed_fee')),
      formatMoney(addUp(group).amount, currency),
    ];
  });
  const columns: readonly Column[] = [
    { title: 'deal', cutAt: 'never' },
    { title: 'influencer' },
    { title: 'orders', ...RIGHT },
    { title: 'net revenue', ...RIGHT },
    { title: 'commission', ...RIGHT },
    { title: 'corrections', ...RIGHT },
    { title: 'fees', ...RIGHT },
    { title: 'to pay', ...RIGHT },
  ];
  return { kind: 'table', columns, rows };
}

function linesTable(lines: readonly StatementLine[]): Part {
  const columns: readonly Column[] = [
    { title: 'deal', cutAt: 'never' },
    { title: 'day', cutAt: 'never' },
    { title: 'order', cutAt: 'never' },
    { title: 'net revenue', ...RIGHT },
    { title: 'excluded', ...RIGHT },
    { title: 'rate', ...RIGHT },
    { title: 'earned', ...RIGHT },
    { title: 'before', ...RIGHT },
    { title: 'adds', ...RIGHT },
  ];
  // With a single deal, its id is shown above the table. Blank cells make the table omit the column.
  const isOneDeal = new Set(lines.map(({ dealId }) => dealId)).size === 1;
  const rows = lines.map((line) => [
    isOneDeal ? '' : (line.dealId ?? ''),
    line.orderedOn ?? line.dueOn,
    describeLine(line),
    numberOf(line.netAmount, line),
    numberOf(line.excludedAmount, line),
    line.ratePercent === null ? '' : `${line.ratePercent} %`,
    numberOf(line.earnedAmount, line),
    numberOf(line.closedBefore, line),
    formatMoney(line.amount, line.currency),
  ]);
  return { kind: 'table', columns, rows };
}

function numberOf(amount: DecimalText | null, { currency }: StatementLine): string {
  return amount === null ? '' : formatNumber({ amount, currency });
}

function describeLine({ kind, orderId }: StatementLine): string {
  const subject = orderId ?? 'fixed fee';
  return kind === 'correction' ? `${subject}, corrected` : subject;
}

function uncountedTable(uncounted: readonly UncountedOrders[]): Part {
  const columns: readonly Column[] = [
    { title: 'deal', cutAt: 'never' },
    { title: 'influencer' },
    { title: 'orders', ...RIGHT },
    { title: 'net revenue', ...RIGHT },
    { title: 'would earn', ...RIGHT },
  ];
  const rows = uncounted.map(({ dealId, influencerHandle, orders, netAmount, earnedAmount, currency }) => [
    dealId ?? '',
    influencerHandle ?? '',
    String(orders),
    netAmount === null ? 'unknown' : formatMoney(netAmount, currency),
    earnedAmount === null ? 'unknown' : formatMoney(earnedAmount, currency),
  ]);
  return { kind: 'table', columns, rows };
}

function heldTable(held: readonly HeldOrders[]): Part {
  const columns: readonly Column[] = [
    { title: 'deal', cutAt: 'never' },
    { title: 'orders', ...RIGHT },
    { title: 'sent', ...RIGHT },
  ];
  const rows = held.map(({ dealId, orders, sentAmount, currency }) => [
    ...[dealId ?? '', String(orders), formatMoney(sentAmount, currency)],
  ]);
  return { kind: 'table', columns, rows };
}

function unknownFeesTable(fees: readonly UnknownFee[]): Part {
  const columns: readonly Column[] = [
    { title: 'deal or code', cutAt: 'never' },
    { title: 'owed from' },
    { title: 'fee', ...RIGHT },
  ];
  const rows = fees.map(({ dealId, code, dueOn, amount, currency }) => [
    ...[dealId ?? `code ${code ?? ''}`, dueOn, formatMoney(amount, currency)],
  ]);
  return { kind: 'table', columns, rows };
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
  { brandId = null, dealId = null }: { readonly brandId?: string | null; readonly dealId?: string | null },
): Statement {
  const isOfDeal = (of: { readonly dealId: string | null }): boolean => (dealId ?? of.dealId) === of.dealId;
  return {
    ...statement,
    lines: statement.lines.filter((line) => (brandId ?? line.brandId) === line.brandId && isOfDeal(line)),
    uncounted: statement.uncounted.filter(isOfDeal),
    held: statement.held.filter(isOfDeal),
    unknownFees: statement.unknownFees.filter(isOfDeal),
  };
}
