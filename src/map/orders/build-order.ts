import type { Layout, LayoutField, SummedField } from '../../model/layout.ts';
import type { DecimalText, InstantText, OrderContinuation, StagedOrder } from '../../model/order.ts';
import { maskAddresses } from '../../model/text/mask-addresses.ts';
import { type Fault, MAX_TEXT_CHARS, missingValue, OTHER_CURRENCY, TOO_LONG } from '../fault.ts';
import { cleanText, foldWord, isBlank } from '../values/clean-text.ts';
import { currencyParser } from '../values/parse-currency.ts';
import { findAddress, parseId } from '../values/parse-id.ts';
import { isZero, parseMoney, statedCurrency } from '../values/parse-money.ts';
import { type TimeParser, timeParser } from '../values/parse-time.ts';
import { parseZone } from '../values/parse-zone.ts';
import { remember } from '../values/remember.ts';
import { fromUnits, toUnits } from './add-money.ts';
import { type CustomerKeyOf, readCustomerKey } from './customer-key.ts';
import type { DateWatch } from './date-order.ts';
import { linkFinder, linkOf } from './find-links.ts';
import { hashMeaning } from './hash-meaning.ts';
import type { OpenOrder } from './open-order.ts';
import { closeLines } from './order-lines.ts';
import type { ColumnPlan } from './plan-columns.ts';
import { codeSplitter, MAX_CODES, TOO_MANY_CODES } from './split-codes.ts';

/** The result of building an order from its rows. */
export type Built =
  | { readonly kind: 'order'; readonly order: StagedOrder }
  | { readonly kind: 'continuation'; readonly continuation: OrderContinuation }
  | {
      readonly kind: 'fault';
      readonly fault: Fault;
      readonly column: string | null;
      readonly value: string | null;
    };

/** Values that the source provides if its format lacks them, and what its settings add to an order. */
type Given = {
  readonly timeZone: string | null;
  readonly currency: string | null;
  readonly dates: DateWatch | null;
  readonly customerKeyOf: CustomerKeyOf | null;
};

/** Thrown and caught only in this file: the first faulty value ends the building of its order. */
class ValueFault {
  readonly built: Built;

  constructor(fault: Fault, column: string | null, value: string | null) {
    this.built = { kind: 'fault', fault, column, value };
  }
}

/** Builds orders from grouped rows, for one layout and the columns of one file. */
export class OrderBuilder {
  readonly #layout: Layout;
  readonly #plan: ColumnPlan;
  readonly #currency: (text: string) => string | Fault;
  readonly #time: TimeParser;
  /** Returns the time parser for a zone that a row names. */
  readonly #timesIn: (zone: string) => TimeParser | Fault;
  readonly #dates: DateWatch | null;
  readonly #customerKeyOf: CustomerKeyOf | null;
  readonly #status: (text: string) => string;
  readonly #codes: (cell: string) => readonly string[];
  readonly #links: (notes: string) => readonly string[];
  readonly #mustHave: ReadonlySet<LayoutField>;
  readonly #zeroFallsThrough: ReadonlySet<LayoutField>;

  constructor(layout: Layout, plan: ColumnPlan, given: Given) {
    this.#layout = layout;
    this.#plan = plan;
    this.#currency = currencyParser(given.currency);
    const { formats, zone } = layout.times;
    this.#time = timeParser(formats, zone ?? given.timeZone);
    this.#timesIn = remember((cell) => {
      const named = parseZone(cell);
      return typeof named === 'string' ? timeParser(formats, named) : named;
    });
    this.#dates = given.dates;
    this.#customerKeyOf = given.customerKeyOf;
    const words = new Map(
      Object.entries(layout.status.words).map(([from, to]) => [foldWord(from), foldWord(to)]),
    );
    this.#status = remember((text) => words.get(foldWord(text)) ?? maskAddresses(foldWord(text)));
    this.#codes = codeSplitter(layout.codes);
    this.#links = linkFinder(layout.links);
    this.#mustHave = new Set(layout.required);
    this.#zeroFallsThrough = new Set(layout.zeroFallsThrough);
  }

  build(open: OpenOrder): Built {
    if (open.fault !== null) return { kind: 'fault', ...open.fault };
    const { key: groupKey, line, record, rowCount } = open;
    if (this.#isContinuation(open))
      return { kind: 'continuation', continuation: { groupKey, line, record, rowCount } };
    try {
      return { kind: 'order', order: this.#toOrder(open) };
    } catch (error) {
      if (error instanceof ValueFault) return error.built;
      throw error;
    }
  }

  /** True if the rows are only line items of an order whose first row is elsewhere. */
  #isContinuation({ values, sums }: OpenOrder): boolean {
    if (!this.#layout.grouping.lineItems || sums !== null || this.#plan.sums.length > 0) return false;
    for (const slot of this.#plan.marks) if (!isBlank(values[slot] ?? '')) return false;
    return true;
  }

  #toOrder(open: OpenOrder): StagedOrder {
    const orderId = this.#plan.isGroupedById ? open.key : this.#id(open, 'order_id');
    if (orderId === null) throw this.#missing('order_id');
    const meaning = {
      groupKey: open.key,
      orderId,
      orderName: this.#text(open, 'order_name'),
      status: this.#statusOf(open),
      currency: this.#currencyOf(open),
      total: this.#amount(open, 'total'),
      subtotal: this.#amount(open, 'subtotal'),
      refunded: this.#amount(open, 'refunded'),
      codes: this.#codesOf(open),
      links: this.#linksOf(open),
      influencerHandle: this.#text(open, 'influencer_handle'),
      dealId: this.#id(open, 'deal_id'),
      collabId: this.#id(open, 'collab_id'),
      brandId: this.#id(open, 'brand_id'),
      placedAt: this.#timeOf(open, 'placed_at'),
      paidAt: this.#timeOf(open, 'paid_at'),
      cancelledAt: this.#timeOf(open, 'cancelled_at'),
      exclusion: this.#exclusionOf(open),
      doubt: null,
      line: open.line,
      record: open.record,
      rowCount: open.rowCount,
      contentHash: '',
      lines: closeLines(open.lines),
      customerKey: readCustomerKey(open.values[this.#place(open, 'email')], this.#customerKeyOf),
    };
    meaning.contentHash = hashMeaning(meaning);
    return meaning;
  }

  /**
   * Returns the slot of a field's value: its first column that is not blank; -1 if all are blank. If zero
   * counts as blank for the field, the first column that is neither blank nor zero is preferred.
   */
  #place(open: OpenOrder, field: LayoutField): number {
    let firstZero = -1;
    for (const slot of this.#plan.fields[field]) {
      const value = open.values[slot] ?? '';
      if (isBlank(value)) continue;
      if (!this.#zeroFallsThrough.has(field) || !isZero(value)) return slot;
      if (firstZero === -1) firstZero = slot;
    }
    return firstZero;
  }

  #fault(fault: Fault, slot: number, value: string): ValueFault {
    return new ValueFault(fault, this.#plan.slots[slot]?.name ?? null, value);
  }

  #missing(field: LayoutField): ValueFault {
    const slot = this.#plan.fields[field][0];
    const column =
      (slot === undefined ? undefined : this.#plan.slots[slot]?.name) ??
      this.#plan.sums.find((sum) => sum.field === field)?.name;
    return new ValueFault(
      missingValue(column === undefined ? field : `"${column}" of this order`),
      column ?? null,
      null,
    );
  }

  #id(open: OpenOrder, field: LayoutField): string | null {
    const slot = this.#place(open, field);
    if (slot === -1) return null;
    const value = open.values[slot] ?? '';
    const id = parseId(value);
    if (typeof id !== 'string') throw this.#fault(id, slot, value);
    return id;
  }

  #text(open: OpenOrder, field: LayoutField): string | null {
    const slot = this.#place(open, field);
    if (slot === -1) return null;
    const text = cleanText(open.values[slot] ?? '');
    if (text.length > MAX_TEXT_CHARS) throw this.#fault(TOO_LONG, slot, text);
    const address = findAddress(text);
    if (address !== null) throw this.#fault(address, slot, text);
    return text;
  }

  #statusOf(open: OpenOrder): string | null {
    const slot = this.#place(open, 'status');
    return slot === -1 ? null : this.#status(open.values[slot] ?? '').slice(0, MAX_TEXT_CHARS);
  }

  #currencyOf(open: OpenOrder): string {
    const slot = this.#place(open, 'currency');
    const value = open.values[slot] ?? '';
    const currency = this.#currency(value);
    if (typeof currency !== 'string')
      throw slot === -1 ? this.#missing('currency') : this.#fault(currency, slot, value);
    return currency;
  }

  #amount(open: OpenOrder, field: SummedField): DecimalText | null {
    const sum = open.sums?.[field];
    if (sum !== undefined) return fromUnits(sum);
    // A pending order has no amounts yet (Amazon): it is recorded, but there is nothing to credit.
    if (this.#layout.grouping.sum[field] !== undefined) return null;
    const slot = this.#place(open, field);
    if (slot === -1) {
      if (this.#mustHave.has(field)) throw this.#missing(field);
      return field === 'refunded' ? this.#leftAfterRefund(open) : null;
    }
    return this.#amountIn(open, slot);
  }

  #amountIn(open: OpenOrder, slot: number): DecimalText {
    const value = open.values[slot] ?? '';
    const { money } = this.#layout;
    const amount = parseMoney(value, money);
    if (typeof amount !== 'string') throw this.#fault(amount, slot, value);
    const stated = money.symbols ? statedCurrency(value) : null;
    if (stated !== null && stated !== this.#currencyOf(open)) throw this.#fault(OTHER_CURRENCY, slot, value);
    return amount;
  }

  /** Computes the refunded amount if the export contains only what is left; null if nothing was refunded. */
  #leftAfterRefund(open: OpenOrder): DecimalText | null {
    let refunded = 0n;
    for (const { before, after } of this.#plan.leftAfterRefund) {
      const left = open.values[after] ?? '';
      if (isBlank(left) || isZero(left) || isBlank(open.values[before] ?? '')) continue;
      refunded += toUnits(this.#amountIn(open, before)) - toUnits(this.#amountIn(open, after));
    }
    return refunded > 0n ? fromUnits(refunded) : null;
  }

  #timeOf(open: OpenOrder, field: LayoutField): InstantText | null {
    const slot = this.#place(open, field);
    if (slot === -1) return null;
    const { timeOfDay } = this.#plan;
    const date = open.values[slot] ?? '';
    const isSplit = field === 'placed_at' && timeOfDay !== null;
    const value = isSplit ? `${date} ${open.values[timeOfDay] ?? ''}` : date;
    this.#dates?.see(value, open.line);
    const time = this.#clockOf(open)(value);
    if (typeof time !== 'string') throw this.#fault(time, slot, value);
    return time;
  }

  /** Returns the time parser for the zone in the order's row, or else for that of the layout or source. */
  #clockOf(open: OpenOrder): TimeParser {
    const { zone: slot } = this.#plan;
    const cell = slot === null ? '' : (open.values[slot] ?? '');
    if (slot === null || isBlank(cell)) return this.#time;
    const clock = this.#timesIn(cell);
    if (typeof clock !== 'function') throw this.#fault(clock, slot, cell);
    return clock;
  }

  #codesOf(open: OpenOrder): readonly string[] {
    if (open.more === null && this.#place(open, 'codes') === -1) return NONE;
    const codes = new Set<string>();
    for (const slot of this.#plan.fields.codes) {
      for (const code of this.#codes(open.values[slot] ?? '')) codes.add(code);
      for (const more of open.more ?? []) {
        if (more.slot === slot) for (const code of this.#codes(more.value)) codes.add(code);
      }
      if (codes.size > MAX_CODES) throw this.#fault(TOO_MANY_CODES, slot, open.values[slot] ?? '');
      for (const code of codes) if (code.length > MAX_TEXT_CHARS) throw this.#fault(TOO_LONG, slot, code);
    }
    return codes.size === 0 ? NONE : [...codes];
  }

  #linksOf(open: OpenOrder): readonly string[] {
    const isBlankIn = (field: LayoutField) => this.#place(open, field) === -1;
    if (open.more === null && isBlankIn('notes') && isBlankIn('links')) return NONE;
    const { notes, links: columns } = this.#plan.fields;
    const written = columns.flatMap((slot) => [
      open.values[slot] ?? '',
      ...(open.more ?? []).filter((more) => more.slot === slot).map(({ value }) => value),
    ]);
    const found = notes.flatMap((slot) => {
      const text = open.values[slot] ?? '';
      return text === '' ? NONE : this.#links(text);
    });
    const links = [...written.flatMap((cell) => linkOf(cell)), ...found];
    return links.length === 0 ? NONE : [...new Set(links)];
  }

  #exclusionOf(open: OpenOrder): string | null {
    for (const { slot, test, reason } of this.#plan.exclusions) {
      if (test(open.values[slot] ?? '')) return reason;
    }
    return null;
  }
}

const NONE: readonly string[] = [];
