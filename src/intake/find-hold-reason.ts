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

/** Why a file that was read whole must be kept back; null when nothing speaks against it. */
export async function findHoldReason(
  trx: Transaction<DB>,
  options: {
    readonly sourceFileId: string;
    readonly rowsRead: number;
    readonly totals: FileTotals;
    readonly thresholds: Thresholds;
  },
): Promise<HoldReason | null> {
  const { sourceFileId, rowsRead, totals, thresholds } = options;
  const accounted = totals.orderRows + totals.rejectedRows;
  if (accounted !== rowsRead) {
    return {
      code: 'rows_do_not_add_up',
      message: `${rowsRead} rows were read, but ${accounted} are accounted for (${totals.orderRows} in orders, ${totals.rejectedRows} rejected).`,
      help: 'Read the file again with --file. If it stays so, this is a fault of the program: report it.',
    };
  }
  if (rowsRead >= MIN_FOR_SHARE && totals.rejectedRows > rowsRead * thresholds.maxRejectedShare) {
    return {
      code: 'too_many_rejected',
      message: `${totals.rejectedRows} of ${rowsRead} rows can't be used, more than the allowed ${percent(thresholds.maxRejectedShare)}. ${await describeCommonest(trx, sourceFileId)}`,
      help: 'Mend the export or its layout; or raise max_rejected_share of the source.',
    };
  }
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
