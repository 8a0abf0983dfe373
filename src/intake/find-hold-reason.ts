import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';
import type { HoldReason } from '../model/source.ts';
import type { SealedTotals } from './seal-file.ts';

export type Thresholds = {
  /** A file with a larger share of rejected rows is held; 0 to 1. */
  readonly maxRejectedShare: number;
  /** A file with a larger share of cancelled orders is held; 0 to 1. */
  readonly maxCancelledShare: number;
};

export type FileTotals = SealedTotals & { readonly cancelled: number };

/** A share says nothing about a handful: smaller files are judged row by row. */
const MIN_FOR_SHARE = 20;

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
  const { maxRejectedShare } = thresholds;
  const rows = { used: totals.orderRows, usedAs: 'in orders', rejected: totals.rejectedRows };
  const reason = await judgeRows(trx, { ...options, ...rows, maxRejectedShare });
  if (reason !== null) return reason;
  const orders = totals.ordersNew + totals.ordersChanged + totals.ordersUnchanged;
  if (orders >= MIN_FOR_SHARE && totals.cancelled > orders * thresholds.maxCancelledShare) {
    return {
      code: 'too_many_cancelled',
      message: `${totals.cancelled} of ${orders} orders are cancelled, more than the allowed ${percent(thresholds.maxCancelledShare)}.`,
      help: 'Check the export; if it is right, raise max_cancelled_share of the source.',
    };
  }
  return null;
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
  },
): Promise<HoldReason | null> {
  const { sourceFileId, rowsRead, used, usedAs, rejected, maxRejectedShare } = options;
  if (used + rejected !== rowsRead) {
    return {
      code: 'rows_do_not_add_up',
      message: `${rowsRead} rows were read, but ${used + rejected} are accounted for (${used} ${usedAs}, ${rejected} rejected).`,
      help: 'Read the file again with --file. If it stays so, this is a fault of the program: report it.',
    };
  }
  if (rowsRead >= MIN_FOR_SHARE && rejected > rowsRead * maxRejectedShare) {
    return {
      code: 'too_many_rejected',
      message: `${rejected} of ${rowsRead} rows can't be used, more than the allowed ${percent(maxRejectedShare)}. ${await describeCommonest(trx, sourceFileId)}`,
      help: 'Mend the export or its layout; or raise max_rejected_share of the source.',
    };
  }
  return null;
}

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
  return `Commonest: ${row.code}${column}, ${row.rows} rows, first on line ${row.line_no}.`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}
