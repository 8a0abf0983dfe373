import type { SeedProblem, SeedRow } from '../../../core/backfill.ts';
import type { MoneyFormat } from '../../../core/layout.ts';
import { maskAddresses } from '../../../core/text/mask-addresses.ts';
import { foldPlatform, orderKey } from '../../../core/text/order-key.ts';
import type { Fault } from '../../map/fault.ts';
import { currencyParser } from '../../values/parse-currency.ts';
import { type IdParser, parseId } from '../../values/parse-id.ts';
import { parseMoneyIn } from '../../values/parse-money.ts';

const REQUIRED = ['order_platform', 'order_id'] as const;
const COLUMNS = [...REQUIRED, 'amount', 'currency', 'deal_id', 'collab_id', 'reason'] as const;
type SeedColumn = (typeof COLUMNS)[number];

/** Seed files are written by a person or a query, with a plain decimal point. */
const MONEY: MoneyFormat = { decimal: '.', thousands: null, symbols: false };
const MAX_REASON_CHARS = 500;

/** The platform of a source, and how its layout finds the order id in a cell. */
export type SeededPlatform = { readonly orderPlatform: string; readonly orderIdOf: IdParser };

type ReadCell = (column: SeedColumn) => string;

type SeedLines = {
  readonly lines: readonly { readonly record: readonly string[]; readonly line: number }[];
  readonly problems: readonly SeedProblem[];
};

export type ParsedSeeds = { readonly rows: readonly SeedRow[]; readonly problems: readonly SeedProblem[] };

/**
 * Parses the rows of a seed file of orders that were credited elsewhere: order_platform, order_id, and
 * optionally amount, currency, deal_id, collab_id, reason.
 *
 * @param file its rows, header first, and the rows that cannot be read.
 * @param platforms the platforms of the sources. A row with another platform would protect no order, so it is
 * a problem. An id is written as an export of its platform writes it, or as it is stored.
 */
export function parseSeeds(file: SeedLines, platforms: readonly SeededPlatform[]): ParsedSeeds {
  const problems: SeedProblem[] = [...file.problems];
  const [header, ...lines] = file.lines;
  const names = (header?.record ?? []).map((name) => name.trim().toLowerCase());
  problems.push(...headerProblems(names));
  if (problems.some(({ line }) => line === 1)) return { rows: [], problems };
  const readCurrency = currencyParser(null);
  const known = new Map<string, number>();
  const rows: SeedRow[] = [];
  for (const { record, line } of lines) {
    const cell: ReadCell = (column) => (record[names.indexOf(column)] ?? '').trim();
    const row = readRow(cell, { line, platforms, readCurrency });
    if ('help' in row) {
      problems.push(row);
      continue;
    }
    const key = orderKey(row.orderPlatform, row.orderId);
    const before = known.get(key);
    if (before === undefined) rows.push(row);
    else
      problems.push(
        problem(line, 'order_id', `The order is already on line ${before}.`, 'Keep one of the two rows.'),
      );
    known.set(key, before ?? line);
  }
  return { rows, problems };
}

function headerProblems(names: readonly string[]): readonly SeedProblem[] {
  const help = `The first line names the columns: ${COLUMNS.join(',')}; the first two must be there.`;
  const missing = REQUIRED.filter((name) => !names.includes(name));
  const unknown = names.filter((name) => name !== '' && !(COLUMNS as readonly string[]).includes(name));
  const twice = COLUMNS.filter((name) => names.indexOf(name) !== names.lastIndexOf(name));
  return [
    ...missing.map((name) => problem(1, name, 'The column is missing.', help)),
    ...unknown.map((name) => problem(1, maskAddresses(name), 'The column is unknown.', help)),
    ...twice.map((name) => problem(1, name, 'The column appears twice.', 'Remove one of them.')),
  ];
}

function readRow(
  cell: ReadCell,
  options: {
    readonly line: number;
    readonly platforms: readonly SeededPlatform[];
    readonly readCurrency: (text: string) => string | Fault;
  },
): SeedRow | SeedProblem {
  const { line, platforms, readCurrency } = options;
  const platform = foldPlatform(cell('order_platform'));
  const known = platforms.filter((one) => foldPlatform(one.orderPlatform) === platform);
  const orderPlatform = known[0]?.orderPlatform;
  if (orderPlatform === undefined) {
    const names = new Set(platforms.map((one) => one.orderPlatform));
    const help = `Write one of: ${[...names].join(', ')}.`;
    return problem(
      line,
      'order_platform',
      'No source has this order_platform, so the row would protect no order.',
      help,
    );
  }
  const written = parseId(cell('order_id'));
  const parts = known.map(({ orderIdOf }) => orderIdOf(cell('order_id')));
  const orderId = parts.find((part) => typeof part === 'string' && part !== written) ?? written;
  if (typeof orderId !== 'string') return faultAt(line, 'order_id', orderId);
  const sum = cell('amount');
  const currency = cell('currency') === '' && sum === '' ? null : readCurrency(cell('currency'));
  if (currency !== null && typeof currency !== 'string') return faultAt(line, 'currency', currency);
  const amount = currency === null || sum === '' ? null : parseMoneyIn(currency, sum, MONEY);
  if (amount !== null && typeof amount !== 'string') return faultAt(line, 'amount', amount);
  return {
    line,
    orderPlatform,
    orderId,
    amount,
    currency,
    dealId: cell('deal_id') || null,
    collabId: cell('collab_id') || null,
    reason: maskAddresses(cell('reason').slice(0, MAX_REASON_CHARS)) || null,
  };
}

function faultAt(line: number, column: string, { reason, help }: Fault): SeedProblem {
  return problem(line, column, reason, help);
}

function problem(line: number, column: string | null, reason: string, help: string): SeedProblem {
  return { line, column, reason, help };
}
