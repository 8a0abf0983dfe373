import { FileHeld } from '../../../core/held/file-held.ts';
import type {
  MissingRow,
  OrderBatch,
  OrderContinuation,
  OrderIdColumn,
  StagedOrder,
} from '../../../core/order.ts';
import type { CsvChunk, CsvRecord, FooterRow, LostRow, OpenRow, RejectedRow } from '../../../core/record.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { exportedAtMs, latestTimeMs } from '../../../core/time/exported-at.ts';
import { layoutFor, layoutForOrders } from '../../layout/layout-for.ts';
import { reasonIn, shownHeader } from '../../layout/lowering-columns.ts';
import type { Column, ResolvedHeader } from '../../layout/resolve-header.ts';
import type { Layout, OtherLayouts } from '../../layout/to-layout.ts';
import { type Fault, reject } from '../../map/fault.ts';
import { isBlank } from '../../values/clean-text.ts';
import { type DateWatch, withDateOrder } from '../../values/date-order.ts';
import { type MarkWatch, withDecimalMark } from '../../values/decimal-mark.ts';
import { OrderBuilder } from './build-order.ts';
import type { CustomerKeyOf } from './customer-key.ts';
import { watchJoinedIds } from './joined-ids.ts';
import { newestOf } from './last-change.ts';
import { WaitingLostRows } from './lost-rows.ts';
import { type OpenOrder, runsOf } from './open-order.ts';
import { OrderWindow } from './order-window.ts';
import { planColumns, type ReadSource } from './plan-columns.ts';
import { resolveForOrders } from './resolve-for-orders.ts';
import { MAX_TOTALS_ROWS, TotalsRows } from './totals-rows.ts';

export type MapOptions = {
  readonly layout: Layout;
  /** Provides what the layout's format lacks; see `checkSource`. */
  readonly source: ReadSource;
  /** When the file was stored, if the store says when. */
  readonly modifiedAt?: Date | null;
  /** Receives every date, to check at the end that their order was read correctly. */
  readonly dates?: DateWatch | null;
  /** Receives every amount, to check at the end that its decimal mark was read correctly. */
  readonly marks?: MarkWatch | null;
  /** Set if the source requests customer keys. Orders then contain the key of their customer. */
  readonly customerKeyOf?: CustomerKeyOf | null;
  /** True if the job credits orders of every status. Otherwise a file in which no order has one is held. */
  readonly anyStatus?: boolean;
  /** Called with the column that identifies the file's orders, once it is known. */
  readonly onIdColumn?: (column: OrderIdColumn) => void;
  /** Called with each row that is a total of orders above it. */
  readonly onFooter?: (row: FooterRow) => void;
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
 * @throws FileHeld `not_orders`, `header_mismatch`, `ambiguous_header`, `column_missing`, `currency_unknown`,
 * `order_id_changes`, `no_status`, `repeated_rows`.
 */
export async function* mapOrders(
  chunks: AsyncIterable<CsvChunk>,
  options: MapOptions,
): AsyncGenerator<OrderBatch> {
  const { source, generationOrders = GENERATION_ORDERS, customerKeyOf = null } = options;
  const asked = {
    customerKey: customerKeyOf !== null,
    lines: source.orderLines === true,
    changes: source.age === 'column',
  };
  const ofOrders = layoutForOrders(options.layout, asked);
  if (ofOrders === null) throw new Error(`the layout ${options.layout.name} is not one of orders`);
  const inOrder = withDateOrder(ofOrders, source.dateOrder ?? null);
  const layout = withDecimalMark(inOrder, source.decimalMark ?? null);
  const otherLayouts: OtherLayouts = () =>
    (options.otherLayouts?.() ?? []).flatMap((other) => layoutFor(other, 'orders') ?? []);
  let resolved: ResolvedHeader | null = null;
  let ids: IdColumns | null = null;
  let into: OrderRows | null = null;
  /** Rows that wait until the column that identifies their orders is known. */
  let early: CsvRecord[] = [];
  const lost = new WaitingLostRows();
  let hasLostEarly = false;
  let cut: OpenRow | null = null;
  let pending = newPending();
  for await (const { header, records, rejected, lost: lostHere, open } of chunks) {
    for (const row of rejected) pending.rejected.push({ ...row, ...into?.namedIn(row.record, lostHere) });
    lost.add(lostHere);
    cut = layout.endsWithoutLineBreak ? null : open;
    resolved ??= resolveForOrders(header, layout, { source, otherLayouts });
    const extended = extendRows(records, resolved);
    let rows = extended;
    if (into === null) {
      ids ??= new IdColumns(resolved);
      early.push(...extended);
      const named = ids.look(extended);
      rows = named === null ? [] : early;
      if (named !== null) into = openRows(named, layout, { ...options, generationOrders, hasLostEarly });
      if (named !== null) early = [];
    }
    for (const record of rows) {
      lose(lost, record.record, into, pending);
      into?.take(record, pending);
      if (sizeOf(pending) < generationOrders) continue;
      yield toBatch(pending);
      pending = newPending();
    }
    while (lost.isFull) {
      const row = lost.takeBefore(Infinity);
      hasLostEarly ||= into === null;
      if (row !== null) into?.lose(row, pending);
    }
    if (sizeOf(pending) < generationOrders) continue;
    yield toBatch(pending);
    pending = newPending();
  }
  if (into === null && ids !== null)
    into = openRows(ids.choose(), layout, { ...options, generationOrders, hasLostEarly });
  for (const record of early) {
    lose(lost, record.record, into, pending);
    into?.take(record, pending);
  }
  lose(lost, Infinity, into, pending);
  if (cut !== null) into?.cut(cut);
  into?.close(pending);
  if (sizeOf(pending) > 0 || pending.missing.length > 0) yield toBatch(pending);
  into?.requireKnown();
}

function extendRows(records: readonly CsvRecord[], { extend }: ResolvedHeader): readonly CsvRecord[] {
  return extend === null ? records : records.map((record) => ({ ...record, cells: extend(record.cells) }));
}

/** Passes on the lost rows before a record. */
function lose(lost: WaitingLostRows, record: number, into: OrderRows | null, to: Pending): void {
  for (let row = lost.takeBefore(record); row !== null; row = lost.takeBefore(record)) into?.lose(row, to);
}

/** Takes rows and returns complete orders. */
type OrderRows = {
  readonly take: (record: CsvRecord, to: Pending) => void;
  /** Takes a row that cannot be used. */
  readonly lose: (row: LostRow, to: Pending) => void;
  /** Returns the order that a row names which could not be read, if its cells are in their places. */
  readonly namedIn: (record: number, lost: readonly LostRow[]) => Pick<RejectedRow, 'orderId' | 'orderName'>;
  /** Notes that the text ends within its last row. */
  readonly cut: (row: OpenRow) => void;
  readonly close: (to: Pending) => void;
  /**
   * Called at the end. Throws FileHeld `no_status` if no order has one although the layout has a column of it, and
   * `currency_unknown` if some state no currency and others another one than the source.
   */
  readonly requireKnown: () => void;
};

function openRows(
  header: NamedHeader,
  layout: Layout,
  options: MapOptions & { readonly generationOrders: number; readonly hasLostEarly: boolean },
): OrderRows {
  const { source, dates = null, marks = null, customerKeyOf = null, onIdColumn, onFooter } = options;
  const { generationOrders, anyStatus = false } = options;
  const { check, fields } = header;
  const checkJoined = watchJoinedIds(header, layout);
  const plan = planColumns(layout, header, source);
  const latestMs = latestTimeMs(exportedAtMs(options.modifiedAt ?? null));
  const builder = new OrderBuilder(layout, plan, { ...source, dates, marks, latestMs, customerKeyOf });
  const window = new OrderWindow(plan, { money: layout.money, marks, generationOrders });
  const totals = new TotalsRows(plan, layout.money);
  /** Rows without an id, which are totals if no order follows. */
  let waiting: CsvRecord[] = [];
  const [column] = fields.order_id;
  const [preferred = ''] = layout.columns.order_id ?? [];
  const name = foldIdColumn(column?.name ?? '');
  // A part of a cell is another id than the whole cell, which an earlier layout may have read.
  const read = layout.orderIdPattern === null ? name : `${name} (part)`;
  onIdColumn?.({ name: read, isFallback: name !== foldIdColumn(preferred) });
  let isStatusBlank = !anyStatus && layout.status.credited !== null && fields.status.length > 0;
  let orders = 0;
  if (options.hasLostEarly) window.loseAnywhere();
  const finish = (open: readonly OpenOrder[], to: Pending, isLast = false): void => {
    const finished = finishOrders(
      open,
      { builder, totals, isLast, isGroupedById: plan.isGroupedById, onFooter },
      (one) => window.loseOrder(one),
    );
    orders += finished.orders.length;
    isStatusBlank &&= finished.orders.every(({ status }) => status === null || status === '');
    collect(to, finished);
    to.missing.push(...window.takeMissing());
  };
  const add = (record: CsvRecord, to: Pending): void => {
    const result = window.add(record);
    if (result === null) return;
    if (isLeaving(result)) finish(result, to);
    else to.rejected.push(result);
  };
  const giveUp = (to: Pending): void => {
    for (const record of waiting) add(record, to);
    waiting = [];
  };
  /** Takes the totals away from the end of the file, and passes on everything before them. */
  const close = (to: Pending): void => {
    const open = [...window.remaining()];
    const last: OpenOrder[] = [];
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (last.length < MAX_TOTALS_ROWS && totals.mayBeTotal(one)) last.unshift(one);
      else {
        open.push(one);
        break;
      }
    }
    finish(open, to);
    const isFooter = (row: OpenOrder): boolean => {
      const found = totals.judge(row, true);
      if (found === null || 'code' in found) return false;
      onFooter?.(found);
      return true;
    };
    finish(
      last.filter((row) => !isFooter(row)),
      to,
      true,
    );
    waiting = waiting.filter((record) => !isFooter(window.asOrder(record)));
    giveUp(to);
    window.close();
    finish([], to);
  };
  return {
    take(record, to) {
      check(record);
      checkJoined(record);
      if (waiting.length < MAX_TOTALS_ROWS && isBlank(record.cells[plan.group.index] ?? '')) {
        waiting.push(record);
        return;
      }
      if (waiting.length > 0) giveUp(to);
      add(record, to);
    },
    lose({ isHeader, cells }, to) {
      giveUp(to);
      if (isHeader) window.beginPart();
      else window.lose(cells);
    },
    namedIn(record, lost) {
      const cells = lost.find((row) => row.record === record && !row.isHeader)?.cells ?? null;
      return { [plan.isGroupedById ? 'orderId' : 'orderName']: window.namedBy(cells) };
    },
    cut: (row) => window.cut(row),
    close,
    requireKnown() {
      if (isStatusBlank && orders > 0) throw noStatus(fields.status[0]?.name ?? 'status');
      const [{ name } = { name: 'currency' }] = fields.currency;
      const isExcused = reasonIn(source.missingColumns ?? {}, [name]) !== null;
      if (builder.openCurrency !== null && !isExcused) throw openCurrency(name, builder.openCurrency);
    },
  };
}

/** Creates the hold for a file of unfinished checkouts, or of an export whose statuses got lost. */
function noStatus(column: string): FileHeld {
  return new FileHeld({
    code: 'no_status',
    message: `The column "${column}" is blank for every order, so none of them is known to count. Exports of abandoned checkouts look like this.`,
    help: 'Export the orders with their statuses. If the job credits orders of every status on purpose, set include: any on it.',
  });
}

/** Creates the hold for a file in which the orders without a currency may have that of the source, or that of others. */
function openCurrency(
  column: string,
  { without, other }: NonNullable<OrderBuilder['openCurrency']>,
): FileHeld {
  const shown = shownHeader(column);
  return new FileHeld({
    code: 'currency_unknown',
    message: `The column ${shown} is blank for the order on line ${without.line}, and says ${other.currency} on line ${other.line}, so it is not known that the order without a currency is in ${without.currency}, the currency of the source.`,
    help: `Fill in the column, or export the file again. If all orders without a currency are in ${without.currency}, say so with the reason under the source: missing_columns: { ${shown}: "…" }`,
  });
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

type Finished = Omit<OrderBatch, 'rowsRead' | 'missing'>;

/** Results that wait until a batch is large enough. */
type Pending = {
  readonly orders: StagedOrder[];
  readonly continuations: OrderContinuation[];
  readonly rejected: RejectedRow[];
  readonly missing: MissingRow[];
};

function newPending(): Pending {
  return { orders: [], continuations: [], rejected: [], missing: [] };
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
  const { orders, continuations, rejected, missing } = pending;
  let rowsRead = 0;
  for (const part of [orders, continuations, rejected]) for (const { rowCount } of part) rowsRead += rowCount;
  return { orders, continuations, rejected, missing, rowsRead };
}

function finishOrders(
  open: readonly OpenOrder[],
  {
    builder,
    totals,
    isLast,
    isGroupedById,
    onFooter,
  }: {
    readonly builder: OrderBuilder;
    readonly totals: TotalsRows;
    /** True if no order follows. */
    readonly isLast: boolean;
    readonly isGroupedById: boolean;
    readonly onFooter: MapOptions['onFooter'];
  },
  onRejected: (one: OpenOrder) => void,
): Finished {
  const orders: StagedOrder[] = [];
  const continuations: OrderContinuation[] = [];
  const rejected: RejectedRow[] = [];
  const ids = new Set<string>();
  const contested = new Set<string>();
  for (const one of open) {
    const total = totals.mayBeTotal(one) ? totals.judge(one, isLast) : null;
    if (total !== null && !('code' in total)) {
      onFooter?.(total);
      continue;
    }
    if (total !== null) {
      rejected.push(reject({ ...one, count: 1 }, total, { column: null, value: one.key }));
      onRejected(one);
      continue;
    }
    const built =
      one.states === null ? builder.build(one) : newestOf(one.states.map((state) => builder.build(state)));
    if (built.kind === 'continuation') continuations.push(built.continuation);
    else if (built.kind === 'fault') {
      const order = { ...builder.statedBy(one), changedAt: built.changedAt ?? null };
      for (const run of runsOf(one)) rejected.push(reject(run, built.fault, built, order));
      onRejected(one);
    } else {
      const { orderId } = built.order;
      orders.push(built.order);
      totals.add(built.order);
      if (isGroupedById) continue; // The group is the id, and groups are distinct.
      if (ids.has(orderId)) contested.add(orderId);
      ids.add(orderId);
    }
  }
  if (contested.size === 0) return { orders, continuations, rejected };
  const byKey = new Map(open.map((one) => [one.key, one]));
  for (const { groupKey, orderId } of orders.filter((order) => contested.has(order.orderId))) {
    const one = byKey.get(groupKey);
    if (one === undefined) continue;
    for (const run of runsOf(one))
      rejected.push(reject(run, CONTESTED_ID, { column: null, value: orderId }, builder.statedBy(one)));
    onRejected(one);
  }
  return { orders: orders.filter((order) => !contested.has(order.orderId)), continuations, rejected };
}

const CONTESTED_ID: Fault = {
  code: 'conflicting_rows',
  reason: 'More than one order of this file has this order id.',
  help: 'Find the right order and correct the others, or export the file again. The tool does not guess.',
};

/** A header for which `group` and `order_id` are one column each, for the whole file. */
type NamedHeader = ResolvedHeader & {
  /** Checks a row. Throws FileHeld `order_id_changes` if a preferred column is filled after all. */
  readonly check: (row: CsvRecord) => void;
};

/**
 * Limits for the trial: at most this many rows and characters wait for a row that fills the preferred column.
 */
const TRIAL_ROWS = 1_000;
const TRIAL_CHARS = 1024 ** 2;

/**
 * Chooses the column that identifies the orders of a file: the first of the candidates that any row fills. An
 * id prevents an order from being posted twice, so it must not change from row to row. If rows fill different
 * columns, the preferred one is used, and rows without it are rejected. The first row nearly always decides.
 * Otherwise rows wait, up to a limit. If a later row fills a preferred column, the file is held.
 */
class IdColumns {
  readonly #header: ResolvedHeader;
  /**
   * Candidates for `group` and `order_id` in order of preference, and the index of the best one that a row
   * has filled so far.
   */
  readonly #lists: readonly { readonly candidates: readonly Column[]; best: number }[];
  #rows = 0;
  #chars = 0;

  constructor(header: ResolvedHeader) {
    this.#header = header;
    this.#lists = [header.ids.group, header.ids.orderId].map((candidates) => ({
      candidates,
      best: candidates.length,
    }));
  }

  /** Examines the next rows. @returns null while all rows so far must wait. */
  look(rows: readonly CsvRecord[]): NamedHeader | null {
    for (const { cells } of rows) {
      if (this.#isDecided()) break;
      this.#rows += 1;
      for (const cell of cells) this.#chars += cell.length;
      for (const list of this.#lists) {
        const filled = list.candidates.findIndex(({ index }) => !isBlank(cells[index] ?? ''));
        if (filled !== -1) list.best = Math.min(list.best, filled);
      }
    }
    const isEnough = this.#rows >= TRIAL_ROWS || this.#chars >= TRIAL_CHARS;
    return this.#isDecided() || isEnough ? this.choose() : null;
  }

  /** Chooses the columns according to the rows examined so far. */
  choose(): NamedHeader {
    const [group, orderId] = this.#lists.map(({ candidates, best }) => candidates[best] ?? candidates[0]);
    const passedOver = this.#lists.flatMap(({ candidates, best }) =>
      best === candidates.length ? [] : candidates.slice(0, best),
    );
    const fields = {
      ...this.#header.fields,
      group: group === undefined ? [] : [group],
      order_id: orderId === undefined ? [] : [orderId],
    };
    const check = ({ cells, line }: CsvRecord): void => {
      const other = passedOver.find(({ index }) => !isBlank(cells[index] ?? ''));
      if (other !== undefined) throw idChanges(other.name, orderId?.name ?? '', line);
    };
    return { ...this.#header, fields, check };
  }

  #isDecided(): boolean {
    return this.#lists.every(({ candidates, best }) => candidates.length <= 1 || best === 0);
  }
}

function idChanges(preferred: string, chosen: string, line: number): FileHeld {
  return new FileHeld({
    code: 'order_id_changes',
    message: `Column "${preferred}" is blank in the first ${TRIAL_ROWS} rows, so "${chosen}" identifies their orders, but "${preferred}" is filled on line ${line}. One file cannot use two columns.`,
    help: `Export the file again, with "${preferred}" filled or blank on all rows.`,
  });
}
