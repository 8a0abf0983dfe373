import { sql, type Transaction } from 'kysely';
import type { Database } from '../../db/connect.ts';
import type { DB } from '../../db/tables.ts';
import type { OrderIdColumn } from '../../model/order.ts';
import { type FileTotals, findHoldReason, type Thresholds } from '../files/find-hold-reason.ts';
import { type SealedRead, type SealReadOptions, sealRead } from '../files/seal-read.ts';
import { countStaged } from './count-staged.ts';
import { judgeOrderIds } from './judge-order-ids.ts';
import { rejectContradictions } from './reject-contradictions.ts';
import { settleContinuations } from './settle-continuations.ts';
import { settleRepeats } from './settle-repeats.ts';
import { dropEqualVersions, switchVersions } from './switch-versions.ts';

export type SealFileOptions = SealReadOptions & {
  /** As given to the stager. */
  readonly sums: boolean;
  readonly thresholds: Thresholds;
  /** By what the file's orders are named, as `mapOrders` tells; not known when left out. */
  readonly orderIdColumn?: OrderIdColumn;
};

const UNKNOWN_COLUMN: OrderIdColumn = { name: null, isFallback: false };

export type SealedFile = SealedRead<SealedTotals>;

export type SealedTotals = {
  readonly ordersNew: number;
  readonly ordersChanged: number;
  readonly ordersUnchanged: number;
  readonly orderRows: number;
  readonly rejectedRows: number;
};

/** Seals a file that was read for its orders: only when its rows add up and the thresholds hold. */
export function sealFile(db: Database, options: SealFileOptions): Promise<SealedFile> {
  const { sourceFileId } = options;
  return sealRead<FileTotals>(db, options, {
    settle: (trx) => settle(trx, options),
    findHoldReason: async (trx, totals) =>
      (await findHoldReason(trx, { ...options, totals })) ??
      (await judgeOrderIds(trx, { sourceFileId, orderIdColumn: options.orderIdColumn ?? UNKNOWN_COLUMN })),
    publish: async (trx, totals) => {
      if (totals.ordersChanged > 0) await switchVersions(trx, sourceFileId);
      for (const table of ['order_continuations', 'order_sightings'])
        await sql`delete from ${sql.table(`intake.${table}`)} where source_file_id = ${sourceFileId}::bigint`.execute(
          trx,
        );
      const { name } = options.orderIdColumn ?? UNKNOWN_COLUMN;
      return {
        ...(name === null ? {} : { order_id_column: name }),
        orders_new: totals.ordersNew,
        orders_changed: totals.ordersChanged,
        orders_unchanged: totals.ordersUnchanged,
        order_rows: totals.orderRows,
        rejected_rows: totals.rejectedRows,
      };
    },
  });
}

/** Settles what only the whole file can tell, and counts. */
async function settle(trx: Transaction<DB>, options: SealFileOptions): Promise<FileTotals> {
  const { sourceFileId } = options;
  const knownRows = await settleContinuations(trx, options);
  const repeats = await settleRepeats(trx, options);
  const { expected } = options.thresholds;
  const staged = await countStaged(trx, { sourceFileId, expected });
  const contradictions =
    staged.conflicting > 0
      ? await rejectContradictions(trx, options)
      : { new: 0, changed: 0, cancelled: 0, rows: 0 };
  const changed = staged.changed - contradictions.changed;
  const dropped = changed > 0 ? await dropEqualVersions(trx, sourceFileId) : 0;
  const { rows } = await sql<{ rows: string }>`
    select coalesce(sum(row_count), 0) as rows from intake.rejected_rows where source_file_id = ${sourceFileId}::bigint`.execute(
    trx,
  );
  return {
    ordersNew: staged.new - contradictions.new,
    ordersChanged: changed - dropped,
    ordersUnchanged: staged.unchanged - repeats.orders + dropped,
    cancelled: staged.cancelled - contradictions.cancelled,
    alike: staged,
    orderRows: staged.stagedRows - contradictions.rows + staged.unchangedRows - repeats.rows + knownRows,
    rejectedRows: Number(rows[0]?.rows ?? 0),
  };
}
