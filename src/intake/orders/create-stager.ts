import type { Database } from '../../db/connect.ts';
import type { OrderBatch } from '../../model/order.ts';
import type { FileRead } from '../files/fence.ts';
import { stageBatch } from './stage-batch.ts';
import type { StagedCounts } from './stage-orders.ts';

export type StagerOptions = FileRead & { readonly runId: string; readonly sums: boolean };

/** Stages the batches of one file while the next ones are being read. */
export type Stager = {
  /**
   * Hands over a batch; resolves when there is room for the next one.
   *
   * @returns false once another reader has taken the file over: reading on is of no use.
   * @throws what the database threw, for this batch or an earlier one.
   */
  add(batch: OrderBatch): Promise<boolean>;
  /** Resolves when all is staged; null when another reader has taken the file over. */
  finish(): Promise<StagedCounts | null>;
};

/** One batch is being staged, one waits, one is being read: enough for two processors, and bounded. */
const MAX_WAITING = 2;
/** Asking first costs a new order a third more and saves an unchanged one nine tenths. */
const ASKING_PAYS_FROM = 0.25;

/** Orders of one statement: smaller ones spend their time on round trips, larger ones only on memory. */
const STATEMENT_ORDERS = 2_000;

export function createStager(db: Database, options: StagerOptions): Stager {
  const total = { new: 0, changed: 0, unchanged: 0, repeated: 0 };
  const waiting: Promise<void>[] = [];
  let last: Promise<void> = Promise.resolve();
  let ask = true;
  let isLost = false;
  let gathered: OrderBatch[] = [];

  async function stage(batch: OrderBatch): Promise<void> {
    if (isLost) return;
    const counts = await stageBatch(db, { ...options, batch, ask });
    if (counts === null) {
      isLost = true;
      return;
    }
    for (const key of ['new', 'changed', 'unchanged', 'repeated'] as const) total[key] += counts[key];
    if (batch.orders.length > 0) ask = counts.unchanged >= batch.orders.length * ASKING_PAYS_FROM;
  }

  function stageGathered(): void {
    const batch = joinBatches(gathered);
    gathered = [];
    last = last.then(() => stage(batch));
    // Reported by the await of this or a later call; without this a failure in between would end the process.
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
    async finish() {
      if (gathered.length > 0) stageGathered();
      await last;
      return isLost ? null : total;
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
