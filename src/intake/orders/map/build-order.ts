import { hash } from 'node:crypto';
import type { LayoutField, SummedField } from '../../../core/layout.ts';
import type { DecimalText } from '../../../core/money.ts';
import type { InstantText, StagedOrder } from '../../../core/order.ts';
import type { RejectedRow } from '../../../core/record.ts';
import { saysNoValue } from '../../../core/text/fold.ts';
import { statusReader } from '../../layout/status-rules.ts';
import type { Layout } from '../../layout/to-layout.ts';
import { type Fault, MAX_TEXT_CHARS, missingValue, OTHER_CURRENCY, TOO_LONG } from '../../map/fault.ts';
import { findIds, linkFinder, linkOf, noteOf } from '../../map/find-links.ts';
import { cleanText, isBlank } from '../../values/clean-text.ts';
import { currenciesOfName } from '../../values/currency-symbols.ts';
import type { DateWatch } from '../../values/date-order.ts';
import type { MarkWatch } from '../../values/decimal-mark.ts';
import { currencyParser, NO_CURRENCY } from '../../values/parse-currency.ts';
import { findAddress, parseId } from '../../values/parse-id.ts';
import { isZero, parseMoneyIn } from '../../values/parse-money.ts';
import { type TimeParser, timeParser } from '../../values/parse-time.ts';
import { parseZone } from '../../values/parse-zone.ts';
import { remember } from '../../values/remember.ts';
import {
  arePlacedApart,
  type Built,
  CONFLICTING_COLUMNS,
  type Given,
  NUMBER_USED_AGAIN,
  ValueFault,
} from './built-order.ts';
import { type CustomerKeyOf, readCustomerKey } from './customer-key.ts';
import { checkSum, toItems } from './item-sums.ts';
import { readChange } from './last-change.ts';
import type { OpenOrder } from './open-order.ts';
import { closeLines } from './order-lines.ts';
import type { ColumnPlan } from './plan-columns.ts';
import { RefundReader } from './read-refund.ts';
import { codeSplitter, MAX_CODES, TOO_MANY_CODES } from './split-codes.ts';

/** Builds orders from grouped rows, for one layout and the columns of one file. */
export class OrderBuilder {
  readonly #layout: Layout;
  readonly #plan: ColumnPlan;
  readonly #currency: (text: string) => string | Fault;
  readonly #time: TimeParser;
  /** Returns the time parser for a zone that a row names. */
  readonly #timesIn: (zone: string) => TimeParser | Fault;
  readonly #dates: DateWatch | null;
  readonly #marks: MarkWatch | null;
  readonly #latestMs: number;
  readonly #customerKeyOf: CustomerKeyOf | null;
  readonly #status: (text: string) => string;
  readonly #codes: (cell: string) => readonly string[];
  readonly #links: (notes: string) => readonly string[];
  readonly #refunds: RefundReader;
  readonly #mustHave: ReadonlySet<LayoutField>;
  /** The currency of the source, for orders whose rows state none. */
  readonly #givenCurrency: string | null;
  #firstWithout: StagedOrder | null = null;
  #firstOther: StagedOrder | null = null;
  readonly #zeroFallsThrough: ReadonlySet<LayoutField>;
  /** The currencies that the name of each column can mean. */
  readonly #named: readonly (readonly string[])[];

  constructor(layout: Layout, plan: ColumnPlan, given: Given) {
    this.#layout = layout;
    this.#plan = plan;
    this.#givenCurrency = layout.currency ?? given.currency;
    this.#currency = currencyParser(this.#givenCurrency);
    const { formats, zone } = layout.times;
    this.#time = timeParser(formats, zone ?? given.timeZone);
    this.#timesIn = remember((cell) => {
      const named = parseZone(cell);
      return typeof named === 'string' ? timeParser(formats, named) : named;
    });
    this.#dates = given.dates;
    this.#marks = given.marks;
    this.#latestMs = given.latestMs;
    this.#customerKeyOf = given.customerKeyOf;
    this.#status = statusReader(layout.status);
    this.#codes = codeSplitter(layout.codes);
    this.#links = linkFinder(layout.links);
    this.#refunds = new RefundReader(layout, plan, (...place) => this.#amountIn(...place));
    this.#mustHave = new Set(layout.required);
    this.#zeroFallsThrough = new Set(layout.zeroFallsThrough);
    this.#named = plan.slots.map(({ name }) => currenciesOfName(name));
  }

  build(open: OpenOrder): Built {
    const { key: groupKey, line, record, rowCount, fault } = open;
    const continuation = { groupKey, line, record, rowCount };
    if (fault === null && this.#isContinuation(open)) return { kind: 'continuation', continuation };
    try {
      if (fault !== null)
        return {
          kind: 'fault',
          ...fault,
          changedAt: fault.isContradiction === true ? this.#changeOf(open) : null,
        };
      const order = this.#toOrder(open);
      this.#noteCurrency(open, order);
      return { kind: 'order', order };
    } catch (error) {
      if (error instanceof ValueFault) return error.built;
      throw error;
    }
  }

  /** Returns which order rows that cannot be used state, as far as it can be read. */
  statedBy({ key, values }: OpenOrder): Pick<RejectedRow, 'orderId' | 'orderName'> {
    const { isGroupedById, fields, orderIdOf } = this.#plan;
    const textOf = (field: 'order_id' | 'order_name') =>
      fields[field].map((slot) => cleanText(values[slot] ?? '')).find((text) => text !== '') ?? null;
    const id = isGroupedById ? key : orderIdOf(textOf('order_id') ?? '');
    const name = textOf('order_name') ?? (isGroupedById ? null : key);
    const isName = name !== null && name.length <= MAX_TEXT_CHARS && findAddress(name) === null;
    return { orderId: typeof id === 'string' && id !== '' ? id : null, orderName: isName ? name : null };
  }

  /**
   * The orders of a file in which a blank currency need not be that of the source: the first one with an amount and without a
   * currency, and the first one in another currency. Null if the file does not have both.
   */
  get openCurrency(): { readonly without: StagedOrder; readonly other: StagedOrder } | null {
    const [without, other] = [this.#firstWithout, this.#firstOther];
    return without === null || other === null ? null : { without, other };
  }

  #noteCurrency(open: OpenOrder, order: StagedOrder): void {
    if (this.#plan.fields.currency.length === 0 || this.#givenCurrency === NO_CURRENCY) return;
    if (order.currency !== this.#givenCurrency) this.#firstOther ??= order;
    // Orders without an amount, such as pending ones, have no currency yet.
    else if (
      this.#place(open, 'currency') === -1 &&
      (order.total ?? order.subtotal ?? order.refunded) !== null
    )
      this.#firstWithout ??= order;
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
    const currency = this.#currencyOf(open);
    const meaning = {
      groupKey: open.key,
      orderId,
      orderName: this.#text(open, 'order_name'),
      otherIds: findIds(this.#plan.fields.other_ids, open.values),
      status: this.#statusOf(open),
      currency,
      total: this.#amount(open, 'total', currency),
      subtotal: this.#amount(open, 'subtotal', currency),
      refunded: this.#amount(open, 'refunded', currency),
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
      doubt: open.doubt ?? (open.lacksAmount && open.sums !== null ? 'incomplete' : null),
      line: open.line,
      record: open.record,
      rowCount: open.rowCount,
      contentHash: '',
      note: noteOf(this.#plan.keptNotes, open.values),
      lines: closeLines(open.lines, currency),
      items: toItems(open),
      changedAt: this.#changeOf(open),
      customerKey: readCustomerKey(open.values[this.#place(open, 'email')], this.#customerKeyOf),
    };
    meaning.contentHash = hashMeaning(meaning);
    return meaning;
  }

  /**
   * Returns the slot of a field's value: its first column that is not blank; -1 if all are blank. A name or id that says
   * `null` or `N/A` names nobody. If zero
   * counts as blank for the field, the first column that is neither blank nor zero is preferred.
   */
  #place(open: OpenOrder, field: LayoutField): number {
    let firstZero = -1;
    for (const slot of this.#plan.fields[field]) {
      const value = open.values[slot] ?? '';
      if (isBlank(value) || (NAMED.has(field) && saysNoValue(value))) continue;
      if (!this.#zeroFallsThrough.has(field) || !isZero(value)) return slot;
      if (firstZero === -1) firstZero = slot;
    }
    return firstZero;
  }

  /**
   * Reads a field from its slot. Other columns of the field may be filled as well, if the file has several of its
   * spellings. If one of them says something else, neither is known.
   */
  #agreed(open: OpenOrder, field: LayoutField, slot: number, read: (slot: number) => string): string {
    const value = read(slot);
    const slots = this.#plan.fields[field];
    if (slots.length < 2) return value;
    for (const other of slots)
      if (other !== slot && !isBlank(open.values[other] ?? '') && read(other) !== value)
        throw this.#fault(CONFLICTING_COLUMNS, other, open.values[other] ?? '');
    return value;
  }

  #fault(fault: Fault, slot: number, value: string): ValueFault {
    return new ValueFault(fault, this.#plan.slots[slot]?.name ?? null, value);
  }

  #missing(field: LayoutField): ValueFault {
    const { slots, fields, sums } = this.#plan;
    const column = slots[fields[field][0] ?? -1]?.name ?? sums.find((sum) => sum.field === field)?.name;
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
    const id = field === 'order_id' ? this.#plan.orderIdOf(value) : parseId(value);
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
    if (slot === -1) return this.#plan.tellsBlankStatus ? '' : null;
    return this.#agreed(open, 'status', slot, (one) =>
      this.#status(open.values[one] ?? '').slice(0, MAX_TEXT_CHARS),
    );
  }

  #currencyOf(open: OpenOrder): string {
    return this.#agreed(open, 'currency', this.#place(open, 'currency'), (slot) => {
      const value = open.values[slot] ?? '';
      const currency = this.#currency(value);
      if (typeof currency === 'string') return currency;
      throw slot === -1 ? this.#missing('currency') : this.#fault(currency, slot, value);
    });
  }

  #amount(open: OpenOrder, field: SummedField, currency: string): DecimalText | null {
    const sum = open.sums?.[field];
    if (sum !== undefined) return checkSum(open, { field, sum, currency, plan: this.#plan });
    // A pending order has no amounts yet (Amazon): it is recorded, but there is nothing to credit.
    if (this.#layout.grouping.sum[field] !== undefined) return null;
    const slot = this.#place(open, field);
    if (slot === -1) {
      if (this.#mustHave.has(field)) throw this.#missing(field);
      return field === 'refunded' ? this.#refunds.find(open, currency) : null;
    }
    if (field !== 'refunded') return this.#amountIn(open, slot, currency);
    const refunded = this.#agreed(open, field, slot, (one) => this.#amountIn(open, one, currency));
    this.#refunds.requireListed(open, currency, refunded);
    return this.#refunds.ofTotal(open, currency, refunded);
  }

  #amountIn(open: OpenOrder, slot: number, currency: string, value = open.values[slot] ?? ''): DecimalText {
    this.#marks?.see(value, open.line, currency);
    const amount = parseMoneyIn(currency, value, this.#layout.money);
    if (typeof amount !== 'string') throw this.#fault(amount, slot, value);
    const named = this.#named[slot] ?? NONE;
    if (named.length > 0 && currency !== NO_CURRENCY && !named.includes(currency) && !isZero(value))
      throw this.#fault(OTHER_CURRENCY, slot, value);
    return amount;
  }

  #timeOf(open: OpenOrder, field: LayoutField): InstantText | null {
    const slot = this.#place(open, field);
    if (slot === -1) return null;
    const at = field === 'placed_at' ? this.#plan.timeOfDay : null;
    const day = open.values[slot] ?? '';
    const time = at === null ? '' : (open.values[at] ?? '');
    // Some exports repeat the day in the column of the time.
    const value = at === null ? day : time.startsWith(`${day} `) ? time : `${day} ${time}`;
    this.#dates?.see(value, open.line);
    const instant = this.#clockOf(open)(value);
    if (typeof instant !== 'string') throw this.#fault(instant, slot, value);
    if (field === 'placed_at' && open.more !== null) this.#requirePlacedOnce(open, slot, instant);
    return instant;
  }

  /** Requires that the rows of an order say that it was placed at about one time. */
  #requirePlacedOnce(open: OpenOrder, slot: number, instant: InstantText): void {
    const times = [instant];
    for (const { slot: at, value } of open.more ?? NO_MORE) {
      const other = at === slot ? this.#clockOf(open)(value) : null;
      if (typeof other !== 'string') continue;
      times.push(other);
      if (arePlacedApart(times)) throw this.#fault(NUMBER_USED_AGAIN, slot, value);
    }
  }

  #changeOf(open: OpenOrder): StagedOrder['changedAt'] {
    if (this.#plan.fields.changed_at.length === 0) return null;
    const timeOf = this.#clockOf(open);
    return readChange(open, this.#plan, { timeOf, dates: this.#dates, latestMs: this.#latestMs });
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
      for (const more of open.more ?? [])
        if (more.slot === slot) for (const code of this.#codes(more.value)) codes.add(code);
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

  /**
   * Returns why the order never counts, or null. A filled `cancelled_at` is such a reason, whether or not a rule
   * of the layout names it.
   */
  #exclusionOf(open: OpenOrder): string | null {
    if (this.#place(open, 'cancelled_at') !== -1) return 'cancelled';
    for (const { slot, reasonOf } of this.#plan.exclusions) {
      const reason = reasonOf(open.values[slot] ?? '');
      if (reason !== null) return reason;
      for (const more of open.more ?? NO_MORE) {
        const other = more.slot === slot ? reasonOf(more.value) : null;
        if (other !== null) return other;
      }
    }
    return null;
  }
}

/** Fields that name who or what an order is credited to. */
const NAMED: ReadonlySet<LayoutField> = new Set(['influencer_handle', 'deal_id', 'collab_id', 'brand_id']);

const NONE: readonly string[] = [];
const NO_MORE: NonNullable<OpenOrder['more']> = [];

/** Separators. They never occur in a value, because control characters are removed or refused. */
const BETWEEN_FIELDS = '\u001f';
const BETWEEN_ITEMS = '\u001e';
const ABSENT = '\u0000';

/**
 * Computes the content hash of an order: equal for equal meaning, whatever its file, line or number of rows.
 * The fields are written out, because every order of every export is hashed: a loop over ORDER_COLUMNS took a
 * seventh of the time to read an unchanged export. A test compares it with ORDER_COLUMNS.
 */
export function hashMeaning(order: Omit<StagedOrder, 'contentHash'>): string {
  const meaning = [
    order.groupKey,
    order.orderId,
    order.orderName ?? ABSENT,
    order.status ?? ABSENT,
    order.currency,
    order.total ?? ABSENT,
    order.subtotal ?? ABSENT,
    order.refunded ?? ABSENT,
    order.codes.join(BETWEEN_ITEMS),
    order.links.join(BETWEEN_ITEMS),
    order.influencerHandle ?? ABSENT,
    order.dealId ?? ABSENT,
    order.collabId ?? ABSENT,
    order.brandId ?? ABSENT,
    order.placedAt ?? ABSENT,
    order.paidAt ?? ABSENT,
    order.cancelledAt ?? ABSENT,
    order.exclusion ?? ABSENT,
    // Each field ends with a separator, the last one too. What earlier versions did not read is part of the text only
    // if it is there, so that the digests of the other orders stay what they were.
    (order.otherIds.length === 0 ? '' : `${order.otherIds.join(BETWEEN_ITEMS)}${BETWEEN_FIELDS}`) +
      (order.doubt === null ? '' : `${order.doubt}${BETWEEN_FIELDS}`),
  ];
  // Adding the texts one after the other would create two objects for each, which the garbage collector has to find.
  const digest = hash('sha256', meaning.join(BETWEEN_FIELDS), 'base64url');
  // A doubt follows the digest, as where sealing adds it. So the digests of orders without one are those of before
  // there were doubts.
  return order.doubt === null ? digest : `${digest}:${order.doubt}`;
}
