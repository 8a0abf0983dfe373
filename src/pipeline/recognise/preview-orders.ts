import { countsStatus, type StatusRules, statusRules } from '../../map/layout/status-rules.ts';
import { type DateOrder, watchDates } from '../../map/orders/date-order.ts';
import { watchMarks } from '../../map/orders/decimal-mark.ts';
import { mapOrders } from '../../map/orders/map-orders.ts';
import { NO_CURRENCY } from '../../map/values/parse-currency.ts';
import { FileHeld } from '../../model/held/file-held.ts';
import type { Layout } from '../../model/layout.ts';
import { sumMoney } from '../../model/money.ts';
import { type DecimalText, type InstantText, isExcluded, type StagedOrder } from '../../model/order.ts';
import type { CsvChunk, RejectedRow } from '../../model/record.ts';
import { foldCode, foldHeader } from '../../model/text/fold.ts';
import type { ExamineOptions } from './examine-orders.ts';
import { openDetected } from './open-text.ts';

/** An amount in one currency. The currency is null if neither the file nor a person has stated it. */
export type CurrencySum = { readonly currency: string | null; readonly amount: DecimalText };

/**
 * A code as spelled in the files, with the number and revenue of the orders to be credited that contain it.
 */
export type CodeFound = {
  readonly code: string;
  readonly orders: number;
  readonly revenue: readonly CurrencySum[];
};

/** An order as it would be posted once an influencer owns one of its codes. */
export type PreviewedOrder = {
  readonly orderId: string;
  readonly orderName: string | null;
  readonly placedAt: InstantText | null;
  readonly total: DecimalText | null;
  readonly currency: string | null;
  readonly codes: readonly string[];
};

/** What a run would do with the files of a source. */
export type OrdersPreview = {
  readonly rows: number;
  readonly orders: number;
  /** True if there may be more rows than were read. */
  readonly isPartial: boolean;
  /** Ten orders to be credited, those with a code first. */
  readonly sample: readonly PreviewedOrder[];
  readonly statuses: readonly {
    readonly status: string;
    readonly orders: number;
    readonly isCredited: boolean;
  }[];
  readonly excluded: readonly { readonly reason: string; readonly orders: number }[];
  /** Orders to be credited, and the number of those that name a code, link or influencer. */
  readonly credited: number;
  readonly creditedWithCode: number;
  readonly zeroRevenue: number;
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
  /** Reasons why files would be held, each once. */
  readonly held: readonly string[];
};

const SAMPLE = 10;

export async function previewOrders(
  layout: Layout,
  {
    files,
    maxRows,
    source,
    clients,
    signal,
    dateOrder,
    currency,
  }: ExamineOptions & {
    readonly dateOrder: DateOrder | null;
    /** For amounts without a currency. Undefined if it is not known yet. */
    readonly currency: string | null | undefined;
  },
): Promise<OrdersPreview> {
  const collected = new Collected(layout);
  // Settings that no person has stated yet remain open: times are shown as written, and amounts without a
  // currency.
  const { decimalMark = null } = source;
  const given = {
    name: source.name,
    timeZone: 'UTC',
    currency: currency ?? NO_CURRENCY,
    dateOrder,
    decimalMark,
  };
  const preferred = foldHeader(layout.columns.order_id?.[0] ?? '');
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
    try {
      const options = {
        layout,
        source: given,
        dates,
        marks,
        onIdColumn: ({ name, isFallback }: { name: string | null; isFallback: boolean }) => {
          if (isFallback && hasPreferred) collected.fallbackId = name;
        },
      };
      for await (const batch of mapOrders(watchHeader(chunks), options)) {
        for (const order of batch.orders) collected.takeOrder(order);
        for (const row of batch.rejected) collected.takeRejected(row);
        collected.rows += batch.rowsRead;
        if (collected.rows >= maxRows) break;
      }
      marks?.require();
    } catch (error) {
      if (!(error instanceof FileHeld)) throw error;
      collected.held.add(error.message);
    }
  }
  return collected.toPreview(collected.rows >= maxRows);
}

/**
 * Counts for one source. Memory grows with the number of different codes and statuses, never with the number
 * of orders.
 */
class Collected {
  rows = 0;
  fallbackId: string | null = null;
  readonly held = new Set<string>();
  readonly #counts: StatusRules;
  readonly #statuses = new Map<string, { orders: number; isCredited: boolean }>();
  readonly #excluded = new Map<string, number>();
  readonly #codes = new Map<
    string,
    { code: string; orders: number; revenue: Map<string | null, DecimalText> }
  >();
  readonly #rejected = new Map<string, { row: RejectedRow; rows: number }>();
  readonly #withCode: PreviewedOrder[] = [];
  readonly #others: PreviewedOrder[] = [];
  #orders = 0;
  #creditedOrders = 0;
  #creditedWithCode = 0;
  #zeroRevenue = 0;
  #first: InstantText | null = null;
  #last: InstantText | null = null;

  constructor(layout: Layout) {
    this.#counts = statusRules(layout, {}, null);
  }

  takeOrder(order: StagedOrder): void {
    this.#orders += 1;
    const word = order.status ?? '';
    const isCredited = countsStatus(this.#counts, order.status);
    const status = this.#statuses.get(word) ?? { orders: 0, isCredited };
    status.orders += 1;
    this.#statuses.set(word, status);
    const { placedAt } = order;
    if (placedAt !== null) {
      if (this.#first === null || placedAt < this.#first) this.#first = placedAt;
      if (this.#last === null || placedAt > this.#last) this.#last = placedAt;
    }
    // The name of what a job may credit, such as a renewal, is not a reason here.
    const isCancelled = order.cancelledAt !== null;
    const reason = isExcluded(order) ? order.exclusion : isCancelled ? 'cancelled' : null;
    if (reason !== null) this.#excluded.set(reason, (this.#excluded.get(reason) ?? 0) + 1);
    else if (isCredited) this.#takeCredited(order);
  }

  #takeCredited(order: StagedOrder): void {
    const amount = order.total ?? order.subtotal;
    const currency = order.currency === NO_CURRENCY ? null : order.currency;
    const { orderId, orderName, placedAt, codes } = order;
    const names = [
      ...codes,
      ...order.links,
      ...((order.influencerHandle ?? order.dealId ?? '') ? ['—'] : []),
    ];
    const shown = { orderId, orderName, placedAt, total: amount, currency, codes };
    this.#creditedOrders += 1;
    if (amount === null || !/[1-9]/.test(amount)) this.#zeroRevenue += 1;
    if (names.length > 0) this.#creditedWithCode += 1;
    const samples = names.length > 0 ? this.#withCode : this.#others;
    if (samples.length < SAMPLE) samples.push(shown);
    for (const code of codes) {
      const key = foldCode(code);
      const found = this.#codes.get(key) ?? { code, orders: 0, revenue: new Map() };
      found.orders += 1;
      found.revenue.set(currency, sumMoney([found.revenue.get(currency) ?? '0', amount ?? '0']));
      this.#codes.set(key, found);
    }
  }

  takeRejected(row: RejectedRow): void {
    const key = `${row.code} ${row.column ?? ''}`;
    const known = this.#rejected.get(key);
    if (known === undefined) this.#rejected.set(key, { row, rows: row.rowCount });
    else known.rows += row.rowCount;
  }

  toPreview(isPartial: boolean): OrdersPreview {
    const placed =
      this.#first === null || this.#last === null ? null : { first: this.#first, last: this.#last };
    return {
      rows: this.rows,
      orders: this.#orders,
      isPartial,
      sample: [...this.#withCode, ...this.#others].slice(0, SAMPLE),
      statuses: [...this.#statuses]
        .map(([status, counts]) => ({ status, ...counts }))
        .sort((one, other) => other.orders - one.orders),
      excluded: [...this.#excluded].map(([reason, orders]) => ({ reason, orders })),
      credited: this.#creditedOrders,
      creditedWithCode: this.#creditedWithCode,
      zeroRevenue: this.#zeroRevenue,
      codes: [...this.#codes.values()]
        .map(({ code, orders, revenue }) => ({
          code,
          orders,
          revenue: [...revenue].map(([currency, amount]) => ({ currency, amount })),
        }))
        .sort((one, other) => highest(other.revenue) - highest(one.revenue) || other.orders - one.orders),
      rejected: [...this.#rejected.values()]
        .map(({ row: { code, line, column, reason }, rows }) => ({ code, rows, line, column, reason }))
        .sort((one, other) => other.rows - one.rows),
      fallbackId: this.fallbackId,
      placed,
      held: [...this.held],
    };
  }
}

/** Used only for sorting. Amounts of different currencies are never added up. */
function highest(revenue: readonly CurrencySum[]): number {
  return Math.max(0, ...revenue.map(({ amount }) => Number(amount)));
}
