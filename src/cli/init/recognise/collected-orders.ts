import { type Gate, gateOf, revenueOf } from '../../../../jobs/attribute-orders/decide/gate.ts';
import type { PreviewedJob } from '../../../../jobs/attribute-orders/previewed-job.ts';
import type { StatusRules } from '../../../core/layout.ts';
import { type Money, sumMoney } from '../../../core/money.ts';
import { type DecimalText, type InstantText, namesOwner, type StagedOrder } from '../../../core/order.ts';
import type { RejectedRow } from '../../../core/record.ts';
import { foldCode } from '../../../core/text/fold.ts';
import { zoneClock } from '../../../core/time/zone-clock.ts';
import { NO_CURRENCY } from '../../../intake/values/parse-currency.ts';
import type { OrderGroup, OrdersPreview, PreviewedOrder } from './preview-orders.ts';

const SAMPLE = 10;

/**
 * What becomes of the orders of one source. Its memory grows with the number of different codes and statuses, never
 * with that of orders.
 */
export class CollectedOrders {
  rows = 0;
  fallbackId: string | null = null;
  readonly #judge: (order: StagedOrder) => ReturnType<Gate['judge']>;
  readonly #revenueOf: (order: StagedOrder) => DecimalText | null;
  readonly #statuses = new Map<string, { orders: number; isCredited: boolean }>();
  readonly #credited = new Sums();
  readonly #excluded = new Map<string, Sums>();
  readonly #held = new Map<string, { reason: string; status: string | null; sums: Sums }>();
  readonly #codes = new Map<string, { code: string; sums: Sums; held: number }>();
  readonly #heldFiles = new Set<string>();
  readonly #rejected = new Map<string, { row: RejectedRow; rows: number }>();
  readonly #sample: PreviewedOrder[] = [];
  #orders = 0;
  #organic = 0;
  #inHeldFiles = 0;
  #first: InstantText | null = null;
  #last: InstantText | null = null;

  constructor(job: PreviewedJob, statuses: StatusRules) {
    const gate = gateOf(job);
    const { start } = job;
    const startMs = start === null ? null : zoneClock(start.timeZone).toInstantMs(Date.parse(start.day));
    this.#judge = (order) => {
      const orderedAt = order.placedAt ?? order.paidAt;
      const isBefore = startMs !== null && orderedAt !== null && Date.parse(orderedAt) < startMs;
      return isBefore ? { outcome: 'excluded', reason: 'before_start' } : gate.judge(order, statuses);
    };
    this.#revenueOf = (order) => revenueOf(order, job.revenue);
  }

  /** Takes an order of a file that can be read. */
  takeOrder(order: StagedOrder): void {
    const stop = this.#judge(order);
    this.#note(order).isCredited ||= stop === null;
    const currency = order.currency === NO_CURRENCY ? null : order.currency;
    const money = { amount: this.#revenueOf(order), currency };
    if (stop?.outcome === 'excluded') at(this.#excluded, stop.reason, () => new Sums()).add(money);
    else if (!namesOwner(order)) this.#organic += 1;
    else if (stop === null) this.#takeCredited(order, money);
    else this.#takeHeld(order, stop.reason, money);
  }

  /** Takes a file that a run would hold, with the orders that were read from it. */
  takeHeldFile(why: string, orders: readonly StagedOrder[]): void {
    this.#heldFiles.add(why);
    this.#inHeldFiles += orders.length;
    for (const order of orders) this.#note(order);
  }

  #note({ status, placedAt }: StagedOrder): { isCredited: boolean } {
    this.#orders += 1;
    if (placedAt !== null) {
      if (this.#first === null || placedAt < this.#first) this.#first = placedAt;
      if (this.#last === null || placedAt > this.#last) this.#last = placedAt;
    }
    const found = at(this.#statuses, status ?? '', () => ({ orders: 0, isCredited: false }));
    found.orders += 1;
    return found;
  }

  #takeCredited(order: StagedOrder, money: StatedMoney): void {
    const { orderId, orderName, placedAt, codes } = order;
    this.#credited.add(money);
    if (this.#sample.length < SAMPLE) this.#sample.push({ orderId, orderName, placedAt, ...money, codes });
    for (const code of codes) this.#codeOf(code).sums.add(money);
  }

  #takeHeld(order: StagedOrder, reason: string, money: StatedMoney): void {
    const status = reason === 'unknown_status' ? (order.status ?? '') : null;
    at(this.#held, `${reason} ${status ?? ''}`, () => ({ reason, status, sums: new Sums() })).sums.add(money);
    for (const code of order.codes) this.#codeOf(code).held += 1;
  }

  #codeOf(code: string): { sums: Sums; held: number } {
    return at(this.#codes, foldCode(code), () => ({ code, sums: new Sums(), held: 0 }));
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
      sample: this.#sample,
      statuses: [...this.#statuses]
        .map(([status, counts]) => ({ status, ...counts }))
        .sort((one, other) => other.orders - one.orders),
      credited: this.#credited.orders,
      revenue: this.#credited.toGroup().revenue,
      heldOrders: [...this.#held.values()]
        .map(({ reason, status, sums }) => ({ reason, status, ...sums.toGroup() }))
        .sort((one, other) => other.orders - one.orders),
      excluded: [...this.#excluded]
        .map(([reason, sums]) => ({ reason, ...sums.toGroup() }))
        .sort((one, other) => other.orders - one.orders),
      organic: this.#organic,
      codes: [...this.#codes.values()]
        .map(({ code, sums, held }) => ({ code, held, ...sums.toGroup() }))
        .sort((one, other) => highest(other.revenue) - highest(one.revenue) || other.orders - one.orders),
      rejected: [...this.#rejected.values()]
        .map(({ row: { code, line, column, reason }, rows }) => ({ code, rows, line, column, reason }))
        .sort((one, other) => other.rows - one.rows),
      fallbackId: this.fallbackId,
      placed,
      held: [...this.#heldFiles],
      ordersInHeldFiles: this.#inHeldFiles,
    };
  }
}

/** An amount as a file states it; null if it states none. */
type StatedMoney = { readonly amount: DecimalText | null; readonly currency: string | null };

/** Number of orders, and their known amounts for each currency. */
class Sums {
  orders = 0;
  readonly #amounts = new Map<string | null, DecimalText>();

  add({ amount, currency }: StatedMoney): void {
    this.orders += 1;
    this.#amounts.set(currency, sumMoney([this.#amounts.get(currency) ?? '0', amount ?? '0']));
  }

  toGroup(): OrderGroup {
    const revenue = [...this.#amounts].map(([currency, amount]) => ({ currency, amount }));
    return { orders: this.orders, revenue };
  }
}

/** Returns the value of a key, which is created if it does not exist. */
function at<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const value = map.get(key) ?? create();
  map.set(key, value);
  return value;
}

/** Used only for sorting. Amounts of different currencies are never added up. */
function highest(revenue: readonly Money[]): number {
  return Math.max(0, ...revenue.map(({ amount }) => Number(amount)));
}
