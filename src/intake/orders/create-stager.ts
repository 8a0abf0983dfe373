import type { Transaction } from 'kysely';
import type { OrderBatch, StagedOrder } from '../../core/order.ts';
import { canCopy, type Database } from '../../db/connect.ts';
import type { DB } from '../../db/tables.ts';
import type { FileRead } from '../files/fence.ts';
import { stageContinuations, stageMissing, stageRejected } from '../files/stage-leftovers.ts';
import { copyNewOrders, readOrigin } from './copy-orders.ts';
import { EncodedOrders, idOfRow, type OrderOrigin } from './encoded-orders.ts';
import { noteUnchangedOrders } from './note-unchanged-orders.ts';
import { type OrderRow, toOrderRow } from './order-columns.ts';
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
  let gathered: Gathered = NOTHING;
  let origin: OrderOrigin | null = null;

  async function stage(batch: Gathered, within = db): Promise<void> {
    if (isLost) return;
    const counts = await stageBatch(within, { ...options, batch, ask });
    if (counts === null) {
      isLost = true;
      return;
    }
    const orders = batch.orders.length + (batch.encoded?.ids.length ?? 0);
    if (orders > 0) ask = counts.unchanged >= orders * ASKING_PAYS_FROM;
  }

  function stageGathered(): void {
    const batch = gathered;
    gathered = NOTHING;
    last = last.then(() => stage(batch));
    // The error is reported when this or a later call awaits the promise. Without this handler, a failure in
    // between would end the process.
    last.catch(() => {});
    waiting.push(last);
  }

  /** Encodes the orders of a batch of a large file, if most of them are probably new. */
  async function encode(batch: OrderBatch): Promise<Gathered> {
    if (ask || !canCopy(db)) return batch;
    origin ??= await readOrigin(db, options);
    if (origin === null) {
      isLost = true;
      return NOTHING;
    }
    const encoded = gathered.encoded ?? new EncodedOrders(origin);
    encoded.add(batch.orders);
    return { ...batch, orders: [], encoded };
  }

  return {
    async add(batch) {
      gathered = join(gathered, await encode(batch));
      if (sizeOf(gathered) < STATEMENT_ORDERS) return !isLost;
      stageGathered();
      if (waiting.length > MAX_WAITING) await waiting.shift();
      return !isLost;
    },
    async settle() {
      // What is encoded is copied, which needs a transaction of its own.
      if (gathered.encoded) stageGathered();
      await last;
      return !isLost;
    },
    async stageRest(trx) {
      const rest = gathered;
      gathered = NOTHING;
      await stage(rest, trx);
      return !isLost;
    },
  };
}

/** Batches that go into one statement. */
type Gathered = Omit<OrderBatch, 'rowsRead'> & {
  /** Further orders, which come after the others in the file. */
  readonly encoded?: EncodedOrders | null;
};

const NOTHING: Gathered = { orders: [], continuations: [], rejected: [], missing: [] };

function join(first: Gathered, second: Gathered): Gathered {
  return {
    orders: [...first.orders, ...second.orders],
    encoded: second.encoded ?? first.encoded ?? null,
    continuations: [...first.continuations, ...second.continuations],
    rejected: [...first.rejected, ...second.rejected],
    missing: [...first.missing, ...second.missing],
  };
}

function sizeOf({ orders, encoded, rejected }: Gathered): number {
  return orders.length + (encoded?.ids.length ?? 0) + rejected.length;
}

export type StageBatchOptions = FileRead & {
  readonly runId: string;
  readonly batch: Gathered;
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
  for (const orders of splitRepeats(batch.orders, ({ orderId }) => orderId)) {
    let rest = orders;
    if (ask && orders.length >= MIN_TO_ASK) {
      const noted = await noteUnchangedOrders(db, options, orders);
      if (noted.isLost) return null;
      counts.unchanged += noted.unchanged;
      rest = noted.rest;
    }
    if (!(await stageInFull(db, { ...options, orders: rest, counts }))) return null;
  }
  const { encoded = null } = batch;
  if (encoded !== null && !(await stageEncoded(db, { ...options, encoded, counts }))) return null;
  if (batch.continuations.length > 0 && !(await stageContinuations(db, options, batch.continuations)))
    return null;
  if (batch.rejected.length > 0 && !(await stageRejected(db, options, batch.rejected))) return null;
  if (batch.missing.length > 0 && !(await stageMissing(db, options, batch.missing))) return null;
  return counts;
}

type Counting = StageBatchOptions & { readonly counts: { -readonly [Key in keyof StagedCounts]: number } };

/** Stages orders, each of which occurs once. @returns false if another reader has taken over the file. */
async function stageInFull(
  db: Database,
  { orders, ...options }: Counting & { readonly orders: readonly StagedOrder[] },
): Promise<boolean> {
  if (orders.length < MIN_TO_COPY || !canCopy(db))
    return stageRows(db, { ...options, rows: orders.map(toOrderRow) });
  const origin = await readOrigin(db, options);
  if (origin === null) return false;
  const encoded = new EncodedOrders(origin);
  encoded.add(orders);
  return stageEncoded(db, { ...options, encoded });
}

/** Stages orders that were encoded. @returns false if another reader has taken over the file. */
async function stageEncoded(
  db: Database,
  { encoded, ...options }: Counting & { readonly encoded: EncodedOrders },
): Promise<boolean> {
  if (encoded.ids.length >= MIN_TO_COPY && canCopy(db) && !encoded.hasRepeats()) {
    const copied = await copyNewOrders(db, options, encoded);
    if (copied === 'lost') return false;
    if (copied === 'copied') {
      options.counts.new += encoded.ids.length;
      return true;
    }
  }
  for (const rows of splitRepeats(encoded.rows(), idOfRow))
    if (!(await stageRows(db, { ...options, rows }))) return false;
  return true;
}

/** Stages rows of orders, each of which occurs once. @returns false if another reader has taken over the file. */
async function stageRows(
  db: Database,
  { rows, counts, ...options }: Counting & { readonly rows: readonly OrderRow[] },
): Promise<boolean> {
  const statements = Math.ceil(rows.length / MAX_IN_FULL);
  const size = Math.ceil(rows.length / Math.max(1, statements));
  for (let start = 0; start < rows.length; start += size) {
    const staged = await stageOrders(db, { ...options, orders: rows.slice(start, start + size) });
    if (staged === null) return false;
    for (const key of ['new', 'changed', 'unchanged', 'repeated'] as const) counts[key] += staged[key];
  }
  return true;
}

/**
 * Splits orders into groups in which each order occurs once, because a statement does not see the rows that
 * it inserts itself. There is nearly always one group.
 */
function splitRepeats<Order>(
  orders: readonly Order[],
  idOf: (order: Order) => string,
): readonly (readonly Order[])[] {
  if (orders.length === 0) return [];
  const seen = new Set<string>();
  for (const order of orders) seen.add(idOf(order));
  if (seen.size === orders.length) return [orders];

  const groups: Order[][] = [];
  const places = new Map<string, number>();
  for (const order of orders) {
    const id = idOf(order);
    const place = places.get(id) ?? 0;
    places.set(id, place + 1);
    const group = groups[place];
    if (group === undefined) groups[place] = [order];
    else group.push(order);
  }
  return groups;
}
