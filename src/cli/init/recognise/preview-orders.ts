import { type Gate, gateOf, revenueOf } from '../../../../jobs/attribute-orders/decide/gate.ts';
import { type PreviewedJob, thresholdsOf } from '../../../../jobs/attribute-orders/previewed-job.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import { wordOf } from '../../../core/held/held-order.ts';
import type { StatusRules } from '../../../core/layout.ts';
import { type DecimalText, type Money, sumMoney, toUnits } from '../../../core/money.ts';
import { type InstantText, type MissingRow, namesOwner, type StagedOrder } from '../../../core/order.ts';
import type { CsvChunk, FooterRow, RejectedRow } from '../../../core/record.ts';
import { foldCode, foldHeader } from '../../../core/text/fold.ts';
import { exportedAtMs } from '../../../core/time/exported-at.ts';
import { compareAges, type FileAge, readFileAge } from '../../../core/time/file-age.ts';
import { zoneClock } from '../../../core/time/zone-clock.ts';
import { judgeRejected } from '../../../intake/files/judge-rows.ts';
import { statusRules } from '../../../intake/layout/status-rules.ts';
import type { Layout } from '../../../intake/layout/to-layout.ts';
import { judgeOrders, type Thresholds } from '../../../intake/orders/find-hold-reason.ts';
import {
  arePlacedApart,
  areTimed,
  minutesBetween,
  zoneStepsOf,
} from '../../../intake/orders/map/built-order.ts';
import { mapOrders } from '../../../intake/orders/map/map-orders.ts';
import { OTHER_ORDER } from '../../../intake/orders/order-by-age.ts';
import { createAgeOf } from '../../../intake/read/intake-source.ts';
import { type DateOrder, watchDates } from '../../../intake/values/date-order.ts';
import { watchMarks } from '../../../intake/values/decimal-mark.ts';
import { NO_CURRENCY } from '../../../intake/values/parse-currency.ts';
import { type ExamineOptions, openDetected } from './recognise-file.ts';

/** Orders with the same outcome. The currency of an amount is null if neither the file nor a person has stated it. */
export type OrderGroup = {
  readonly orders: number;
  readonly revenue: readonly Money[];
  /** Number of the orders whose amount is not known. */
  readonly withoutAmount: number;
};

/** A code as spelled in the files, with the orders that contain it and would be credited if it has an owner. */
export type CodeFound = OrderGroup & {
  readonly code: string;
  /** Further orders that contain it and would be held. */
  readonly held: number;
};

/** Orders that do not count, with the reason that a run gives. */
export type ExcludedGroup = OrderGroup & { readonly reason: string };

/** `held`: nobody has said what the status means. */
export type StatusEffect = 'credited' | 'not credited' | 'held';

/** Orders that would be held, with the reason that a run gives. */
export type HeldGroupFound = ExcludedGroup & {
  /** What is not known: the status, empty if the orders have none, or `COLUMN=WORD`. Null: they are held for another reason. */
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
    /** What the status says; other columns may say no as well. */
    readonly effect: StatusEffect;
  }[];
  /** Orders that name a code, link or influencer, and would be credited if it has an owner. */
  readonly credited: number;
  readonly revenue: readonly Money[];
  readonly heldOrders: readonly HeldGroupFound[];
  readonly excluded: readonly ExcludedGroup[];
  /** Orders that count but name no code, link or influencer. */
  readonly organic: number;
  /** Orders that name one and renew a subscription, whatever becomes of them. */
  readonly renewals: number;
  /** The codes with the highest revenue come first. */
  readonly codes: readonly CodeFound[];
  /** Rows at the ends of the files that are no orders. */
  readonly footer: readonly FooterRow[];
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
  options: ExamineOptions & {
    readonly job: PreviewedJob;
    readonly dateOrder: DateOrder | null;
    /** Whether it is not known, and only supposed. */
    readonly isDateOpen: boolean;
    /** For amounts without a currency: `NO_CURRENCY` if a person will be asked for it, null if none will. */
    readonly currency: string | null;
    /** True if no person will be asked for what the source does not say: a run would not know it either. */
    readonly isComplete: boolean;
  },
): Promise<OrdersPreview> {
  const { files, maxRows, source, clients, job, dateOrder, isDateOpen, currency, isComplete } = options;
  const collected = new CollectedOrders(job, statusRules(layout, source, job.include));
  const isSummed = Object.keys(layout.grouping.sum).length > 0;
  // Settings that no person has stated yet remain open: times are shown as written, and amounts without a
  // currency.
  const { name, timeZone, missingColumns, decimalMark = null } = source;
  const given = {
    name,
    dateOrder,
    decimalMark,
    missingColumns,
    timeZone: timeZone ?? (isComplete ? null : 'UTC'),
    currency,
  };
  const preferred = foldHeader(layout.columns.order_id?.[0] ?? '');
  const ageOf = createAgeOf(source);
  const ofRun = thresholdsOf(job, { layout, source });
  // As long as a person may be asked which states count, one that is not known holds its orders, and not the file.
  const expected = isComplete ? ofRun.expected : { ...ofRun.expected, listed: null };
  const stated: StatedOrders = new Map();
  const lost = new Map<string, FileAge>();
  const heldFiles: { readonly why: string; readonly orders: readonly StagedOrder[] }[] = [];
  for (const { file, encoding } of files) {
    if (collected.rows >= maxRows) break;
    const chunks = openDetected(file, layout, { source, clients, encoding });
    const dates = watchDates(layout, given);
    const marks = watchMarks(layout, given);
    let hasPreferred = false;
    const watchHeader = async function* (from: AsyncIterable<CsvChunk>): AsyncGenerator<CsvChunk> {
      for await (const chunk of from) {
        hasPreferred = chunk.header.some((text) => foldHeader(text) === preferred);
        collected.footer.push(...(chunk.footer ?? []));
        yield chunk;
      }
    };
    // Whether a file is held, or an order of it lacks a row, is known only at its end.
    const orders: StagedOrder[] = [];
    const missing: MissingRow[] = [];
    const age = ageOf(file);
    const counted = { rowsRead: 0, rejected: 0 };
    try {
      const mapping = {
        modifiedAt: file.modifiedAt ?? null,
        layout,
        source: given,
        dates,
        marks,
        anyStatus: job.include === 'any',
        onFooter: (row: FooterRow) => void collected.footer.push(row),
        onIdColumn: ({ name, isFallback }: { name: string | null; isFallback: boolean }) => {
          if (isFallback && hasPreferred) collected.fallbackId = name;
        },
      };
      for await (const batch of mapOrders(watchHeader(chunks), mapping)) {
        orders.push(...batch.orders);
        missing.push(...batch.missing);
        for (const row of batch.rejected) {
          collected.takeRejected(row);
          counted.rejected += row.rowCount;
          const order = row.orderId ?? row.orderName ?? '';
          if (compareAges(age, lost.get(order) ?? age) >= 0) lost.set(order, age);
        }
        collected.rows += batch.rowsRead;
        counted.rowsRead += batch.rowsRead;
        if (collected.rows >= maxRows) break;
      }
      dates?.require();
      marks?.require();
      const { maxRejectedShare } = source.limits;
      const reason =
        judgeRejected({ ...counted, maxRejectedShare, source: source.name }) ??
        (await judgeCounts(orders, { stated, thresholds: { ...ofRun, expected } }));
      if (reason !== null) throw new FileHeld(reason);
      // As long as it is not known which of day and month comes first, dates are not judged.
      const writtenMs = isDateOpen ? Number.POSITIVE_INFINITY : exportedAtMs(file.modifiedAt ?? null);
      state(stated, isSummed ? withDoubts(orders, missing) : orders, { age, isSummed, writtenMs });
    } catch (error) {
      if (!(error instanceof FileHeld)) throw error;
      heldFiles.push({ why: error.message, orders });
    }
  }
  for (const { order, age, writtenMs } of stated.values()) {
    const rejected = lost.get(order.orderId) ?? lost.get(order.orderName ?? order.groupKey) ?? age;
    const isOutdated = rejected !== age && order.doubt === null && compareAges(rejected, age) >= 0;
    collected.takeOrder(isOutdated ? { ...order, doubt: 'newer_row_rejected' } : order, writtenMs);
  }
  for (const { why, orders } of heldFiles) {
    const others = orders.filter(({ orderId }) => !stated.has(orderId));
    state(stated, others, { age: NO_AGE, isSummed: false, writtenMs: Number.POSITIVE_INFINITY });
    collected.takeHeldFile(why, [...new Map(others.map((order) => [order.orderId, order])).values()]);
  }
  return collected.toPreview(collected.rows >= maxRows);
}

type StatedOrders = Map<
  string,
  {
    readonly order: StagedOrder;
    readonly age: FileAge;
    readonly writtenMs: number;
    /** The last time at which a file said that it was placed. */
    readonly placedAt: StagedOrder['placedAt'];
    /** Whether that file states times of day. */
    readonly isTimed: boolean;
  }
>;

/** Judges what the orders of a file have in common. What another file has stated already is not counted (count-staged.ts). */
function judgeCounts(
  all: readonly StagedOrder[],
  { stated, thresholds }: { stated: StatedOrders; thresholds: Thresholds },
): ReturnType<typeof judgeOrders> {
  const { revenue, credited, mayLackStatus, listed, currency } = thresholds.expected;
  const orders = [...new Map(all.map((order) => [order.orderId, order])).values()];
  const open = orders.filter(
    ({ orderId, contentHash, exclusion }) =>
      (exclusion ?? 'renewal') === 'renewal' && stated.get(orderId)?.order.contentHash !== contentHash,
  );
  const counting = open.filter(
    ({ status }) => credited === null || (status === null ? mayLackStatus : credited.includes(status)),
  );
  const unlisted = listed === null ? [] : open.filter(({ status }) => !listed.includes(status ?? ''));
  const totals = {
    orders: orders.length,
    cancelled: orders.filter((one) => one.cancelledAt !== null || one.exclusion === 'cancelled').length,
    alike: {
      open: open.length,
      unlistedStatus: unlisted.length,
      otherCurrency: open.filter((one) => currency !== null && (one.currency ?? currency) !== currency)
        .length,
      credited: counting.length,
      zeroRevenue: counting.filter((one) => toUnits(one[revenue] ?? '0') === 0n).length,
    },
  };
  const listUnlisted = async () =>
    mostFirst(
      [...Map.groupBy(unlisted, ({ status }) => status)].map(([status, of]) => ({
        status,
        orders: of.length,
      })),
    );
  return judgeOrders(totals, { thresholds, listUnlisted });
}

/** The age of a file that is held. */
const NO_AGE = readFileAge({ uri: '', name: '', modifiedAt: null, rule: null });

/**
 * Keeps each order once, in the state that counts, as sealing does (order-by-age.ts): that of the newest file; in doubt if
 * two states differ and nothing says which is newer, or if another file states another order with the id. A run rejects
 * rows of one file that contradict each other, unless they add up: here, their order is in doubt.
 */
function state(
  stated: StatedOrders,
  orders: readonly StagedOrder[],
  { age, isSummed, writtenMs }: { age: FileAge; isSummed: boolean; writtenMs: number },
): void {
  const hasTimes = areTimed(orders.map(({ placedAt }) => placedAt));
  const moved = orders.map((own) => {
    const known = stated.get(own.orderId);
    const minutes = minutesBetween(own.placedAt, known?.placedAt ?? null);
    return minutes === null || Math.abs(minutes) < 1 ? null : { zoneSteps: zoneStepsOf(minutes) };
  });
  for (const [at, own] of orders.entries()) {
    const known = stated.get(own.orderId);
    const isNewer = known === undefined ? 1 : compareAges(age, known.age);
    const isSameFile = known?.age === age;
    const order = known === undefined || isSameFile || !isSummed ? own : joinParts(known.order, own);
    const addsItems = (order.items?.length ?? 0) > (known?.order.items?.length ?? 0);
    const placedAt = order.placedAt ?? known?.placedAt ?? null;
    const isTimed = order.placedAt === null ? known?.isTimed === true : hasTimes;
    const next = { order, age, writtenMs, placedAt, isTimed };
    const zoneSteps = moved[at]?.zoneSteps ?? null;
    const isOther =
      known !== undefined &&
      !isSameFile &&
      (arePlacedApart([order.placedAt, known.placedAt]) ||
        (moved[at] !== null &&
          isTimed === known.isTimed &&
          amountOf(own) >= 0n &&
          (zoneSteps === null ||
            (areOtherPurchases(own, known.order) &&
              moved.filter((one) => one?.zoneSteps === zoneSteps).length === 1))));
    if (isOther) stated.set(order.orderId, { ...known, order: { ...known.order, doubt: OTHER_ORDER } });
    else if (known !== undefined && isSameFile && isSummed)
      stated.set(order.orderId, { ...next, order: addUp(known.order, order) });
    else if (isNewer > 0)
      stated.set(order.orderId, {
        ...next,
        order: { ...order, doubt: order.doubt ?? refundDoubtOf(order, known?.order) },
      });
    else if (isNewer === 0 ? known?.order.contentHash !== order.contentHash : isSummed && addsItems)
      stated.set(order.orderId, { ...next, order: { ...order, doubt: 'conflicting_states' } });
  }
}

/**
 * What two files together state of an order whose rows add up, as sealing does (seal-file.ts): the items of both, if
 * items have ids. Otherwise the newer one may be a part of the order, which then is in doubt.
 */
function joinParts(known: StagedOrder, order: StagedOrder): StagedOrder {
  if (order.contentHash === known.contentHash) return order;
  if (known.items !== null && order.items !== null) {
    const items = [...new Map([...known.items, ...order.items].map((item) => [item[0], item])).values()];
    if (items.length === order.items.length) return order;
    const sum = (at: 1 | 2 | 3): DecimalText | null => {
      const amounts = items.map((item) => item[at]).filter((amount) => amount !== null);
      return amounts.length === 0 ? null : sumMoney(amounts);
    };
    const amounts = { total: sum(1), subtotal: sum(2), refunded: sum(3) };
    const contentHash = `${known.contentHash} ${order.contentHash}`;
    return { ...keepStated(known, order), ...amounts, items, doubt: order.doubt ?? known.doubt, contentHash };
  }
  const [before, amount] = [amountOf(known), amountOf(order)];
  if (order.doubt !== null) return order;
  const isRefund = amount < 0n && amount + before > 0n;
  const isShorter = order.rowCount < known.rowCount || (known.rowCount === 1 && order.rowCount === 1);
  if (!isRefund && (amount < 0n || before === 0n || amount === before || !isShorter)) return order;
  const contentHash = `${order.contentHash} may_be_split`;
  return { ...(isRefund ? keepStated(known, order) : order), doubt: 'may_be_split', contentHash };
}

function amountOf({ total, subtotal }: StagedOrder): bigint {
  return toUnits(total ?? subtotal ?? '0');
}

/** A part of an order with what it leaves blank, and another part states. */
function keepStated(known: StagedOrder, part: StagedOrder): StagedOrder {
  return {
    ...part,
    status: part.status ?? known.status,
    codes: part.codes.length > 0 ? part.codes : known.codes,
    links: part.links.length > 0 ? part.links : known.links,
    influencerHandle: part.influencerHandle ?? known.influencerHandle,
    dealId: part.dealId ?? known.dealId,
    collabId: part.collabId ?? known.collabId,
    brandId: part.brandId ?? known.brandId,
    placedAt: part.placedAt ?? known.placedAt,
    paidAt: part.paidAt ?? known.paidAt,
    cancelledAt: part.cancelledAt ?? known.cancelledAt,
    exclusion: part.exclusion ?? known.exclusion,
  };
}

/** In doubt if the total fell by just what was refunded, as sealing judges it (`doubtRefunds`). */
function refundDoubtOf(order: StagedOrder, known: StagedOrder | undefined): StagedOrder['doubt'] {
  if (known === undefined || known.currency !== order.currency) return null;
  const [before, now] = [known, order].map(({ total, refunded }) => ({
    total: total === null ? null : toUnits(total),
    refunded: toUnits(refunded ?? '0'),
  }));
  if (!before || !now || before.total === null || now.total === null || now.refunded <= 0n) return null;
  const fell = before.total - now.total;
  const isDoubtful =
    known.doubt === 'refund_in_total'
      ? fell === 0n
      : now.total > 0n && fell > 0n && fell === now.refunded - before.refunded;
  return isDoubtful ? 'refund_in_total' : null;
}

/** True if what was bought differs, as sealing compares it (`isOtherPurchase`). Customers have no key before a run. */
function areOtherPurchases(one: StagedOrder, other: StagedOrder): boolean {
  const said = ({ total, subtotal, currency, codes, links, influencerHandle, items }: StagedOrder) => [
    ...[total, subtotal].map((amount) => (amount === null ? null : toUnits(amount))),
    currency,
    ...[codes, links].map((list) => list.map(foldCode).join('\n')),
    influencerHandle,
    items === null ? null : JSON.stringify(items),
  ];
  const known = said(other);
  return said(one).some((what, at) => what !== null && (known[at] ?? null) !== null && what !== known[at]);
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

const SAMPLE = 10;

/**
 * What becomes of the orders of one source. Its memory grows with the number of different codes and statuses, never
 * with that of orders.
 */
class CollectedOrders {
  rows = 0;
  fallbackId: string | null = null;
  readonly footer: FooterRow[] = [];
  readonly #judge: (order: StagedOrder, writtenMs: number) => ReturnType<Gate['judge']>;
  readonly #revenueOf: (order: StagedOrder) => DecimalText | null;
  readonly #rules: StatusRules;
  readonly #statuses = new Map<string, { orders: number; effect: StatusEffect }>();
  readonly #credited = new Sums();
  readonly #excluded = new Map<string, Sums>();
  readonly #held = new Map<string, { reason: string; status: string | null; sums: Sums }>();
  readonly #codes = new Map<string, { code: string; sums: Sums; held: number }>();
  readonly #heldFiles = new Set<string>();
  readonly #rejected = new Map<string, { row: RejectedRow; rows: number }>();
  readonly #sample: PreviewedOrder[] = [];
  #orders = 0;
  #organic = 0;
  #renewals = 0;
  #inHeldFiles = 0;
  #placed: OrdersPreview['placed'] = null;

  constructor(job: PreviewedJob, statuses: StatusRules) {
    const gate = gateOf(job);
    this.#rules = statuses;
    const { start } = job;
    const startMs = start === null ? null : zoneClock(start.timeZone).toInstantMs(Date.parse(start.day));
    this.#judge = (order, exportedAtMs) => {
      const orderedAt = order.placedAt ?? order.paidAt;
      const isBefore = startMs !== null && orderedAt !== null && Date.parse(orderedAt) < startMs;
      return isBefore
        ? { outcome: 'excluded', reason: 'before_start' }
        : gate.judge(order, { statuses, exportedAtMs });
    };
    this.#revenueOf = (order) => revenueOf(order, job.revenue);
  }

  /** Takes an order of a file that can be read. */
  takeOrder(order: StagedOrder, writtenMs: number): void {
    const stop = this.#judge(order, writtenMs);
    this.#note(order);
    if (order.exclusion === 'renewal' && namesOwner(order)) this.#renewals += 1;
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

  #note({ status, placedAt }: StagedOrder): void {
    this.#orders += 1;
    if (placedAt !== null) {
      const { first, last } = this.#placed ?? { first: placedAt, last: placedAt };
      this.#placed = { first: placedAt < first ? placedAt : first, last: placedAt > last ? placedAt : last };
    }
    at(this.#statuses, status ?? '', () => ({ orders: 0, effect: this.#effectOf(status) })).orders += 1;
  }

  #effectOf(status: string | null): StatusEffect {
    const { credited, notCredited, mayLackColumn } = this.#rules;
    if (credited === 'any' || credited.includes(status ?? '') || (status === null && mayLackColumn))
      return 'credited';
    return notCredited.includes(status ?? '') ? 'not credited' : 'held';
  }

  #takeCredited(order: StagedOrder, money: StatedMoney): void {
    const { orderId, orderName, placedAt, codes } = order;
    this.#credited.add(money);
    if (this.#sample.length < SAMPLE) this.#sample.push({ orderId, orderName, placedAt, ...money, codes });
    for (const code of codes) this.#codeOf(code).sums.add(money);
  }

  #takeHeld(order: StagedOrder, reason: string, money: StatedMoney): void {
    const isOfRule = order.exclusion?.startsWith(`${reason}:`) === true;
    const status =
      reason === 'unknown_status' ? (order.status ?? '') : isOfRule ? wordOf(order.exclusion) : null;
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
    return {
      rows: this.rows,
      orders: this.#orders,
      isPartial,
      sample: this.#sample,
      statuses: mostFirst([...this.#statuses].map(([status, counts]) => ({ status, ...counts }))),
      credited: this.#credited.orders,
      revenue: this.#credited.toGroup().revenue,
      heldOrders: mostFirst(
        [...this.#held.values()].map(({ sums, ...why }) => ({ ...why, ...sums.toGroup() })),
      ),
      excluded: mostFirst([...this.#excluded].map(([reason, sums]) => ({ reason, ...sums.toGroup() }))),
      organic: this.#organic,
      renewals: this.#renewals,
      codes: [...this.#codes.values()]
        .map(({ code, sums, held }) => ({ code, held, ...sums.toGroup() }))
        .sort((one, other) => highest(other.revenue) - highest(one.revenue) || other.orders - one.orders),
      footer: this.footer,
      rejected: [...this.#rejected.values()]
        .map(({ row: { code, line, column, reason }, rows }) => ({ code, rows, line, column, reason }))
        .sort((one, other) => other.rows - one.rows),
      fallbackId: this.fallbackId,
      placed: this.#placed,
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
  #withoutAmount = 0;
  readonly #amounts = new Map<string | null, DecimalText>();

  add({ amount, currency }: StatedMoney): void {
    this.orders += 1;
    if (amount === null) this.#withoutAmount += 1;
    else this.#amounts.set(currency, sumMoney([this.#amounts.get(currency) ?? '0', amount]));
  }

  toGroup(): OrderGroup {
    const revenue = [...this.#amounts].map(([currency, amount]) => ({ currency, amount }));
    return { orders: this.orders, revenue, withoutAmount: this.#withoutAmount };
  }
}

function mostFirst<Group extends { readonly orders: number }>(groups: readonly Group[]): readonly Group[] {
  return groups.toSorted((one, other) => other.orders - one.orders);
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
