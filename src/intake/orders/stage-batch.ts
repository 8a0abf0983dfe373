import type { Database } from '../../db/connect.ts';
import type { OrderBatch, StagedOrder } from '../../model/order.ts';
import type { FileRead } from '../files/fence.ts';
import { stageContinuations, stageRejected } from '../files/stage-leftovers.ts';
import { noteUnchangedOrders } from './note-unchanged-orders.ts';
import { type StagedCounts, stageOrders } from './stage-orders.ts';

export type StageBatchOptions = FileRead & {
  readonly runId: string;
  readonly batch: OrderBatch;
  /** Rows of one order that are apart add up (a layout with one amount an item). */
  readonly sums: boolean;
  /** Ask first, with ids and digests alone, which orders are unchanged: pays where many are. */
  readonly ask: boolean;
};

/** Orders in full in one statement: so many stay within Postgres' default `work_mem`, more spill to disk. */
const MAX_IN_FULL = 2_000;

/**
 * Stages a batch of a file that is being read, from `beginFile`. Batches of a file are staged one after the other, in the file's order.
 *
 * @returns null when another reader has taken the file over: the batch, or the rest of it, was not staged.
 */
export async function stageBatch(db: Database, options: StageBatchOptions): Promise<StagedCounts | null> {
  const { batch, ask } = options;
  const counts = { new: 0, changed: 0, unchanged: 0, repeated: 0 };
  for (const orders of splitRepeats(batch.orders)) {
    let rest = orders;
    if (ask) {
      const noted = await noteUnchangedOrders(db, options, orders);
      if (noted.isLost) return null;
      counts.unchanged += noted.unchanged;
      rest = noted.rest;
    }
    for (let start = 0; start < rest.length; start += MAX_IN_FULL) {
      const staged = await stageOrders(db, { ...options, orders: rest.slice(start, start + MAX_IN_FULL) });
      if (staged === null) return null;
      for (const key of ['new', 'changed', 'unchanged', 'repeated'] as const) counts[key] += staged[key];
    }
  }
  if (batch.continuations.length > 0 && !(await stageContinuations(db, options, batch.continuations)))
    return null;
  if (batch.rejected.length > 0 && !(await stageRejected(db, options, batch.rejected))) return null;
  return counts;
}

/** Groups in which each order stands once, because a statement does not see what it inserts itself. Nearly always one group. */
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
