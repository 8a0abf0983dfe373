import type { MissingRow } from '../../../core/order.ts';
import type { CsvRecord, OpenRow, RejectedRow } from '../../../core/record.ts';
import type { MoneyFormat } from '../../layout/to-layout.ts';
import { mayBeCut } from '../../map/cut-row.ts';
import { type Fault, missingValue, reject } from '../../map/fault.ts';
import { cleanText, isBlank } from '../../values/clean-text.ts';
import type { MarkWatch } from '../../values/decimal-mark.ts';
import { addSums, conflictingRows, holdRepeated } from './item-sums.ts';
import { joinState, stateOf } from './last-change.ts';
import { MissingRows, namedBy } from './lost-rows.ts';
import { addRow, lastRecordOf, type OpenOrder } from './open-order.ts';
import { addLine, openLines } from './order-lines.ts';
import type { ColumnPlan } from './plan-columns.ts';
import { MAX_CODES, TOO_MANY_CODES } from './split-codes.ts';

/**
 * Combines rows into orders. Orders stay open for two generations: rows of one order are merged if fewer than
 * `generationOrders` other orders begin between them, and at most twice that many are open. Which orders
 * leave together depends only on the rows, never on how the text arrived.
 */
export class OrderWindow {
  readonly #plan: ColumnPlan;
  readonly #money: MoneyFormat;
  readonly #marks: MarkWatch | null;
  readonly #generationOrders: number;
  #young = new Map<string, OpenOrder>();
  #old = new Map<string, OpenOrder>();
  #lastCell: string | null = null;
  #last: OpenOrder | null = null;
  /** Column index of each slot. */
  readonly #columns: readonly number[];
  /** Slots of the time of the last change, if rows that say different times are different states of an order. */
  readonly #changeSlot: number | null;
  /** Values of the order that was opened last. */
  #previous: readonly string[] = [];
  readonly #missing = new MissingRows();
  /** True if the next row may belong to the order of a lost row that names none. */
  #isAfterLoss = false;
  /** Number of the file, if several were joined. */
  #part = 0;
  #counted = 0;
  #repeated = 0;
  /** True once a lost row names no order, and once rows of an order do not stand together. */
  #hasNamelessLoss = false;
  #isScattered = false;

  constructor(
    plan: ColumnPlan,
    {
      money,
      marks,
      generationOrders,
    }: { money: MoneyFormat; marks: MarkWatch | null; generationOrders: number },
  ) {
    this.#plan = plan;
    this.#columns = plan.slots.map((slot) => slot.index);
    this.#changeSlot = plan.sums.length > 0 ? null : (plan.fields.changed_at[0] ?? null);
    this.#money = money;
    this.#marks = marks;
    this.#generationOrders = generationOrders;
  }

  /**
   * Takes a row.
   *
   * @returns the orders that leave the window because of it; a rejection if the row names no order; null
   * otherwise.
   */
  add(row: CsvRecord): readonly OpenOrder[] | RejectedRow | null {
    const plan = this.#plan;
    const cell = row.cells[plan.group.index] ?? '';
    if (cell === this.#lastCell && this.#last !== null) {
      this.#last = this.#addTo(this.#last, row);
      return null;
    }
    const key = plan.orderIdOf(cell);
    if (typeof key !== 'string') return this.#rejectRow(row, key, cell);
    const known = this.#young.get(key) ?? this.#old.get(key);
    this.#lastCell = cell;
    if (this.#isAfterLoss) {
      this.#missing.add(key, false);
      this.#isAfterLoss = false;
    }
    if (known !== undefined) {
      if (known.key !== this.#last?.key) this.#meetAgain(known, row.cells);
      this.#last = this.#addTo(known, row);
      return null;
    }
    const leaving = this.#young.size >= this.#generationOrders ? this.#turn() : null;
    this.#last = this.#open(key, row);
    this.#young.set(key, this.#last);
    return leaving;
  }

  /**
   * Notes a row that cannot be used. If rows of an order add up, its order would add up to too little. If the row
   * names no order, it belongs to the order before or after it, if rows of an order stand together, or else to any
   * order of the file.
   *
   * @param cells null if they are not known.
   */
  lose(cells: readonly string[] | null): void {
    if (!this.#plan.needsAllRows) return;
    const named = this.#namedBy(cells);
    for (const key of named) this.#missing.add(key, true);
    if (named.length > 0) return;
    if (this.#last !== null) this.#missing.add(this.#last.key, false);
    this.#hasNamelessLoss = true;
    this.#isAfterLoss = true;
    this.#lastCell = null;
  }

  /** Returns the order that a row names although it cannot be used; null if it names none, or several. */
  namedBy(cells: readonly string[] | null): string | null {
    const [only = null, ...others] = this.#namedBy(cells);
    return others.length === 0 ? only : null;
  }

  #namedBy(cells: readonly string[] | null): readonly string[] {
    return namedBy(cells, {
      idAt: this.#plan.group.index,
      idOf: this.#plan.orderIdOf,
      before: this.#last?.key ?? null,
      isOpen: (key) => this.#young.has(key) || this.#old.has(key),
    });
  }

  /** Notes rows that were lost at places that are not known. */
  loseAnywhere(): void {
    if (this.#plan.needsAllRows) this.#missing.add(null, false);
  }

  /** Returns a row without an id as if it were an order of its own, without adding it. */
  asOrder(row: CsvRecord): OpenOrder {
    return this.#open('', row);
  }

  /** Notes that rows of an order were rejected after they were combined. */
  loseOrder({ key }: OpenOrder): void {
    if (this.#plan.needsAllRows) this.#missing.add(key, true);
  }

  /** Notes that another file begins, which was joined to the one before: the header appears again. */
  beginPart(): void {
    this.#part += 1;
    this.#lastCell = null;
    this.#last = null;
  }

  /**
   * Notes that rows of an order do not stand together. If one of them occurs twice, or the order is in two files that
   * were joined, both may be the same, unless items have ids.
   */
  #meetAgain(order: OpenOrder, cells: readonly string[]): void {
    this.#isScattered = true;
    if (order.texts === null) return;
    if (order.part !== this.#part || order.texts.has(cells.join('\u001f'))) order.doubt ??= 'may_be_repeated';
  }

  /** Notes that the text ends within its last row. */
  cut(open: OpenRow): void {
    const order = this.#last;
    if (order === null || lastRecordOf(order) !== open.record) return;
    const { isRead, slots, fields } = this.#plan;
    const isCurrency = (index: number) => fields.currency.some((slot) => slots[slot]?.index === index);
    if (mayBeCut(open, open.lastAt + 1, { isRead, isCurrency })) order.doubt ??= 'may_be_cut';
  }

  /** Returns the orders that lack a row, as far as they were found since the last call. */
  takeMissing(): readonly MissingRow[] {
    return this.#missing.take();
  }

  /** Returns the orders that have not left, in the order of their first rows. */
  remaining(): readonly OpenOrder[] {
    return [...this.#old.values(), ...this.#young.values()];
  }

  /**
   * Ends the file.
   *
   * @throws FileHeld `repeated_rows`.
   */
  close(): void {
    if (this.#isScattered && this.#hasNamelessLoss) this.#missing.add(null, false);
    this.#countRepeated(this.remaining());
    if (this.#repeated === this.#counted && this.#repeated > 1) throw holdRepeated(this.#repeated);
    this.#old = new Map();
    this.#young = new Map();
    this.#last = null;
  }

  #turn(): readonly OpenOrder[] {
    const leaving = [...this.#old.values()];
    this.#countRepeated(leaving);
    this.#old = this.#young;
    this.#young = new Map();
    return leaving;
  }

  /** Counts orders each of whose rows occurs at least twice, although items have no ids. */
  #countRepeated(orders: readonly OpenOrder[]): void {
    for (const { texts, rowCount } of orders) {
      this.#counted += 1;
      if (texts !== null && texts.size * 2 <= rowCount) this.#repeated += 1;
    }
  }

  #open(key: string, row: CsvRecord): OpenOrder {
    const columns = this.#columns;
    const previous = this.#previous;
    const { cells, line, record } = row;
    const values = new Array<string>(columns.length);
    for (let at = 0; at < columns.length; at += 1) {
      const cell = cells[columns[at] ?? -1] ?? '';
      // Reuse the previous string for repeated values such as the currency or status. The new copy can then
      // be freed at once, which saves the garbage collector much work.
      values[at] = cell === previous[at] ? (previous[at] ?? '') : cell;
    }
    this.#previous = values;
    const order: OpenOrder = {
      key,
      values,
      more: null,
      sums: null,
      lacksAmount: false,
      items: this.#plan.item === null ? null : new Map(),
      texts: this.#plan.sums.length > 0 && this.#plan.item === null ? new Set() : null,
      part: this.#part,
      stated: null,
      lines: this.#plan.lines === null ? null : openLines(),
      record,
      line,
      together: 1,
      apart: null,
      rowCount: 1,
      states: null,
      doubt: null,
      fault: null,
    };
    this.#addItem(order, row);
    return order;
  }

  /** Adds a row to its order, or to another state of it. @returns the state to which further rows belong. */
  #addTo(order: OpenOrder, row: CsvRecord): OpenOrder {
    const slot = this.#changeSlot;
    const state =
      slot === null ? order : stateOf(order, { slot, cell: row.cells[this.#columns[slot] ?? -1] ?? '' });
    if (state === null) return joinState(order, this.#open(order.key, row));
    this.#merge(state, row);
    return state;
  }

  #merge(order: OpenOrder, row: CsvRecord): void {
    const columns = this.#columns;
    const { values } = order;
    const { cells } = row;
    for (let at = 0; at < columns.length; at += 1) {
      const cell = cells[columns[at] ?? -1] ?? '';
      if (cell !== '' && cell !== values[at]) this.#mergeValue(order, { at, cell, line: row.line });
    }
    this.#addItem(order, row);
    addRow(order, row.record, row.line);
  }

  #mergeValue(order: OpenOrder, { at, cell, line }: { at: number; cell: string; line: number }): void {
    const slot = this.#plan.slots[at];
    const value = order.values[at] ?? '';
    const { fields, orderIdOf } = this.#plan;
    const isEqual = isBlank(cell) || cleanText(cell) === cleanText(value);
    // Ids that differ only in their spelling are one order, as those are by which rows are grouped.
    const isSameId = fields.order_id.includes(at) && orderIdOf(cell) === orderIdOf(value);
    if (slot === undefined || isEqual || isSameId) return;
    if (isBlank(value)) order.values[at] = cell;
    else if (slot.merge === 'same')
      order.fault ??= { fault: conflictingRows(line), column: slot.name, value: cell, isContradiction: true };
    else if (slot.merge === 'all') this.#addMore(order, { slot: at, value: cell, line });
  }

  #addMore(order: OpenOrder, { slot, value, line }: { slot: number; value: string; line: number }): void {
    order.more ??= [];
    if (order.more.some((one) => one.slot === slot && one.value === value)) return;
    if (order.more.length < MAX_CODES) {
      order.more.push({ slot, value });
      return;
    }
    const fault = this.#plan.fields.placed_at.includes(slot) ? conflictingRows(line) : TOO_MANY_CODES;
    order.fault ??= { fault, column: this.#plan.slots[slot]?.name ?? '', value };
  }

  #addItem(order: OpenOrder, { cells, line }: CsvRecord): void {
    const reading = { plan: this.#plan, money: this.#money, marks: this.#marks, line };
    const addsNothing = this.#addsNothing(cells);
    if (this.#plan.sums.length > 0 && !addSums(order, cells, { ...reading, addsNothing })) return;
    if (!addsNothing) this.#addLine(order, cells);
  }

  #addsNothing(cells: readonly string[]): boolean {
    return this.#plan.addsNothing.some(({ index, test }) => test(cells[index] ?? ''));
  }

  #addLine({ lines }: OpenOrder, cells: readonly string[]): void {
    const plan = this.#plan.lines;
    if (plan === null || lines === null) return;
    addLine(lines, cells, { plan, money: this.#money });
  }

  #rejectRow({ cells, record, line }: CsvRecord, fault: Fault, cell: string): RejectedRow {
    const { name } = this.#plan.group;
    const what =
      fault.code === 'missing_value'
        ? missingValue(`"${name}" that says which order this row belongs to`)
        : fault;
    this.#lastCell = null;
    this.lose(cells);
    return reject({ record, line, count: 1 }, what, { column: name, value: cell });
  }
}
