import { sql, type Transaction } from 'kysely';
import type { DB } from '../../db/tables.ts';
import type { OptionalColumn, OptionalField } from '../../model/customer.ts';
import type { HoldReason } from '../../model/source.ts';
import { toPrintableLine } from '../../model/text/printable.ts';
import { type ExpectedOrders, isUnlisted, type StagedFile } from '../orders/count-staged.ts';
import type { SealedTotals } from '../orders/seal-file.ts';

export type Thresholds = {
  /** Name of the source, for the path of its settings in messages. */
  readonly source: string;
  /** A file with a larger share of rejected rows is held; 0 to 1. */
  readonly maxRejectedShare: number;
  /** A file with a larger share of cancelled orders is held; 0 to 1. */
  readonly maxCancelledShare: number;
  /** A file with this share of credited orders without revenue, or more, is held; 1: never. */
  readonly maxZeroRevenueShare: number;
  /** A file with this share of orders in a status or a currency that nothing names, or more, is held; 1: never. */
  readonly maxUnlistedShare: number;
  readonly expected: ExpectedOrders;
};

export type FileTotals = SealedTotals & {
  readonly cancelled: number;
  /** How many of the new and changed orders are alike in what makes a file suspect. */
  readonly alike: Pick<StagedFile, 'open' | 'unlistedStatus' | 'otherCurrency' | 'credited' | 'zeroRevenue'>;
};

/** A share says nothing about a handful: smaller files are judged row by row. */
const MIN_FOR_SHARE = 20;

/** So many orders that are nearly all alike are no accident. Fewer than `MIN_FOR_SHARE`, because nothing else would be said of them. */
const MIN_ALIKE = 10;

/** Why a file that was read whole for its orders must be kept back; null when nothing speaks against it. */
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
  const orders = totals.ordersNew + totals.ordersChanged + totals.ordersUnchanged;
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
 * A file read with the wrong layout or settings is often read without a fault, and then credits nothing: its amounts are those of another
 * column, its statuses are in another language. What nearly all of its orders have in common shows it.
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

/** Names the status where it is one word for nearly all of them; many different ones are no statuses, and are not shown. */
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

/** The setting as a person finds it. */
function limitOf(source: string, limit: string): string {
  return `sources.${source}.limits.${limit}`;
}

/** Why a file must be kept back whatever it was read for: its rows do not add up, or too many are of no use. */
export async function judgeRows(
  trx: Transaction<DB>,
  options: {
    readonly sourceFileId: string;
    readonly rowsRead: number;
    readonly used: number;
    /** What the used ones became, for people: `in orders`. */
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
 * Why a file of customers must be kept back although every row can be used: cells that only look-ups need cannot be read, each of which
 * costs no row. Many of them mean another column, or another format, so conditions such as `min_spent` would find no customer.
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

/** What the cells should be, and where to look when they are not. */
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

/** The rejected rows of a held file are cleared, so its reason says where to look. */
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
