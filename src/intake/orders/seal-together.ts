import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { OrderIdColumn, StagedOrder } from '../../core/order.ts';
import { toArrayParameter, toTextArrayParameter } from '../../db/array-parameters.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { keepsPlan } from '../../db/keeps-plan.ts';
import { settingsForLargeStatements } from '../../db/large-statements.ts';
import { type Database, execute, rowOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import {
  describeFile,
  type FileCheck,
  isUnusual,
  type JudgedFile,
  storeStatistics,
} from '../checks/check-file.ts';
import { measureNewOrders } from '../checks/order-statistics.ts';
import { type NewFiles, openNewFiles } from '../files/begin-file.ts';
import { countNewOrders, type StagedOrders } from './count-staged.ts';
import { findHoldReason, type Thresholds } from './find-hold-reason.ts';
import { otherIdColumn } from './judge-order-ids.ts';
import { toOrderRow } from './order-columns.ts';
import { stageOrders } from './stage-orders.ts';

/*
 * A small file takes eight statements and two commits, however few orders it has, and a source may have
 * thousands of them. So consecutive small files are read together: they are begun, staged, counted, judged and
 * sealed by the statements of one file, in one transaction.
 *
 * Only files about which there is nothing to decide are read so: no version of theirs is known, each of their
 * rows belongs to a new order that is stated once, and nothing about them is unusual. If anything else turns
 * up, the transaction is rolled back, and the files are read one by one (`sealFile`), which gives each the same
 * result as if nothing had been tried. So the rules for everything else exist only once.
 *
 * No other reader sees anything of the files before all are sealed. If one begins a file of theirs at the same
 * time, whoever comes second finds that it is known.
 */

/** A small file that was read completely. All of its rows belong to these orders. */
export type WholeFile = Omit<NewFiles['files'][number], 'reader'> & {
  /** At least one. Each occurs once among all of the files. */
  readonly orders: readonly StagedOrder[];
  readonly rowsRead: number;
  /** SHA-256 of the decoded content. No two of the files have the same. */
  readonly contentSha256: string;
  readonly check: FileCheck;
};

export type SealTogetherOptions = Omit<NewFiles, 'files' | 'readFor'> & {
  readonly thresholds: Thresholds;
  /** The column that identifies the orders of each of the files. */
  readonly orderIdColumn: OrderIdColumn;
  /** In the order in which they are to be read. */
  readonly files: readonly WholeFile[];
};

/** Something about one of the files has to be decided. */
class Undecided extends Error {}

/**
 * Begins, stages and seals several small files in one transaction (T1 in docs/ledger.md, for each of them).
 *
 * @returns the ids of the files. Null if they must be read one by one; nothing was changed then.
 */
export async function sealTogether(
  db: Database,
  options: SealTogetherOptions,
): Promise<readonly string[] | null> {
  try {
    return await inTransaction(db, (trx) => seal(trx, options));
  } catch (error) {
    if (error instanceof Undecided || isRefused(error)) return null;
    throw error;
  }
}

/**
 * True if Postgres refused the rows themselves: SQLSTATE classes data_exception and
 * integrity_constraint_violation. The rows of one file cause this, and the other files are good.
 */
function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code));
}

async function seal(trx: Transaction<DB>, options: SealTogetherOptions): Promise<readonly string[]> {
  const { files, thresholds } = options;
  const ids = await stage(trx, options);
  const counted = (await countNewOrders(trx, ids, thresholds.expected)).filter((file) => file !== undefined);
  if (counted.length < files.length) throw new Undecided();
  const measured = await measureNewOrders(
    trx,
    counted.map(({ new: ordersNew }, place) => ({ sourceFileId: ids[place] ?? '', ordersNew })),
    thresholds.expected.revenue,
  );
  const judged: JudgedFile[] = [];
  for (const [place, { check, rowsRead }] of files.entries()) {
    const [sourceFileId, staged, statistics] = [ids[place], counted[place], measured[place]];
    if (sourceFileId === undefined || staged === undefined || statistics === undefined) throw new Undecided();
    const { new: ordersNew, stagedRows: orderRows, cancelled } = staged;
    const totals = {
      ordersNew,
      ordersChanged: 0,
      ordersUnchanged: 0,
      ordersOlder: 0,
      orderRows,
      rejectedRows: 0,
      cancelled,
      alike: staged,
    };
    const reason = await findHoldReason(trx, { sourceFileId, rowsRead, totals, thresholds });
    if (reason !== null) throw new Undecided();
    const seen = describeFile(
      check,
      { sourceFileId, rowsRead },
      { rejectedRows: 0, orders: statistics, consent: null },
    );
    const results = check.judge(seen, { isReread: false });
    if (results.some(isUnusual)) throw new Undecided();
    judged.push({ seen, results });
  }
  await markSealed(trx, options, { ids, counted });
  await storeStatistics(trx, judged);
  return ids;
}

/**
 * Opens the files, stages their orders, and sets up the transaction.
 *
 * @returns the ids of the files.
 * @throws Undecided if a file is known, a reading was left behind, or an order is known.
 */
async function stage(trx: Transaction<DB>, options: SealTogetherOptions): Promise<readonly string[]> {
  const files = options.files.map((file) => ({ ...file, reader: randomUUID() }));
  const ids = await openNewFiles(trx, { ...options, files });
  if (ids === null || (await hasToDecide(trx, options))) throw new Undecided();
  const staged = await stageOrders(trx, {
    files: files.map(({ reader, orders }, place) => {
      return { sourceFileId: ids[place] ?? '', reader, orders: orders.map(toOrderRow) };
    }),
    sums: false,
  });
  const orders = files.reduce((sum, file) => sum + file.orders.length, 0);
  if (staged === null || staged.new < orders) throw new Undecided();
  return ids;
}

/**
 * Sets up the transaction, and tells whether a content was read under another name, a row about one of the orders was
 * rejected, or earlier files identified their orders otherwise.
 */
async function hasToDecide(
  trx: Transaction<DB>,
  { source, files, orderIdColumn }: SealTogetherOptions,
): Promise<boolean> {
  const orders = files.flatMap((file) => file.orders);
  const ids = toTextArrayParameter(orders.map(({ orderId }) => orderId));
  const names = toTextArrayParameter(orders.map(({ orderName, groupKey }) => orderName ?? groupKey));
  const found = await rowOf<{ hasToDecide: boolean }>(trx)`
    select ${settingsForLargeStatements({ isDurable: true })},
      exists (
        select from unnest(${toTextArrayParameter(files.map(({ contentSha256 }) => contentSha256))}::text[]) as g(digest)
        cross join lateral (
          select 1 from intake.source_files
          where source = ${source} and read_for = 'orders' and content_sha256 = g.digest and state = 'sealed'
            and superseded_by is null
          limit 1) original
      ) or exists (
        select from intake.rejected_rows r join intake.source_files f on f.source_file_id = r.source_file_id
        where f.source = ${source}
          and (r.order_id = any(${ids}::text[])
            or (r.order_id is null and r.order_name = any(${names}::text[])))
      )
        or ${otherIdColumn(sql`select ${source}::text as source`, orderIdColumn)} is not null as "hasToDecide"
          ${keepsPlan}`;
  return found?.hasToDecide !== false;
}

/** Marks the files as sealed. No other session could see them before. */
async function markSealed(
  trx: Transaction<DB>,
  { orderIdColumn, files }: SealTogetherOptions,
  { ids, counted }: { ids: readonly string[]; counted: readonly StagedOrders[] },
): Promise<void> {
  const given = toArrayParameter(ids);
  await execute(trx)`
    update intake.source_files f
    set state = 'sealed', reader = null, sealed_at = now(), content_sha256 = g.content_sha256,
      order_id_column = ${orderIdColumn.name}, rows_read = g.rows_read, orders_new = g.orders_new,
      order_rows = g.order_rows
    from unnest(${given}::bigint[],
      ${toTextArrayParameter(files.map(({ contentSha256 }) => contentSha256))}::text[],
      ${toArrayParameter(files.map(({ rowsRead }) => rowsRead))}::bigint[],
      ${toArrayParameter(counted.map((staged) => staged.new))}::bigint[],
      ${toArrayParameter(counted.map(({ stagedRows }) => stagedRows))}::bigint[])
      as g(source_file_id, content_sha256, rows_read, orders_new, order_rows)
    where f.source_file_id = g.source_file_id and f.source_file_id = any(${given}::bigint[]) ${keepsPlan}`;
}
