import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import type { DB } from '../db/tables.ts';
import { addUpDays } from './add-up-days.ts';
import { beginPartitionStep, beginStep } from './begin-step.ts';
import { countAccepted } from './count-accepted.ts';
import {
  type ChangedFile,
  countFiles,
  inSteps,
  listChangedFiles,
  openOrders,
  ordersOfFile,
  ordersOfFiles,
} from './orders-to-refresh.ts';
import { inPartitions, isDayOf, type Partition } from './partitions.ts';
import { type Page, refreshPage } from './refresh-page.ts';

export type RefreshOptions = {
  readonly job: string;
  /** Orders per step; a step is one commit. */
  readonly stepOrders?: number;
  /**
   * Called after each step with the number of orders that it compared. If it throws, the refresh ends between
   * two steps.
   */
  readonly onStep?: (orders: number) => void;
};

export type Refreshed = {
  /** Number of orders whose disposition changed. */
  readonly orders: number;
  /** Number of days whose sums were recalculated. */
  readonly days: number;
};

/** A step of this size takes a second or less. */
const STEP_ORDERS = 20_000;
const STEP_DAYS = 31;

/**
 * Updates schema `reporting` with the decisions of one job and the records of the ledger. It works in bounded
 * steps: first it updates dispositions and marks their days, then it recalculates the sums of those days. Two
 * sessions share the orders of a large file, and many days (partitions.ts). Every other step runs alone.
 *
 * It finds changes by comparison, not by time: files whose decisions differ from those it has counted, and
 * orders that were open at the last refresh. A file counts once it was compared completely, and a day stays
 * marked until it was summed. So a refresh can be interrupted anywhere, and the next one does the rest. Until
 * then, `order_dispositions` may be ahead of the sums.
 */
export async function refreshReporting(db: Database, options: RefreshOptions): Promise<Refreshed> {
  const { onStep = () => {} } = options;
  const orders = await refreshOrders(db, { stepOrders: STEP_ORDERS, ...options, onStep });
  const days = await refreshDays(db, onStep);
  // A plan is a single transaction. It posts nothing, so it has nothing to count.
  if (!db.isTransaction) await countAccepted(db);
  return { orders, days };
}

/** @returns how many dispositions changed. */
async function refreshOrders(
  db: Database,
  { job, stepOrders, onStep }: Required<RefreshOptions>,
): Promise<number> {
  let changed = 0;
  function note(page: Page): void {
    changed += page.changed;
    onStep(page.seen);
  }
  for (let after = { source: '', orderId: '' }, isOver = false; !isOver; ) {
    const page = await inStep(db, (trx) =>
      refreshPage(trx, { job, limit: stepOrders, orders: openOrders(job, after) }),
    );
    note(page);
    isOver = page.isLast;
    after = { source: page.lastSource, orderId: page.lastId };
  }
  for (const files of inSteps(await listChangedFiles(db, job), stepOrders)) {
    const [file] = files;
    if (file.orders >= stepOrders) {
      await refreshFile(db, { job, file, stepOrders, onPage: note });
      await inStep(db, (trx) => countFiles(trx, { job, files }));
      continue;
    }
    const page = await inStep(db, async (trx) => {
      await countFiles(trx, { job, files });
      return refreshPage(trx, { job, limit: null, orders: ordersOfFiles(files) });
    });
    note(page);
  }
  return changed;
}

/** Compares the orders of a large file. Both partitions read the same pages, and each compares its half of them. */
async function refreshFile(
  db: Database,
  options: {
    readonly job: string;
    readonly file: ChangedFile;
    readonly stepOrders: number;
    readonly onPage: (page: Page) => void;
  },
): Promise<void> {
  const { job, file, stepOrders, onPage } = options;
  const lastIds: Record<Partition, string> = { 0: '', 1: '' };
  await inPartitions(db, async (partition) => {
    const page = await inPartitionStep(db, partition, (trx) =>
      refreshPage(trx, {
        job,
        limit: 2 * stepOrders,
        orders: ordersOfFile(file.sourceFileId, lastIds[partition], partition),
      }),
    );
    lastIds[partition] = page.lastId;
    onPage(page);
    return page.isLast;
  });
}

/**
 * Recalculates the sums of all marked days.
 *
 * @returns how many there were.
 */
async function refreshDays(db: Database, onStep: (orders: number) => void): Promise<number> {
  let days = 0;
  function note(done: number): boolean {
    days += done;
    if (done > 0) onStep(0);
    return done === 0;
  }
  if (await hasManyMarkedDays(db))
    await inPartitions(db, async (partition) =>
      note(
        await inPartitionStep(db, partition, (trx) => refreshMarked(trx, isDayOf(partition, sql`day_utc`))),
      ),
    );
  while (!note(await inStep(db, (trx) => refreshMarked(trx, sql`true`))));
  return days;
}

/** @returns true if one step cannot recalculate all marked days. */
async function hasManyMarkedDays(db: Database): Promise<boolean> {
  const { rows } = await sql`select from reporting.changed_days offset ${STEP_DAYS}::integer limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

/**
 * Recalculates the sums of the next marked days.
 *
 * @param isMeant condition for `day_utc`.
 * @returns how many there were.
 */
async function refreshMarked(trx: Transaction<DB>, isMeant: RawBuilder<boolean>): Promise<number> {
  const { rows } = await sql<{ day: string }>`
    delete from reporting.changed_days
    where day_utc in (select day_utc from reporting.changed_days where ${isMeant} order by day_utc limit ${STEP_DAYS}::integer)
    returning day_utc::text as day`.execute(trx);
  if (rows.length > 0)
    await addUpDays(
      trx,
      rows.map(({ day }) => day),
    );
  return rows.length;
}

/** Runs one step in one commit, alone. */
function inStep<Result>(db: Database, work: (trx: Transaction<DB>) => Promise<Result>): Promise<Result> {
  return inTransaction(db, async (trx) => {
    await beginStep(trx);
    return work(trx);
  });
}

/** Runs one step of a partition in one commit. */
function inPartitionStep<Result>(
  db: Database,
  partition: Partition,
  work: (trx: Transaction<DB>) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (trx) => {
    await beginPartitionStep(trx, partition);
    return work(trx);
  });
}

/** SQLSTATE classes whose messages may quote values of rows: 22 data exception, 23 constraint. */
const QUOTING_STATES = /^2[23]/;

/** Explains to a person that the refresh failed, and the consequences. Contains no row values. */
export function explainStale(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : null;
  const message = error instanceof Error ? error.message : String(error);
  const reason =
    code === null ? message : QUOTING_STATES.test(code) ? `database error ${code}` : `${message} (${code})`;
  return `The reports (schema bi) could not be updated: ${reason}. All records are kept; the next run updates the reports.`;
}
