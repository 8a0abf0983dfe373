import { hash } from 'node:crypto';
import type { Layout, LayoutField, SummedField } from '../model/layout.ts';
import { maskAddresses } from '../model/mask-addresses.ts';
import type { DecimalText, InstantText, OrderContinuation, StagedOrder } from '../model/order.ts';
import { fromUnits } from './add-money.ts';
import { cleanText, foldWord, isBlank } from './clean-text.ts';
import { type Fault, missingValue } from './fault.ts';
import { linkFinder } from './find-links.ts';
import type { OpenOrder } from './open-order.ts';
import { currencyParser } from './parse-currency.ts';
import { findAddress, parseId } from './parse-id.ts';
import { parseMoney } from './parse-money.ts';
import { timeParser } from './parse-time.ts';
import type { ColumnPlan } from './plan-columns.ts';
import { remember } from './remember.ts';
import { codeSplitter } from './split-codes.ts';

/** What an order's rows come to. */
export type Built =
  | { readonly kind: 'order'; readonly order: StagedOrder }
  | { readonly kind: 'continuation'; readonly continuation: OrderContinuation }
  | {
      readonly kind: 'fault';
      readonly fault: Fault;
      readonly column: string | null;
      readonly value: string | null;
    };

/** What the source gives where its format lacks it. */
type Given = { readonly timeZone: string | null; readonly currency: string | null };

/** Thrown and caught in this file only: the first value at fault ends the building of its order. */
class ValueFault {
  readonly built: Built;

  constructor(fault: Fault, column: string | null, value: string | null) {
    this.built = { kind: 'fault', fault, column, value };
  }
}

const MAX_TEXT_CHARS = 200;
const TOO_LONG: Fault = {
  code: 'value_too_long',
  reason: `The value is longer than ${MAX_TEXT_CHARS} characters.`,
  help: 'Check that the columns of this row have not slipped.',
};
/** Never part of a value: control characters are cleaned or refused. */
const BETWEEN_FIELDS = '\u001f';
const BETWEEN_ITEMS = '\u001e';
const ABSENT = '\u0000';

/** Makes orders of rows that were folded together, by one layout and one file's columns. */
export class OrderBuilder {
  readonly #layout: Layout;
  readonly #plan: ColumnPlan;
  readonly #currency: (text: string) => string | Fault;
  readonly #time: (text: string) => InstantText | Fault;
  readonly #status: (text: string) => string;
  readonly #codes: (cell: string) => readonly string[];
  readonly #links: (notes: string) => readonly string[];
  readonly #mustHave: ReadonlySet<LayoutField>;

  constructor(layout: Layout, plan: ColumnPlan, given: Given) {
    this.#layout = layout;
    this.#plan = plan;
    this.#currency = currencyParser(given.currency);
    this.#time = timeParser(layout.times.formats, given.timeZone);
    const words = new Map(
      Object.entries(layout.status.words).map(([from, to]) => [foldWord(from), foldWord(to)]),
    );
    this.#status = remember((text) => words.get(foldWord(text)) ?? maskAddresses(foldWord(text)));
    this.#codes = codeSplitter(layout.codes);
    this.#links = linkFinder(layout.links);
    this.#mustHave = new Set(layout.required);
  }

  build(open: OpenOrder): Built {
    if (open.fault !== null) return { kind: 'fault', ...open.fault };
    if (this.#isContinuation(open)) return { kind: 'continuation', continuation: continuationOf(open) };
    try {
      return { kind: 'order', order: this.#toOrder(open) };
    } catch (error) {
      if (error instanceof ValueFault) return error.built;
      throw error;
    }
  }

  /** Rows that carry nothing of the order itself: line items whose first row stands elsewhere. */
  #isContinuation({ values, sums }: OpenOrder): boolean {
    if (!this.#layout.grouping.lineItems || sums !== null || this.#plan.sums.length > 0) return false;
    for (const slot of this.#plan.marks) {
      if (!isBlank(values[slot] ?? '')) return false;
    }
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
      line: open.line,
      record: open.record,
      rowCount: open.rowCount,
      contentHash: '',
    };
    meaning.contentHash = hashMeaning(meaning);
    return meaning;
  }

  /** The place of a field's value: the first of its columns that is not blank; -1 when all are. */
  #place(open: OpenOrder, field: LayoutField): number {
    for (const slot of this.#plan.fields[field]) {
      if (!isBlank(open.values[slot] ?? '')) return slot;
    }
    return -1;
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
    // A pending order has no amounts yet (Amazon): known, but nothing to credit.
    if (this.#layout.grouping.sum[field] !== undefined) return null;
    const slot = this.#place(open, field);
    if (slot === -1) {
      if (this.#mustHave.has(field)) throw this.#missing(field);
      return null;
    }
    const value = open.values[slot] ?? '';
    const amount = parseMoney(value, this.#layout.money);
    if (typeof amount !== 'string') throw this.#fault(amount, slot, value);
    return amount;
  }

  #timeOf(open: OpenOrder, field: LayoutField): InstantText | null {
    const slot = this.#place(open, field);
    if (slot === -1) return null;
    const { timeOfDay } = this.#plan;
    const date = open.values[slot] ?? '';
    const isSplit = field === 'placed_at' && timeOfDay !== null;
    const value = isSplit ? `${date} ${open.values[timeOfDay] ?? ''}` : date;
    const time = this.#time(value);
    if (typeof time !== 'string') throw this.#fault(time, slot, value);
    return time;
  }

  #codesOf(open: OpenOrder): readonly string[] {
    const codes = new Set<string>();
    for (const slot of this.#plan.fields.codes) {
      for (const code of this.#codes(open.values[slot] ?? '')) codes.add(code);
      for (const more of open.more ?? []) {
        if (more.slot === slot) for (const code of this.#codes(more.value)) codes.add(code);
      }
      for (const code of codes) if (code.length > MAX_TEXT_CHARS) throw this.#fault(TOO_LONG, slot, code);
    }
    return codes.size === 0 ? NONE : [...codes];
  }

  #linksOf(open: OpenOrder): readonly string[] {
    const slots = this.#plan.fields.notes;
    const links = slots.flatMap((slot) => {
      const notes = open.values[slot] ?? '';
      return notes === '' ? NONE : this.#links(notes);
    });
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

function continuationOf({ key, record, line, rowCount }: OpenOrder): OrderContinuation {
  return { groupKey: key, line, record, rowCount };
}

/** Equal for equal meaning, whatever file, line or number of rows it came from. */
function hashMeaning(order: Omit<StagedOrder, 'contentHash'>): string {
  const meaning = [
    order.groupKey,
    order.orderId,
    order.orderName,
    order.status,
    order.currency,
    order.total,
    order.subtotal,
    order.refunded,
    order.codes.join(BETWEEN_ITEMS),
    order.links.join(BETWEEN_ITEMS),
    order.influencerHandle,
    order.dealId,
    order.collabId,
    order.brandId,
    order.placedAt,
    order.paidAt,
    order.cancelledAt,
    order.exclusion,
  ];
  let text = '';
  for (const value of meaning) text += `${value ?? ABSENT}${BETWEEN_FIELDS}`;
  return hash('sha256', text, 'base64url');
}
