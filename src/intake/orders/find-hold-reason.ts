import type { Transaction } from 'kysely';
import type { HoldReason } from '../../core/source.ts';
import { formatCount, plural } from '../../core/text/plural.ts';
import { rowsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { judgeRows, limitOf, MIN_FOR_SHARE, percent } from '../files/judge-rows.ts';
import { type ExpectedOrders, isUnlisted, type StagedFile } from './count-staged.ts';

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

export type SealedTotals = {
  readonly ordersNew: number;
  readonly ordersChanged: number;
  readonly ordersUnchanged: number;
  /** Orders of which a newer file states something else. */
  readonly ordersOlder: number;
  readonly orderRows: number;
  readonly rejectedRows: number;
};

export type FileTotals = SealedTotals & {
  readonly cancelled: number;
  /** Counts of new and changed orders that share a property which makes a file suspect. */
  readonly alike: Pick<StagedFile, 'open' | 'unlistedStatus' | 'otherCurrency' | 'credited' | 'zeroRevenue'>;
};

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
  return judgeOrders({ ...totals, orders }, { thresholds, listUnlisted: () => listUnlisted(trx, options) });
}

/**
 * Returns the reason to hold a file for what many of its orders have in common. Nearly all of them have the same problem
 * if the layout or the settings are wrong: such a file can often be read without an error and then credits nothing,
 * because its amounts come from another column, or its statuses are in another language.
 *
 * @param listUnlisted lists the unlisted statuses, the commonest first.
 */
export async function judgeOrders(
  { orders, cancelled, alike }: Pick<FileTotals, 'cancelled' | 'alike'> & { readonly orders: number },
  {
    thresholds,
    listUnlisted,
  }: { thresholds: Thresholds; listUnlisted: () => Promise<readonly StatusCount[]> },
): Promise<HoldReason | null> {
  const { source, expected, maxCancelledShare, maxZeroRevenueShare, maxUnlistedShare } = thresholds;
  if (orders >= MIN_FOR_SHARE && cancelled > orders * maxCancelledShare) {
    return {
      code: 'too_many_cancelled',
      message: `${formatCount(cancelled)} of ${plural(orders, 'order')} ${cancelled === 1 ? 'is' : 'are'} cancelled, more than the allowed ${percent(maxCancelledShare)}.`,
      help: `Check the export. If it is correct, raise ${limitOf(source, 'max_cancelled_share')}.`,
    };
  }
  if (isShare(alike.unlistedStatus, alike.open, maxUnlistedShare)) {
    // Those with a small share are left out: many different words are probably not statuses.
    const common = (await listUnlisted()).slice(0, 3).filter((one) => one.orders >= alike.unlistedStatus / 4);
    const words =
      common.length === 0
        ? ''
        : ` (${common.map(({ status }) => (status === null ? 'blank' : `"${status}"`)).join(', ')})`;
    return {
      code: 'unlisted_status',
      message: `${alike.unlistedStatus} of ${plural(alike.open, 'order')} ${alike.unlistedStatus === 1 ? 'has' : 'have'} a status that neither the layout nor the job names${words}. None of them would be credited.`,
      help: `If these orders count, add the status to include of the job. If they do not, add it to status.known of the layout. To read such files anyway, set ${limitOf(source, 'max_unlisted_share')}: 1.`,
    };
  }
  if (isShare(alike.otherCurrency, alike.open, maxUnlistedShare)) {
    return {
      code: 'other_currency',
      message: `${alike.otherCurrency} of ${plural(alike.open, 'order')} ${alike.otherCurrency === 1 ? 'is' : 'are'} in another currency than ${expected.currency ?? ''}, which the source gives.`,
      help: `Check that the file belongs to this source. If its shop sells in several currencies, remove currency from sources.${source}, or set ${limitOf(source, 'max_unlisted_share')}: 1.`,
    };
  }
  if (isShare(alike.zeroRevenue, alike.credited, maxZeroRevenueShare)) {
    return {
      code: 'zero_revenue',
      message: `${alike.zeroRevenue} of ${plural(alike.credited, 'order')} to be credited ${alike.zeroRevenue === 1 ? 'has' : 'have'} no ${expected.revenue} (0 or blank), and would credit nothing.`,
      help: `Check which column the layout reads as ${expected.revenue}, and the revenue setting of the job. If these orders are really free of charge, set ${limitOf(source, 'max_zero_revenue_share')}: 1.`,
    };
  }
  return null;
}

function isShare(some: number, all: number, limit: number): boolean {
  return all >= MIN_ALIKE && limit < 1 && some > 0 && some >= all * limit;
}

type StatusCount = { readonly status: string | null; readonly orders: number };

function listUnlisted(
  trx: Transaction<DB>,
  { sourceFileId, thresholds: { expected } }: { sourceFileId: string; thresholds: Thresholds },
): Promise<readonly StatusCount[]> {
  return rowsOf<StatusCount>(trx)`
    select status, count(*)::float8 as orders from intake.orders
    where source_file_id = ${sourceFileId}::bigint and exclusion is null and ${isUnlisted(expected.listed)}
    group by status order by count(*) desc, status limit 3`;
}
