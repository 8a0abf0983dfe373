import type { PreviewedJob } from '../../../../jobs/attribute-orders/previewed-job.ts';
import { compareAges, type FileAge, readFileAge } from '../../../core/file-age.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import type { Layout } from '../../../core/layout.ts';
import { type Money, sumMoney } from '../../../core/money.ts';
import type { DecimalText, InstantText, MissingRow, StagedOrder } from '../../../core/order.ts';
import type { CsvChunk } from '../../../core/record.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { statusRules } from '../../../intake/layout/status-rules.ts';
import { mapOrders } from '../../../intake/orders/map/map-orders.ts';
import { createAgeOf } from '../../../intake/read/intake-source.ts';
import { type DateOrder, watchDates } from '../../../intake/values/date-order.ts';
import { watchMarks } from '../../../intake/values/decimal-mark.ts';
import { NO_CURRENCY } from '../../../intake/values/parse-currency.ts';
import { CollectedOrders } from './collected-orders.ts';
import type { ExamineOptions } from './examine-orders.ts';
import { openDetected } from './open-text.ts';

/** Orders with the same outcome. The currency of an amount is null if neither the file nor a person has stated it. */
export type OrderGroup = { readonly orders: number; readonly revenue: readonly Money[] };

/** A code as spelled in the files, with the orders that contain it and would be credited if it has an owner. */
export type CodeFound = OrderGroup & {
  readonly code: string;
  /** Further orders that contain it and would be held. */
  readonly held: number;
};

/** Orders that do not count, with the reason that a run gives. */
export type ExcludedGroup = OrderGroup & { readonly reason: string };

/** Orders that would be held, with the reason that a run gives. */
export type HeldGroupFound = ExcludedGroup & {
  /** The status that is not known; empty if the orders have none. Null: they are held for another reason. */
  readonly status: string | null;
};

/** An order as it would be posted once an influencer owns one of its codes. */
export type PreviewedOrder = {
  readonly orderId: string;
  readonly orderName: string | null;
  readonly placedAt: InstantText | null;
  /** Revenue by the rule of the job. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
  readonly codes: readonly string[];
};

/**
 * What a run would do with the files of a source, before any person has decided about an order. Each order is credited,
 * held, excluded or organic, or in a file that is held.
 */
export type OrdersPreview = {
  readonly rows: number;
  readonly orders: number;
  /** True if there may be more rows than were read. */
  readonly isPartial: boolean;
  /** Ten orders that would be credited. */
  readonly sample: readonly PreviewedOrder[];
  readonly statuses: readonly {
    readonly status: string;
    readonly orders: number;
    /** True if orders with this status pass the gate. */
    readonly isCredited: boolean;
  }[];
  /** Orders that name a code, link or influencer, and would be credited if it has an owner. */
  readonly credited: number;
  readonly revenue: readonly Money[];
  readonly heldOrders: readonly HeldGroupFound[];
  readonly excluded: readonly ExcludedGroup[];
  /** Orders that count but name no code, link or influencer. */
  readonly organic: number;
  /** The codes with the highest revenue come first. */
  readonly codes: readonly CodeFound[];
  readonly rejected: readonly {
    readonly code: string;
    readonly rows: number;
    readonly line: number;
    readonly column: string | null;
    readonly reason: string;
  }[];
  /** The column that identifies orders if the column that the layout prefers is blank. Null otherwise. */
  readonly fallbackId: string | null;
  readonly placed: { readonly first: InstantText; readonly last: InstantText } | null;
  /** Reasons why files would be held, each once, and the number of orders in them. */
  readonly held: readonly string[];
  readonly ordersInHeldFiles: number;
};

/** Reads files as a run does, and asks the gate of the job about each order. */
export async function previewOrders(
  layout: Layout,
  {
    files,
    maxRows,
    source,
    clients,
    signal,
    job,
    dateOrder,
    currency,
  }: ExamineOptions & {
    readonly job: PreviewedJob;
    readonly dateOrder: DateOrder | null;
    /** For amounts without a currency. Undefined if it is not known yet. */
    readonly currency: string | null | undefined;
  },
): Promise<OrdersPreview> {
  const collected = new CollectedOrders(job, statusRules(layout, source, job.include));
  const isSummed = Object.keys(layout.grouping.sum).length > 0;
  // Settings that no person has stated yet remain open: times are shown as written, and amounts without a
  // currency.
  const { decimalMark = null } = source;
  const given = {
    name: source.name,
    timeZone: source.timeZone ?? 'UTC',
    currency: currency ?? NO_CURRENCY,
    dateOrder,
    decimalMark,
    missingColumns: source.missingColumns,
  };
  const preferred = foldHeader(layout.columns.order_id?.[0] ?? '');
  const ageOf = createAgeOf(source);
  const stated: StatedOrders = new Map();
  const heldFiles: { readonly why: string; readonly orders: readonly StagedOrder[] }[] = [];
  for (const { file, encoding } of files) {
    if (collected.rows >= maxRows) break;
    const chunks = openDetected(file, layout, { source, clients, encoding, ...(signal ? { signal } : {}) });
    const dates = watchDates(layout, given);
    const marks = watchMarks(layout, given);
    let hasPreferred = false;
    const watchHeader = async function* (from: AsyncIterable<CsvChunk>): AsyncGenerator<CsvChunk> {
      for await (const chunk of from) {
        hasPreferred = chunk.header.some((text) => foldHeader(text) === preferred);
        yield chunk;
      }
    };
    // Whether a file is held, or an order of it lacks a row, is known only at its end.
    const orders: StagedOrder[] = [];
    const missing: MissingRow[] = [];
    try {
      const options = {
        layout,
        source: given,
        dates,
        marks,
        anyStatus: job.include === 'any',
        onIdColumn: ({ name, isFallback }: { name: string | null; isFallback: boolean }) => {
          if (isFallback && hasPreferred) collected.fallbackId = name;
        },
      };
      for await (const batch of mapOrders(watchHeader(chunks), options)) {
        orders.push(...batch.orders);
        missing.push(...batch.missing);
        for (const row of batch.rejected) collected.takeRejected(row);
        collected.rows += batch.rowsRead;
        if (collected.rows >= maxRows) break;
      }
      marks?.require();
      state(stated, isSummed ? withDoubts(orders, missing) : orders, { age: ageOf(file), isSummed });
    } catch (error) {
      if (!(error instanceof FileHeld)) throw error;
      heldFiles.push({ why: error.message, orders });
    }
  }
  for (const { order } of stated.values()) collected.takeOrder(order);
  for (const { why, orders } of heldFiles) {
    const others = orders.filter(({ orderId }) => !stated.has(orderId));
    state(stated, others, { age: NO_AGE, isSummed: false });
    collected.takeHeldFile(why, [...new Map(others.map((order) => [order.orderId, order])).values()]);
  }
  return collected.toPreview(collected.rows >= maxRows);
}

type StatedOrders = Map<string, { readonly order: StagedOrder; readonly age: FileAge }>;

/** The age of a file that is held. */
const NO_AGE = readFileAge({ uri: '', name: '', modifiedAt: null, rule: null });

/**
 * Keeps each order once, in the state that counts, as sealing does (order-by-age.ts): that of the newest file; in doubt if
 * two states differ and nothing says which is newer. Distant rows of one file say the same, or a run would reject them,
 * unless they add up.
 */
function state(
  stated: StatedOrders,
  orders: readonly StagedOrder[],
  { age, isSummed }: { readonly age: FileAge; readonly isSummed: boolean },
): void {
  for (const order of orders) {
    const known = stated.get(order.orderId);
    const isNewer = known === undefined ? 1 : compareAges(age, known.age);
    const isSameFile = known?.age === age;
    if (known !== undefined && isSameFile && isSummed)
      stated.set(order.orderId, { order: addUp(known.order, order), age });
    else if (isNewer > 0) stated.set(order.orderId, { order, age });
    else if (isNewer === 0 && !isSameFile && known?.order.contentHash !== order.contentHash)
      stated.set(order.orderId, { order: { ...order, doubt: 'conflicting_states' }, age });
  }
}

function addUp(one: StagedOrder, other: StagedOrder): StagedOrder {
  const sum = (field: 'total' | 'subtotal' | 'refunded'): DecimalText | null => {
    const amounts = [one[field], other[field]].filter((amount) => amount !== null);
    return amounts.length === 0 ? null : sumMoney(amounts);
  };
  return { ...one, total: sum('total'), subtotal: sum('subtotal'), refunded: sum('refunded') };
}

/** Marks orders that may lack a row, as intake does when it seals a file of rows that add up. */
function withDoubts(orders: readonly StagedOrder[], missing: readonly MissingRow[]): readonly StagedOrder[] {
  if (missing.length === 0) return orders;
  const certain = new Set(missing.filter(({ isCertain }) => isCertain).map(({ groupKey }) => groupKey));
  const possible = new Set(missing.map(({ groupKey }) => groupKey));
  return orders.map((order) => {
    if (certain.has(order.groupKey)) return { ...order, doubt: 'incomplete' };
    const mayLack = order.doubt === null && (possible.has(order.groupKey) || possible.has(null));
    return mayLack ? { ...order, doubt: 'may_be_incomplete' } : order;
  });
}
