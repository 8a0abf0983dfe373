import type { SourceSettings } from '../../model/config.ts';
import type { Layout, OtherLayouts } from '../../model/layout.ts';
import type { OrderBatch, OrderContinuation, OrderIdColumn, StagedOrder } from '../../model/order.ts';
import type { CsvChunk, CsvRecord, RejectedRow } from '../../model/record.ts';
import { foldHeader } from '../../model/text/fold.ts';
import { type Fault, reject } from '../fault.ts';
import { layoutFor, layoutForOrders } from '../layout/layout-for.ts';
import type { ResolvedHeader } from '../layout/resolve-header.ts';
import { OrderBuilder } from './build-order.ts';
import type { CustomerKeyOf } from './customer-key.ts';
import { type DateWatch, withDateOrder } from './date-order.ts';
import { type MarkWatch, withDecimalMark } from './decimal-mark.ts';
import { IdColumns, type NamedHeader } from './id-columns.ts';
import { type OpenOrder, runsOf } from './open-order.ts';
import { OrderWindow } from './order-window.ts';
import { planColumns } from './plan-columns.ts';
import { resolveForOrders } from './resolve-for-orders.ts';

export type MapOptions = {
  readonly layout: Layout;
  /** Provides what the layout's format lacks; see `checkSource`. */
  readonly source: Pick<SourceSettings, 'timeZone' | 'currency'> &
    Partial<Pick<SourceSettings, 'dateOrder' | 'decimalMark' | 'orderLines'>>;
  /** Receives every date, to check at the end that their order was read correctly. */
  readonly dates?: DateWatch | null;
  /** Receives every amount, to check at the end that its decimal mark was read correctly. */
  readonly marks?: MarkWatch | null;
  /** Set if the source requests customer keys. Orders then contain the key of their customer. */
  readonly customerKeyOf?: CustomerKeyOf | null;
  /** Called with the column that identifies the file's orders, once it is known. */
  readonly onIdColumn?: (column: OrderIdColumn) => void;
  /** Other layouts, to suggest one if the header fits it better. */
  readonly otherLayouts?: OtherLayouts;
  /**
   * Size of a generation. Rows of one order are merged if fewer other orders than this begin between them. At
   * most twice as many orders are open.
   */
  readonly generationOrders?: number;
};

/**
 * Rows that are further apart are still joined, at sealing. Wider windows and bigger batches cost more than
 * they save: with 2,000, mapping takes half as long again, because orders then outlive the garbage
 * collector's young generation.
 */
const GENERATION_ORDERS = 512;

/**
 * Converts records to orders: combines the rows of each order, converts the values, and rejects what cannot
 * be used. Rows that come after their order has left the window are returned as continuations, or as the same
 * order again if they contain values of the order.
 *
 * @returns batches of some hundred orders. Every record of the chunks is counted exactly once.
 * @throws FileHeld `header_mismatch`, `ambiguous_header`, `currency_unknown`, `order_id_changes`.
 */
export async function* mapOrders(
  chunks: AsyncIterable<CsvChunk>,
  options: MapOptions,
): AsyncGenerator<OrderBatch> {
  const { source, generationOrders = GENERATION_ORDERS, customerKeyOf = null } = options;
  const asked = { customerKey: customerKeyOf !== null, lines: source.orderLines === true };
  const ofOrders = layoutForOrders(options.layout, asked);
  if (ofOrders === null) throw new Error(`the layout ${options.layout.name} is not one of orders`);
  const inOrder = withDateOrder(ofOrders, source.dateOrder ?? null);
  const layout = withDecimalMark(inOrder, source.decimalMark ?? null);
  const otherLayouts: OtherLayouts = () =>
    (options.otherLayouts?.() ?? []).flatMap((other) => layoutFor(other, 'orders') ?? []);
  let resolved: ResolvedHeader | null = null;
  let ids: IdColumns | null = null;
  let stage: Stage | null = null;
  /** Rows that wait until the column that identifies their orders is known. */
  let early: CsvRecord[] = [];
  let pending = newPending();
  for await (const { header, records, rejected } of chunks) {
    for (const row of rejected) pending.rejected.push(row);
    resolved ??= resolveForOrders(header, layout, { source, otherLayouts });
    const extended = extendRows(records, resolved);
    let rows = extended;
    if (stage === null) {
      ids ??= new IdColumns(resolved);
      early.push(...extended);
      const named = ids.look(extended);
      rows = named === null ? [] : early;
      if (named !== null) stage = openStage(named, layout, options);
      if (named !== null) early = [];
    }
    for (const record of rows) {
      stage?.take(record, pending);
      if (sizeOf(pending) < generationOrders) continue;
      yield toBatch(pending);
      pending = newPending();
    }
    if (sizeOf(pending) < generationOrders) continue;
    yield toBatch(pending);
    pending = newPending();
  }
  if (stage === null && ids !== null) stage = openStage(ids.choose(), layout, options);
  for (const record of early) stage?.take(record, pending);
  if (stage !== null) stage.close(pending);
  if (sizeOf(pending) > 0) yield toBatch(pending);
}

function extendRows(records: readonly CsvRecord[], { extend }: ResolvedHeader): readonly CsvRecord[] {
  return extend === null ? records : records.map((record) => ({ ...record, cells: extend(record.cells) }));
}

/** Takes rows and returns complete orders. */
type Stage = {
  readonly take: (record: CsvRecord, to: Pending) => void;
  readonly close: (to: Pending) => void;
};

function openStage(
  header: NamedHeader,
  layout: Layout,
  { source, dates = null, marks = null, customerKeyOf = null, onIdColumn, generationOrders }: MapOptions,
): Stage {
  const { check, fields } = header;
  const plan = planColumns(layout, header);
  const builder = new OrderBuilder(layout, plan, { ...source, dates, marks, customerKeyOf });
  const window = new OrderWindow(plan, {
    money: layout.money,
    marks,
    generationOrders: generationOrders ?? GENERATION_ORDERS,
  });
  const [column] = fields.order_id;
  const [preferred = ''] = layout.columns.order_id ?? [];
  const name = foldIdColumn(column?.name ?? '');
  onIdColumn?.({ name, isFallback: name !== foldIdColumn(preferred) });
  const finish = (open: readonly OpenOrder[], to: Pending): void =>
    collect(to, finishOrders(open, builder, plan.isGroupedById));
  return {
    take(record, to) {
      check(record);
      const result = window.add(record);
      if (result === null) return;
      if (isLeaving(result)) finish(result, to);
      else to.rejected.push(result);
    },
    close: (to) => finish(window.close(), to),
  };
}

/**
 * Folds the header of an id column, so that `order_id`, `Order ID` and `Order-ID` are equal. They differ only
 * in how a plugin writes headers.
 */
function foldIdColumn(name: string): string {
  return foldHeader(name)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

type Finished = Omit<OrderBatch, 'rowsRead'>;

/** Results that wait until a batch is large enough. */
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
      if (isGroupedById) continue; // The group is the id, and groups are distinct.
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
  reason: 'More than one order of this file has this order id.',
  help: 'Find the right order and correct the others, or export the file again. The tool does not guess.',
};
