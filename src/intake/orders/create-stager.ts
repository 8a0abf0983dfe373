import type { Transaction } from 'kysely';
import { canCopy, type Database } from '../../db/connect.ts';
import type { DB } from '../../db/tables.ts';
import type { OrderBatch, StagedOrder } from '../../model/order.ts';
import type { FileRead } from '../files/fence.ts';
import { stageContinuations, stageRejected } from '../files/stage-leftovers.ts';
import { copyNewOrders } from './copy-orders.ts';
import { noteUnchangedOrders } from './note-unchanged-orders.ts';
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
 * Minimum share of unchanged orders for which asking first is worthwhile. Asking makes a new order a third
 * more expensive, and an unchanged one nine tenths cheaper.
 */
const ASKING_PAYS_FROM = 0.25;
/** Fewer orders than this are sent in full at once: one more statement costs more than it could save. */
const MIN_TO_ASK = 50;

/**
 * Number of orders in one statement. Smaller statements spend their time on round trips; with larger ones, orders
 * outlive the garbage collector's young generation.
 */
const STATEMENT_ORDERS = 4_000;

export function createStager(db: Database, options: StagerOptions): Stager {
  const waiting: Promise<void>[] = [];
  let last: Promise<void> = Promise.resolve();
  let ask = true;
  let isLost = false;
  let gathered: OrderBatch[] = [];

  async function stage(batch: OrderBatch, within = db): Promise<void> {
    if (isLost) return;
    const counts = await stageBatch(within, { ...options, batch, ask });
    if (counts === null) {
      isLost = true;
      return;
    }
    if (batch.orders.length > 0) ask = counts.unchanged >= batch.orders.length * ASKING_PAYS_FROM;
  }

  function stageGathered(): void {
    const batch = joinBatches(gathered);
    gathered = [];
    last = last.then(() => stage(batch));
    // The error is reported when this or a later call awaits the promise. Without this handler, a failure in
    // between would end the process.
    last.catch(() => {});
    waiting.push(last);
  }
  return {
    async add(batch) {
      gathered.push(batch);
      if (
        gathered.reduce((sum, { orders, rejected }) => sum + orders.length + rejected.length, 0) <
        STATEMENT_ORDERS
      )
        return !isLost;
      stageGathered();
      if (waiting.length > MAX_WAITING) await waiting.shift();
      return !isLost;
    },
    async settle() {
      await last;
      return !isLost;
    },
    async stageRest(trx) {
      const rest = joinBatches(gathered);
      gathered = [];
      await stage(rest, trx);
      return !isLost;
    },
  };
}

function joinBatches(batches: readonly OrderBatch[]): OrderBatch {
  return {
    orders: batches.flatMap(({ orders }) => orders),
    continuations: batches.flatMap(({ continuations }) => continuations),
    rejected: batches.flatMap(({ rejected }) => rejected),
    rowsRead: batches.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
  };
}

export type StageBatchOptions = FileRead & {
  readonly runId: string;
  readonly batch: OrderBatch;
  /** True if the amounts of separate rows of one order add up (a layout with one amount for each item). */
  readonly sums: boolean;
  /** First asks which orders are unchanged, sending only ids and digests. Worthwhile if many are. */
  readonly ask: boolean;
};

/**
 * Number of complete orders in one statement. This many fit into Postgres' default `work_mem`; more would
 * spill to disk.
 */
const MAX_IN_FULL = 3_000;

/** Fewer orders are not copied: that takes four statements instead of one. */
const MIN_TO_COPY = 500;

/**
 * Stages a batch of a file that was opened by `beginFile`. The batches of a file must be staged one after the
 * other, in the file's order.
 *
 * @returns null if another reader has taken over the file. The batch was then not staged, or only in part.
 */
export async function stageBatch(db: Database, options: StageBatchOptions): Promise<StagedCounts | null> {
  const { batch, ask } = options;
  const counts = { new: 0, changed: 0, unchanged: 0, repeated: 0 };
  for (const orders of splitRepeats(batch.orders)) {
    let rest = orders;
    if (ask && orders.length >= MIN_TO_ASK) {
      const noted = await noteUnchangedOrders(db, options, orders);
      if (noted.isLost) return null;
      counts.unchanged += noted.unchanged;
      rest = noted.rest;
    }
    if (rest.length >= MIN_TO_COPY && canCopy(db)) {
      const copied = await copyNewOrders(db, { ...options, orders: rest });
      if (copied === 'lost') return null;
      if (copied === 'copied') {
        counts.new += rest.length;
        continue;
      }
    }
    const statements = Math.ceil(rest.length / MAX_IN_FULL);
    const size = Math.ceil(rest.length / Math.max(1, statements));
    for (let start = 0; start < rest.length; start += size) {
      const staged = await stageOrders(db, { ...options, orders: rest.slice(start, start + size) });
      if (staged === null) return null;
      for (const key of ['new', 'changed', 'unchanged', 'repeated'] as const) counts[key] += staged[key];
    }
  }
  if (batch.continuations.length > 0 && !(await stageContinuations(db, options, batch.continuations)))
    return null;
  if (batch.rejected.length > 0 && !(await stageRejected(db, options, batch.rejected))) return null;
  return counts;
}

/**
 * Splits orders into groups in which each order occurs once, because a statement does not see the rows that
 * it inserts itself. There is nearly always one group.
 */
function splitRepeats(orders: readonly StagedOrder[]): readonly (readonly StagedOrder[])[] {
  if (orders.length === 0) return [];
  const seen = new Set<string>();
  for (const { orderId } of orders) seen.add(orderId);
  if (seen.size === orders.length) return [orders];

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
