import { gateOf, revenueOf } from '../../../../jobs/attribute-orders/decide/gate.ts';
import { type PreviewedJob, thresholdsOf } from '../../../../jobs/attribute-orders/previewed-job.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import { wordOf } from '../../../core/held/held-order.ts';
import type { StatusRules } from '../../../core/layout.ts';
import { type DecimalText, type Money, sumMoney, toUnits } from '../../../core/money.ts';
import { type InstantText, type MissingRow, namesOwner, type StagedOrder } from '../../../core/order.ts';
import type { CsvChunk, FooterRow, RejectedRow } from '../../../core/record.ts';
import { foldCode, foldHeader } from '../../../core/text/fold.ts';
import { exportedAtMs } from '../../../core/time/exported-at.ts';
import { compareAges, type FileAge } from '../../../core/time/file-age.ts';
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
import { KEPT_COLUMNS } from '../../../intake/orders/order-columns.ts';
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
  const allRejected: RejectedRow[] = [];
  const footer: FooterRow[] = [];
  let fallbackId: string | null = null;
  let rows = 0;
  for (const { file, encoding } of files) {
    if (rows >= maxRows) break;
    const chunks = openDetected(file, layout, { source, clients, encoding });
    const dates = watchDates(layout, given);
    const marks = watchMarks(layout, given);
    let hasPreferred = false;
    const watchHeader = async function* (from: AsyncIterable<CsvChunk>): AsyncGenerator<CsvChunk> {
      for await (const chunk of from) {
        hasPreferred = chunk.header.some((text) => foldHeader(text) === preferred);
        footer.push(...(chunk.footer ?? []));
        yield chunk;
      }
    };
    // Whether a file is held, or an order of it lacks a row, is known only at its end.
    const orders: StagedOrder[] = [];
    const missing: MissingRow[] = [];
    const rejected: RejectedRow[] = [];
    const age = ageOf(file);
    let rowsRead = 0;
    try {
      const mapping = {
        modifiedAt: file.modifiedAt ?? null,
        layout,
        source: given,
        dates,
        marks,
        anyStatus: job.include === 'any',
        onFooter: (row: FooterRow) => void footer.push(row),
        onIdColumn: ({ name, isFallback }: { name: string | null; isFallback: boolean }) => {
          if (isFallback && hasPreferred) fallbackId = name;
        },
      };
      for await (const batch of mapOrders(watchHeader(chunks), mapping)) {
        orders.push(...batch.orders);
        missing.push(...batch.missing);
        rejected.push(...batch.rejected);
        rowsRead += batch.rowsRead;
        if (rows + rowsRead >= maxRows) break;
      }
      dates?.require();
      marks?.require();
      const { maxRejectedShare } = source.limits;
      const reason =
        judgeRejected({ rowsRead, rejected: sumRows(rejected), maxRejectedShare, source: source.name }) ??
        (await judgeCounts(orders, { stated, thresholds: { ...ofRun, expected } }));
      if (reason !== null) throw new FileHeld(reason);
      // As long as it is not known which of day and month comes first, dates are not judged.
      const writtenMs = isDateOpen ? Number.POSITIVE_INFINITY : exportedAtMs(file.modifiedAt ?? null);
      state(stated, isSummed ? withDoubts(orders, missing) : orders, { age, isSummed, writtenMs });
      for (const { orderId, orderName } of rejected) {
        const order = orderId ?? orderName ?? '';
        if (compareAges(age, lost.get(order) ?? age) >= 0) lost.set(order, age);
      }
    } catch (error) {
      if (!(error instanceof FileHeld)) throw error;
      heldFiles.push({ why: error.message, orders });
    }
    rows += rowsRead;
    allRejected.push(...rejected);
  }
  const statuses = statusRules(layout, source, job.include);
  const judge = judgeBy(job, statuses);
  const judged = [...stated.values()].map(({ order, age, writtenMs }) => {
    const rejected = lost.get(order.orderId) ?? lost.get(order.orderName ?? order.groupKey) ?? age;
    const isOutdated = rejected !== age && order.doubt === null && compareAges(rejected, age) >= 0;
    return judge(isOutdated ? { ...order, doubt: 'newer_row_rejected' } : order, writtenMs);
  });
  const inHeldFiles = new Map(
    heldFiles.flatMap(({ orders }) => orders.map((order) => [order.orderId, order] as const)),
  );
  for (const orderId of stated.keys()) inHeldFiles.delete(orderId);
  return {
    rows,
    isPartial: rows >= maxRows,
    ...sumUp(judged),
    ...describeOrders([...judged.map(({ order }) => order), ...inHeldFiles.values()], statuses),
    footer,
    rejected: rejectedGroups(allRejected),
    fallbackId,
    held: [...new Set(heldFiles.map(({ why }) => why))],
    ordersInHeldFiles: inHeldFiles.size,
  };
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
    readonly isTimed: boolean | null;
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
    const isTimed = order.placedAt === null ? (known?.isTimed ?? null) : hasTimes;
    const next = { order, age, writtenMs, placedAt, isTimed };
    const zoneSteps = moved[at]?.zoneSteps ?? null;
    const isOther =
      known !== undefined &&
      !isSameFile &&
      (arePlacedApart([order.placedAt, known.placedAt]) ||
        (moved[at] !== null &&
          ((isTimed === true) === (known.isTimed === true) ||
            ((isTimed === null || known.isTimed === null) && areOtherPurchases(own, known.order))) &&
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
    const sum = (at: 1 | 2 | 3) => sumKnown(items.map((item) => item[at]));
    const amounts = { total: sum(1), subtotal: sum(2), refunded: sum(3) };
    const contentHash = `${known.contentHash} ${order.contentHash}`;
    return {
      ...keepStated(known, order, true),
      ...amounts,
      items,
      doubt: order.doubt ?? known.doubt,
      contentHash,
    };
  }
  const [before, amount] = [amountOf(known), amountOf(order)];
  if (order.doubt !== null) return order;
  const isRefund = amount < 0n && amount + before > 0n;
  const isShorter = order.rowCount < known.rowCount || (known.rowCount === 1 && order.rowCount === 1);
  if (!isRefund && (amount < 0n || before === 0n || amount === before || !isShorter)) return order;
  const contentHash = `${order.contentHash} may_be_split`;
  return { ...keepStated(known, order, isRefund), doubt: 'may_be_split', contentHash };
}

function amountOf({ total, subtotal }: StagedOrder): bigint {
  return toUnits(total ?? subtotal ?? '0');
}

/** An order with what it leaves blank, and is known of it (`KEPT_COLUMNS`). */
function keepStated(known: StagedOrder, order: StagedOrder, isPart: boolean): StagedOrder {
  const kept = KEPT_COLUMNS.filter(
    ({ field, isKeptByStates }) => (isPart || isKeptByStates) && (order[field] ?? []).length === 0,
  );
  return { ...order, ...Object.fromEntries(kept.map(({ field }) => [field, known[field]])) };
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
  const sum = (field: 'total' | 'subtotal' | 'refunded') => sumKnown([one[field], other[field]]);
  return { ...one, total: sum('total'), subtotal: sum('subtotal'), refunded: sum('refunded') };
}

/** The sum of the amounts that are known; null if none is. */
function sumKnown(amounts: readonly (DecimalText | null)[]): DecimalText | null {
  const known = amounts.filter((amount) => amount !== null);
  return known.length === 0 ? null : sumMoney(known);
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

/** An order with what becomes of it, and what it would be credited with: null if that is not known. */
type Judged = {
  readonly order: StagedOrder;
  readonly outcome: 'credited' | 'organic' | 'excluded' | 'held';
  /** Why it is excluded or held; else empty. */
  readonly reason: string;
  readonly amount: DecimalText | null;
  readonly currency: string | null;
};

/** Creates the function that asks the gate of a job about an order of a file that was written at a time. */
function judgeBy(
  job: PreviewedJob,
  statuses: StatusRules,
): (order: StagedOrder, writtenMs: number) => Judged {
  const gate = gateOf(job);
  const { start } = job;
  const startMs = start === null ? null : zoneClock(start.timeZone).toInstantMs(Date.parse(start.day));
  return (order, exportedAtMs) => {
    const currency = order.currency === NO_CURRENCY ? null : order.currency;
    const judged = { order, reason: '', amount: revenueOf(order, job.revenue), currency };
    const orderedAt = order.placedAt ?? order.paidAt;
    const isBefore = startMs !== null && orderedAt !== null && Date.parse(orderedAt) < startMs;
    if (isBefore) return { ...judged, outcome: 'excluded', reason: 'before_start' };
    const stop = gate.judge(order, { statuses, exportedAtMs });
    if (stop?.outcome === 'excluded') return { ...judged, ...stop };
    if (!namesOwner(order)) return { ...judged, outcome: 'organic' };
    return stop === null ? { ...judged, outcome: 'credited' } : { ...judged, ...stop };
  };
}

const SAMPLE = 10;

/** Groups the orders by what becomes of them. */
function sumUp(
  judged: readonly Judged[],
): Pick<
  OrdersPreview,
  'credited' | 'revenue' | 'sample' | 'organic' | 'renewals' | 'excluded' | 'heldOrders' | 'codes'
> {
  const {
    credited = [],
    organic = [],
    excluded = [],
    held = [],
  } = Object.fromEntries(Map.groupBy(judged, ({ outcome }) => outcome));
  const named = judged.filter(({ outcome }) => outcome === 'credited' || outcome === 'held');
  const byCode = Map.groupBy(
    // A code that an order has in two spellings counts once, as it is spelled first.
    named.flatMap((one) =>
      [...Map.groupBy(one.order.codes, foldCode).values()].flatMap(([code]) =>
        code === undefined ? [] : { ...one, code },
      ),
    ),
    ({ code }) => foldCode(code),
  );
  return {
    credited: credited.length,
    revenue: groupOf(credited).revenue,
    sample: credited.slice(0, SAMPLE).map(({ order, amount, currency }) => {
      const { orderId, orderName, placedAt, codes } = order;
      return { orderId, orderName, placedAt, amount, currency, codes };
    }),
    organic: organic.length,
    renewals: judged.filter(({ order }) => order.exclusion === 'renewal' && namesOwner(order)).length,
    excluded: mostFirst(
      [...Map.groupBy(excluded, ({ reason }) => reason)].map(([reason, of]) => ({ reason, ...groupOf(of) })),
    ),
    heldOrders: mostFirst(
      [...Map.groupBy(held, (one) => `${one.reason} ${statusOf(one) ?? ''}`).values()].flatMap((of) =>
        of.slice(0, 1).map((one) => ({ reason: one.reason, status: statusOf(one), ...groupOf(of) })),
      ),
    ),
    codes: [...byCode.values()]
      .map((of) => {
        const counting = of.filter(({ outcome }) => outcome === 'credited');
        return { code: of[0]?.code ?? '', held: of.length - counting.length, ...groupOf(counting) };
      })
      .sort((one, other) => highest(other.revenue) - highest(one.revenue) || other.orders - one.orders),
  };
}

/** The state, or the word of a rule, for which an order is held; null if it is held for another reason. */
function statusOf({ order, reason }: Judged): string | null {
  if (reason === 'unknown_status') return order.status ?? '';
  return order.exclusion?.startsWith(`${reason}:`) === true ? wordOf(order.exclusion) : null;
}

/** What the orders state, also those of files that are held. */
function describeOrders(
  orders: readonly StagedOrder[],
  { credited, notCredited, mayLackColumn }: StatusRules,
): Pick<OrdersPreview, 'orders' | 'statuses' | 'placed'> {
  const effectOf = (status: string): StatusEffect => {
    if (credited === 'any' || credited.includes(status) || (status === '' && mayLackColumn))
      return 'credited';
    return notCredited.includes(status) ? 'not credited' : 'held';
  };
  const byStatus = Map.groupBy(orders, ({ status }) => status ?? '');
  const times = orders.flatMap(({ placedAt }) => placedAt ?? []).sort();
  const [first, last] = [times[0], times.at(-1)];
  return {
    orders: orders.length,
    statuses: mostFirst(
      [...byStatus].map(([status, of]) => ({ status, orders: of.length, effect: effectOf(status) })),
    ),
    placed: first === undefined || last === undefined ? null : { first, last },
  };
}

/** The reasons for which rows cannot be used, each with the first of its rows. */
function rejectedGroups(rejected: readonly RejectedRow[]): OrdersPreview['rejected'] {
  const groups = Map.groupBy(rejected, ({ code, column }) => `${code} ${column ?? ''}`);
  return [...groups.values()]
    .flatMap((of) =>
      of
        .slice(0, 1)
        .map(({ code, line, column, reason }) => ({ code, rows: sumRows(of), line, column, reason })),
    )
    .sort((one, other) => other.rows - one.rows);
}

function sumRows(rows: readonly RejectedRow[]): number {
  return rows.reduce((sum, { rowCount }) => sum + rowCount, 0);
}

/** Number of orders, and their known amounts for each currency. */
function groupOf(orders: readonly Pick<Judged, 'amount' | 'currency'>[]): OrderGroup {
  const known = orders.flatMap(({ amount, currency }) => (amount === null ? [] : [{ amount, currency }]));
  const byCurrency = Map.groupBy(known, ({ currency }) => currency);
  return {
    orders: orders.length,
    revenue: [...byCurrency].map(([currency, of]) => ({
      currency,
      amount: sumMoney(of.map(({ amount }) => amount)),
    })),
    withoutAmount: orders.length - known.length,
  };
}

function mostFirst<Group extends { readonly orders: number }>(groups: readonly Group[]): readonly Group[] {
  return groups.toSorted((one, other) => other.orders - one.orders);
}

/** Used only for sorting. Amounts of different currencies are never added up. */
function highest(revenue: readonly Money[]): number {
  return Math.max(0, ...revenue.map(({ amount }) => Number(amount)));
}
