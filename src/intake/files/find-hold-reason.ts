import { sql, type Transaction } from 'kysely';
import type { DB } from '../../db/tables.ts';
import type { OptionalColumn, OptionalField } from '../../model/customer.ts';
import type { HoldReason } from '../../model/source.ts';
import { toPrintableLine } from '../../model/text/printable.ts';
import { type ExpectedOrders, isUnlisted, type StagedFile } from '../orders/count-staged.ts';
import type { SealedTotals } from '../orders/seal-file.ts';

export type Thresholds = {
  /** Name of the source, used for the path of its settings in messages. */
  readonly source: string;
  /** The file is held if a larger share of its rows is rejected; 0 to 1. */
  readonly maxRejectedShare: number;
  /** The file is held if a larger share of its orders is cancelled; 0 to 1. */
  readonly maxCancelledShare: number;
  /** The file is held if at least this share of credited orders has no revenue; 1: never. */
  readonly maxZeroRevenueShare: number;
  /**
   * The file is held if at least this share of orders has a status or a currency that is not expected; 1:
   * never.
   */
  readonly maxUnlistedShare: number;
  readonly expected: ExpectedOrders;
};

export type FileTotals = SealedTotals & {
  readonly cancelled: number;
  /** Counts of new and changed orders that share a property which makes a file suspect. */
  readonly alike: Pick<StagedFile, 'open' | 'unlistedStatus' | 'otherCurrency' | 'credited' | 'zeroRevenue'>;
};

/** Minimum number of rows for judging shares. A share of a handful of rows is not significant. */
const MIN_FOR_SHARE = 20;

/**
 * Minimum number of orders for judging what nearly all of them have in common: this many are no coincidence.
 * Lower than `MIN_FOR_SHARE`, because no other check covers such small files.
 */
const MIN_ALIKE = 10;

/** Returns the reason to hold a file that was read completely for its orders, or null if there is none. */
export async function findHoldReason(
  trx: Transaction<DB>,
  options: {
    readonly sourceFileId: string;
    readonly rowsRead: number;
    readonly totals: FileTotals;
    readonly thresholds: Thresholds;
  },
): Promise<HoldReason | null> {
  const { totals, thresholds } = options;
  const { maxRejectedShare, source } = thresholds;
  const rows = { used: totals.orderRows, usedAs: 'in orders', rejected: totals.rejectedRows };
  const reason = await judgeRows(trx, { ...options, ...rows, maxRejectedShare, source });
  if (reason !== null) return reason;
  const { ordersNew, ordersChanged, ordersUnchanged, ordersOlder } = totals;
  const orders = ordersNew + ordersChanged + ordersUnchanged + ordersOlder;
  if (orders >= MIN_FOR_SHARE && totals.cancelled > orders * thresholds.maxCancelledShare) {
    return {
      code: 'too_many_cancelled',
      message: `${totals.cancelled} of ${orders} orders are cancelled, more than the allowed ${percent(thresholds.maxCancelledShare)}.`,
      help: `Check the export. If it is correct, raise ${limitOf(source, 'max_cancelled_share')}.`,
    };
  }
  return judgeAlike(trx, options);
}

/**
 * Detects a wrong layout or wrong settings. Such a file can often be read without an error and then credits
 * nothing: its amounts come from another column, or its statuses are in another language. Nearly all of its
 * orders then have the same problem.
 */
async function judgeAlike(
  trx: Transaction<DB>,
  {
    sourceFileId,
    totals: { alike },
    thresholds,
  }: {
    readonly sourceFileId: string;
    readonly totals: FileTotals;
    readonly thresholds: Thresholds;
  },
): Promise<HoldReason | null> {
  const { source, expected, maxZeroRevenueShare, maxUnlistedShare } = thresholds;
  if (isShare(alike.unlistedStatus, alike.open, maxUnlistedShare)) {
    const words = await commonestStatus(trx, { sourceFileId, expected, unlisted: alike.unlistedStatus });
    return {
      code: 'unlisted_status',
      message: `${alike.unlistedStatus} of ${alike.open} orders have a status that neither the layout nor the job names${words}. None of them would be credited.`,
      help: `If these orders count, add the status to include of the job. If they do not, add it to status.known of the layout. To read such files anyway, set ${limitOf(source, 'max_unlisted_share')}: 1.`,
    };
  }
  if (isShare(alike.otherCurrency, alike.open, maxUnlistedShare)) {
    return {
      code: 'other_currency',
      message: `${alike.otherCurrency} of ${alike.open} orders are in another currency than ${expected.currency ?? ''}, which the source gives.`,
      help: `Check that the file belongs to this source. If its shop sells in several currencies, remove currency from sources.${source}, or set ${limitOf(source, 'max_unlisted_share')}: 1.`,
    };
  }
  if (isShare(alike.zeroRevenue, alike.credited, maxZeroRevenueShare)) {
    return {
      code: 'zero_revenue',
      message: `${alike.zeroRevenue} of ${alike.credited} orders to be credited have no ${expected.revenue} (0 or blank). They would credit nothing.`,
      help: `Check which column the layout reads as ${expected.revenue}, and the revenue setting of the job. If these orders are really free of charge, set ${limitOf(source, 'max_zero_revenue_share')}: 1.`,
    };
  }
  return null;
}

function isShare(some: number, all: number, limit: number): boolean {
  return all >= MIN_ALIKE && limit < 1 && some > 0 && some >= all * limit;
}

/**
 * Describes the most common statuses for a message. Statuses with a small share are left out: many different
 * words are probably not statuses.
 */
async function commonestStatus(
  trx: Transaction<DB>,
  {
    sourceFileId,
    expected,
    unlisted,
  }: {
    readonly sourceFileId: string;
    readonly expected: ExpectedOrders;
    readonly unlisted: number;
  },
): Promise<string> {
  const { rows } = await sql<{ status: string; orders: string }>`
    select status, count(*) as orders from intake.orders
    where source_file_id = ${sourceFileId}::bigint and exclusion is null and ${isUnlisted(expected.listed)}
    group by status order by count(*) desc, status limit 3`.execute(trx);
  const shown = rows.filter(({ orders }) => Number(orders) >= unlisted / 4);
  return shown.length === 0 ? '' : ` (${shown.map(({ status }) => `"${status}"`).join(', ')})`;
}

/** Returns the path of a limit in the configuration. */
function limitOf(source: string, limit: string): string {
  return `sources.${source}.limits.${limit}`;
}

/**
 * Returns the reason to hold a file, whatever it was read for: its rows do not add up, or too many of them
 * are unusable.
 */
export async function judgeRows(
  trx: Transaction<DB>,
  options: {
    readonly sourceFileId: string;
    readonly rowsRead: number;
    readonly used: number;
    /** What the used rows became, for messages, for example `in orders`. */
    readonly usedAs: string;
    readonly rejected: number;
    readonly maxRejectedShare: number;
    /** Name of the source. */
    readonly source: string;
  },
): Promise<HoldReason | null> {
  const { sourceFileId, rowsRead, used, usedAs, rejected, maxRejectedShare, source } = options;
  if (used + rejected !== rowsRead) {
    return {
      code: 'rows_do_not_add_up',
      message: `${rowsRead} rows were read, but ${used + rejected} are accounted for (${used} ${usedAs}, ${rejected} rejected).`,
      help: 'Read the file again with --file. If the error persists, it is a bug: please report it.',
    };
  }
  if (rowsRead >= MIN_FOR_SHARE && rejected > rowsRead * maxRejectedShare) {
    return {
      code: 'too_many_rejected',
      message: `${rejected} of ${rowsRead} rows cannot be used, more than the allowed ${percent(maxRejectedShare)}. ${await describeCommonest(trx, sourceFileId)}`,
      help: `Correct the export or its layout. If the rest of the file is correct, raise ${limitOf(source, 'max_rejected_share')}.`,
    };
  }
  return null;
}

/**
 * Returns the reason to hold a file of customers although every row can be used: too many cells in a column
 * that only look-ups need cannot be read. A single such cell does not reject its row. Many of them indicate
 * another column or another format, and conditions such as `min_spent` would then select no customer.
 */
export function judgeOptionalColumns(
  columns: readonly OptionalColumn[],
  { source, maxUnreadableShare }: { readonly source: string; readonly maxUnreadableShare: number },
): HoldReason | null {
  for (const { column, holds, filled, unreadable, firstUnreadableLine } of columns) {
    if (filled < MIN_FOR_SHARE || unreadable <= filled * maxUnreadableShare) continue;
    const { what, check } = OPTIONAL[holds];
    return {
      code: 'unreadable_column',
      message: `${unreadable} of ${filled} cells in the column "${toPrintableLine(column)}" cannot be read as ${what}, more than the allowed ${percent(maxUnreadableShare)}. The first of them is on line ${firstUnreadableLine}.`,
      help: `${check} To read such files anyway, with these cells as blank, set ${limitOf(source, 'max_unreadable_share')}: 1.`,
    };
  }
  return null;
}

/** What the cells should contain, and what to check if they do not. */
const OPTIONAL: Readonly<Record<OptionalField, { readonly what: string; readonly check: string }>> = {
  orders_count: {
    what: 'a number of orders',
    check: 'Check which column the layout reads as columns.orders_count.',
  },
  spent: {
    what: 'an amount of money',
    check:
      'Check which column the layout reads as columns.spent, and how the layout writes amounts (money.decimal, money.thousands, money.symbols).',
  },
  currency: {
    what: 'a currency code of ISO 4217',
    check: 'Check which column the layout reads as columns.currency.',
  },
};

/**
 * Describes the most common rejection. The rejected rows of a held file are cleared, so the reason must say
 * where to look.
 */
async function describeCommonest(trx: Transaction<DB>, sourceFileId: string): Promise<string> {
  const { rows } = await sql<{ code: string; column_name: string | null; rows: string; line_no: string }>`
    select code, column_name, sum(row_count) as rows, min(line_no) as line_no from intake.rejected_rows
    where source_file_id = ${sourceFileId}::bigint group by code, column_name order by sum(row_count) desc, code limit 1`.execute(
    trx,
  );
  const [row] = rows;
  if (row === undefined) return '';
  const column = row.column_name === null ? '' : ` in column ${row.column_name}`;
  return `Most common: ${row.code}${column}, ${row.rows} rows, first on line ${row.line_no}.`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}
