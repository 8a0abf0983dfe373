import type { SourceSettings } from '../model/config.ts';
import type { Layout } from '../model/layout.ts';
import type { OrderBatch, OrderContinuation, StagedOrder } from '../model/order.ts';
import type { CsvChunk, RejectedRow } from '../model/record.ts';
import { OrderBuilder } from './build-order.ts';
import { type DateWatch, withDateOrder } from './date-order.ts';
import { type Fault, reject } from './fault.ts';
import { layoutFor } from './layout-for.ts';
import { type OpenOrder, runsOf } from './open-order.ts';
import { OrderWindow } from './order-window.ts';
import { planColumns } from './plan-columns.ts';
import { resolveHeader } from './resolve-header.ts';

export type MapOptions = {
  readonly layout: Layout;
  /** Gives what the layout's format lacks; see `checkSource`. */
  readonly source: Pick<SourceSettings, 'timeZone' | 'currency'> & Partial<Pick<SourceSettings, 'dateOrder'>>;
  /** Is shown every date, to find out at the end in which order they were written. */
  readonly dates?: DateWatch | null;
  /** Layouts to name when a header does not fit this one but another. */
  readonly otherLayouts?: readonly Layout[];
  /** Rows of one order merge when fewer other orders than this begin between them; twice as many are open at most. */
  readonly generationOrders?: number;
};

/**
 * Rows that stand further apart still come together, at sealing. Wider windows and bigger batches cost more than they save: with
 * 2,000, mapping takes half as long again, because orders then outlive the garbage collector's young generation.
 */
const GENERATION_ORDERS = 512;

/**
 * Makes orders of records: folds the rows of each order together, converts what the layout names, and rejects what cannot be used.
 * Rows that come after their order has left the window come out as continuations, or, where they carry values of the order, as the
 * order again.
 *
 * @returns batches of some hundred orders, in which every record of the chunks is accounted for once.
 * @throws FileHeld `header_mismatch`, `ambiguous_header`.
 */
export async function* mapOrders(
  chunks: AsyncIterable<CsvChunk>,
  options: MapOptions,
): AsyncGenerator<OrderBatch> {
  const { source, generationOrders = GENERATION_ORDERS } = options;
  const ofOrders = layoutFor(options.layout, 'orders');
  if (ofOrders === null) throw new Error(`the layout ${options.layout.name} is not one of orders`);
  const layout = withDateOrder(ofOrders, source.dateOrder ?? null);
  const otherLayouts = (options.otherLayouts ?? []).flatMap((other) => layoutFor(other, 'orders') ?? []);
  let stage: {
    readonly extend: (cells: readonly string[]) => readonly string[];
    readonly window: OrderWindow;
    readonly finish: (open: readonly OpenOrder[]) => Finished;
  } | null = null;
  let pending = newPending();
  for await (const { header, records, rejected } of chunks) {
    if (stage === null) {
      const resolved = resolveHeader(header, layout, otherLayouts);
      const { extend } = resolved;
      const plan = planColumns(layout, resolved);
      const builder = new OrderBuilder(layout, plan, { ...source, dates: options.dates ?? null });
      const window = new OrderWindow(plan, { money: layout.money, generationOrders });
      stage = { extend, window, finish: (open) => finishOrders(open, builder, plan.isGroupedById) };
    }
    for (const row of rejected) pending.rejected.push(row);
    for (const record of records) {
      const cells = stage.extend(record.cells);
      const result = stage.window.add(cells === record.cells ? record : { ...record, cells });
      if (result === null) continue;
      if (isLeaving(result)) collect(pending, stage.finish(result));
      else pending.rejected.push(result);
      if (sizeOf(pending) < generationOrders) continue;
      yield toBatch(pending);
      pending = newPending();
    }
    if (sizeOf(pending) < generationOrders) continue;
    yield toBatch(pending);
    pending = newPending();
  }
  if (stage !== null) collect(pending, stage.finish(stage.window.close()));
  if (sizeOf(pending) > 0) yield toBatch(pending);
}

type Finished = Omit<OrderBatch, 'rowsRead'>;

/** What waits until it is worth a batch. */
type Pending = {
  readonly orders: StagedOrder[];
  readonly continuations: OrderContinuation[];
  readonly rejected: RejectedRow[];
};

function newPending(): Pending {
  return { orders: [], continuations: [], rejected: [] };
}

function collect(pending: Pending, finished: Finished): void {
  pending.orders.push(...finished.orders);
  pending.continuations.push(...finished.continuations);
  pending.rejected.push(...finished.rejected);
}

function sizeOf({ orders, continuations, rejected }: Pending): number {
  return orders.length + continuations.length + rejected.length;
}

function isLeaving(result: readonly OpenOrder[] | RejectedRow): result is readonly OpenOrder[] {
  return Array.isArray(result);
}

function toBatch(pending: Pending): OrderBatch {
  const { orders, continuations, rejected } = pending;
  let rowsRead = 0;
  for (const part of [orders, continuations, rejected]) for (const { rowCount } of part) rowsRead += rowCount;
  return { orders, continuations, rejected, rowsRead };
}

function finishOrders(open: readonly OpenOrder[], builder: OrderBuilder, isGroupedById: boolean): Finished {
  const orders: StagedOrder[] = [];
  const continuations: OrderContinuation[] = [];
  const rejected: RejectedRow[] = [];
  const ids = new Set<string>();
  const contested = new Set<string>();
  for (const one of open) {
    const built = builder.build(one);
    if (built.kind === 'continuation') continuations.push(built.continuation);
    else if (built.kind === 'fault')
      for (const run of runsOf(one)) rejected.push(reject(run, built.fault, built));
    else {
      const { orderId } = built.order;
      orders.push(built.order);
      if (isGroupedById) continue; // Its group is its id, and groups are told apart already.
      if (ids.has(orderId)) contested.add(orderId);
      ids.add(orderId);
    }
  }
  if (contested.size === 0) return { orders, continuations, rejected };
  const byKey = new Map(open.map((one) => [one.key, one]));
  for (const { groupKey, orderId } of orders.filter((order) => contested.has(order.orderId))) {
    const one = byKey.get(groupKey);
    if (one !== undefined)
      for (const run of runsOf(one))
        rejected.push(reject(run, CONTESTED_ID, { column: null, value: orderId }));
  }
  return { orders: orders.filter((order) => !contested.has(order.orderId)), continuations, rejected };
}

const CONTESTED_ID: Fault = {
  code: 'conflicting_rows',
  reason: 'More than one order of this file claims this order id.',
  help: 'Find out whose it is and mend the others, or export the file again. Nothing was guessed.',
};
