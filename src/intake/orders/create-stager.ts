import { sql, type Transaction } from 'kysely';
import type { OrderBatch, StagedOrder } from '../../core/order.ts';
import { canCopy, type Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import type { DB } from '../../db/tables.ts';
import { type FileRead, NOT_AWAITING_DISK } from '../files/fence.ts';
import { stageContinuations, stageMissing, stageRejected } from '../files/stage-leftovers.ts';
import { compareOrders } from './compare-orders.ts';
import { copyNewOrders } from './copy-orders.ts';
import { toOrderRow } from './order-columns.ts';
import { type StagedCounts, stageOrders } from './stage-orders.ts';

export type StagerOptions = FileRead & { readonly runId: string; readonly sums: boolean };

/** Stages the batches of one file while the next ones are being read. */
export type Stager = {
  /**
   * Passes on a batch. Resolves when there is room for the next one.
   *
   * @returns false once another reader has taken over the file: the caller can stop reading.
   * @throws the error of the database for this batch or an earlier one.
   */
  add(batch: OrderBatch): Promise<boolean>;
  /**
   * Resolves when the batches on their way are staged. The last ones stay for `stageRest`.
   *
   * @returns false if another reader has taken over the file.
   */
  settle(): Promise<boolean>;
  /**
   * Stages the last batches in the transaction that seals the file, so that a small file takes one commit. Call
   * `settle` before that transaction begins: it locks the file's row, for which a batch on its way would wait.
   *
   * @returns false if another reader has taken over the file.
   */
  readonly stageRest: (trx: Transaction<DB>) => Promise<boolean>;
};

/**
 * One batch is being staged, one waits, and one is being read. That is enough for two processors and limits
 * memory.
 */
const MAX_WAITING = 2;

/**
 * Number of orders in one statement. Smaller statements spend their time on round trips; with larger ones, orders
 * outlive the garbage collector's young generation.
 */
const STATEMENT_ORDERS = 4_000;

export function createStager(db: Database, options: StagerOptions): Stager {
  const waiting: Promise<void>[] = [];
  let last: Promise<void> = Promise.resolve();
  let isLost = false;
  let gathered = NOTHING;

  async function stage(within: Database, batch: Gathered): Promise<void> {
    if (!isLost) isLost = (await stageBatch(within, { ...options, batch })) === null;
  }

  function takeGathered(): Gathered {
    const batch = gathered;
    gathered = NOTHING;
    return batch;
  }

  return {
    async add(batch) {
      gathered = join(gathered, batch);
      if (gathered.orders.length + gathered.rejected.length < STATEMENT_ORDERS) return !isLost;
      const taken = takeGathered();
      last = last.then(() => stage(db, taken));
      // The error is reported when this or a later call awaits the promise. Without this handler, a failure in
      // between would end the process.
      last.catch(() => {});
      waiting.push(last);
      if (waiting.length > MAX_WAITING) await waiting.shift();
      return !isLost;
    },
    async settle() {
      await last;
      return !isLost;
    },
    async stageRest(trx) {
      await stage(trx, takeGathered());
      return !isLost;
    },
  };
}

/** Batches that are staged together. */
type Gathered = Omit<OrderBatch, 'rowsRead'>;

const NOTHING: Gathered = { orders: [], continuations: [], rejected: [], missing: [] };

function join(first: Gathered, second: Gathered): Gathered {
  return {
    orders: [...first.orders, ...second.orders],
    continuations: [...first.continuations, ...second.continuations],
    rejected: [...first.rejected, ...second.rejected],
    missing: [...first.missing, ...second.missing],
  };
}

export type StageBatchOptions = FileRead & {
  readonly runId: string;
  readonly batch: Gathered;
  /** True if the amounts of separate rows of one order add up (a layout with one amount for each item). */
  readonly sums: boolean;
};

/**
 * Number of complete orders in one statement. This many fit into Postgres' default `work_mem`; more would
 * spill to disk.
 */
const MAX_IN_FULL = 3_000;

/** Fewer orders are sent in full at once: two more statements cost more than they could save. */
const MIN_TO_COMPARE = 500;

/**
 * Stages a batch of a file that was opened by `beginFile`, in one transaction. The batches of a file must be staged
 * one after the other, in the file's order.
 *
 * @returns null if another reader has taken over the file. Nothing was staged then: the first statement locks the
 * row of the file until the end.
 */
export function stageBatch(db: Database, options: StageBatchOptions): Promise<StagedCounts | null> {
  const { batch } = options;
  return inTransaction(db, async (trx) => {
    if (!db.isTransaction) await sql`select ${NOT_AWAITING_DISK}`.execute(trx);
    const counts = { new: 0, changed: 0, unchanged: 0, repeated: 0 };
    for (const orders of splitRepeats(batch.orders))
      if (!(await stageOnce(trx, { ...options, orders, counts, canCopy: canCopy(db) }))) return null;
    if (batch.continuations.length > 0 && !(await stageContinuations(trx, options, batch.continuations)))
      return null;
    if (batch.rejected.length > 0 && !(await stageRejected(trx, options, batch.rejected))) return null;
    if (batch.missing.length > 0 && !(await stageMissing(trx, options, batch.missing))) return null;
    return counts;
  });
}

type Counting = StageBatchOptions & {
  readonly orders: readonly StagedOrder[];
  readonly counts: { -readonly [Key in keyof StagedCounts]: number };
  readonly canCopy: boolean;
};

/** Stages orders, each of which occurs once. @returns false if another reader has taken over the file. */
async function stageOnce(
  trx: Transaction<DB>,
  { orders, counts, canCopy, ...options }: Counting,
): Promise<boolean> {
  let rest = orders;
  if (orders.length >= MIN_TO_COMPARE) {
    const compared = await compareOrders(trx, options, orders);
    if (compared === null) return false;
    counts.unchanged += compared.unchanged;
    rest = compared.rest;
    if (canCopy && compared.areNew) {
      if (rest.length > 0) await copyNewOrders(trx, compared.origin, rest);
      counts.new += rest.length;
      return true;
    }
  }
  const statements = Math.ceil(rest.length / MAX_IN_FULL);
  const size = Math.ceil(rest.length / Math.max(1, statements));
  for (let start = 0; start < rest.length; start += size) {
    const staged = await stageOrders(trx, {
      ...options,
      orders: rest.slice(start, start + size).map(toOrderRow),
    });
    if (staged === null) return false;
    for (const key of ['new', 'changed', 'unchanged', 'repeated'] as const) counts[key] += staged[key];
  }
  return true;
}

/**
 * Splits orders into groups in which each order occurs once, because a statement does not see the rows that
 * it inserts itself. There is nearly always one group.
 */
function splitRepeats(orders: readonly StagedOrder[]): readonly (readonly StagedOrder[])[] {
  if (new Set(orders.map(({ orderId }) => orderId)).size === orders.length) return [orders];
  const groups: StagedOrder[][] = [];
  const places = new Map<string, number>();
  for (const order of orders) {
    const place = places.get(order.orderId) ?? 0;
    places.set(order.orderId, place + 1);
    const group = groups[place];
    if (group === undefined) groups[place] = [order];
    else group.push(order);
  }
  return groups;
}
