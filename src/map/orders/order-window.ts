import type { MoneyFormat } from '../../model/layout.ts';
import type { CsvRecord, RejectedRow } from '../../model/record.ts';
import { type Fault, missingValue, OTHER_CURRENCY, reject } from '../fault.ts';
import { cleanText, isBlank } from '../values/clean-text.ts';
import { parseId } from '../values/parse-id.ts';
import { isPlain, readMoney } from '../values/parse-money.ts';
import { toUnits } from './add-money.ts';
import type { MarkWatch } from './decimal-mark.ts';
import { addRow, type OpenOrder } from './open-order.ts';
import { addLine, openLines } from './order-lines.ts';
import type { ColumnPlan, SumColumn } from './plan-columns.ts';
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
  /** Values of the order that was opened last. */
  #previous: readonly string[] = [];

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
      this.#merge(this.#last, row);
      return null;
    }
    const key = parseId(cell);
    if (typeof key !== 'string') return this.#rejectRow(row, key, cell);
    const known = this.#young.get(key) ?? this.#old.get(key);
    this.#lastCell = cell;
    if (known !== undefined) {
      this.#last = known;
      this.#merge(known, row);
      return null;
    }
    const leaving = this.#young.size >= this.#generationOrders ? this.#turn() : null;
    this.#last = this.#open(key, row);
    this.#young.set(key, this.#last);
    return leaving;
  }

  /** Ends the file. @returns the remaining orders, in the order of their first rows. */
  close(): readonly OpenOrder[] {
    const left = [...this.#old.values(), ...this.#young.values()];
    this.#old = new Map();
    this.#young = new Map();
    this.#last = null;
    return left;
  }

  #turn(): readonly OpenOrder[] {
    const leaving = [...this.#old.values()];
    this.#old = this.#young;
    this.#young = new Map();
    return leaving;
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
      stated: null,
      lines: this.#plan.lines === null ? null : openLines(),
      record,
      line,
      together: 1,
      apart: null,
      rowCount: 1,
      fault: null,
    };
    if (this.#plan.sums.length > 0) this.#addSums(order, row);
    this.#addLine(order, cells);
    return order;
  }

  #merge(order: OpenOrder, row: CsvRecord): void {
    const columns = this.#columns;
    const { values } = order;
    const { cells } = row;
    for (let at = 0; at < columns.length; at += 1) {
      const cell = cells[columns[at] ?? -1] ?? '';
      if (cell !== '' && cell !== values[at]) this.#mergeValue(order, at, cell);
    }
    if (this.#plan.sums.length > 0) this.#addSums(order, row);
    this.#addLine(order, cells);
    addRow(order, row.record, row.line);
  }

  #mergeValue(order: OpenOrder, at: number, cell: string): void {
    const slot = this.#plan.slots[at];
    const value = order.values[at] ?? '';
    const isEqual = isBlank(cell) || cleanText(cell) === cleanText(value);
    if (slot === undefined || isEqual) return;
    if (isBlank(value)) order.values[at] = cell;
    else if (slot.merge === 'same')
      order.fault ??= { fault: CONFLICTING_ROWS, column: slot.name, value: cell };
    else if (slot.merge === 'all') this.#addMore(order, at, cell);
  }

  #addMore(order: OpenOrder, slot: number, value: string): void {
    order.more ??= [];
    if (order.more.some((one) => one.slot === slot && one.value === value)) return;
    if (order.more.length < MAX_CODES) order.more.push({ slot, value });
    else order.fault ??= { fault: TOO_MANY_CODES, column: this.#plan.slots[slot]?.name ?? '', value };
  }

  #addSums(order: OpenOrder, { cells, line }: CsvRecord): void {
    const addsNothing = this.#addsNothing(cells);
    for (const column of this.#plan.sums) {
      const cell = addsNothing ? '0' : (cells[column.index] ?? '');
      if (!isBlank(cell)) this.#addSum(order, column, cell, line);
    }
  }

  #addsNothing(cells: readonly string[]): boolean {
    return this.#plan.addsNothing.some(({ index, test }) => test(cells[index] ?? ''));
  }

  #addLine({ lines }: OpenOrder, cells: readonly string[]): void {
    const plan = this.#plan.lines;
    if (plan === null || lines === null || this.#addsNothing(cells)) return;
    addLine(lines, cells, { plan, money: this.#money });
  }

  #addSum(order: OpenOrder, { field, sign, name }: SumColumn, cell: string, line: number): void {
    const money = readMoney(cell, this.#money);
    if (!('amount' in money)) {
      order.fault ??= { fault: money, column: name, value: cell };
      return;
    }
    if (!isPlain(cell)) this.#marks?.see(cell, line, this.#currencyCell(order));
    if (money.currencies !== null) narrow(order, { currencies: money.currencies, column: name, value: cell });
    order.sums ??= {};
    order.sums[field] = (order.sums[field] ?? 0n) + sign * toUnits(money.amount);
  }

  /** The currency that the rows so far state, as it is written. Null if they state none. */
  #currencyCell({ values }: OpenOrder): string | null {
    const slot = this.#plan.fields.currency.find((one) => !isBlank(values[one] ?? ''));
    return slot === undefined ? null : (values[slot] ?? '').trim().toUpperCase();
  }

  #rejectRow({ record, line }: CsvRecord, fault: Fault, cell: string): RejectedRow {
    const { name } = this.#plan.group;
    const what =
      fault.code === 'missing_value'
        ? missingValue(`"${name}" that says which order this row belongs to`)
        : fault;
    this.#lastCell = null;
    return reject({ record, line, count: 1 }, what, { column: name, value: cell });
  }
}

/** Notes what one more amount of an order says about its currency. All must be able to mean the same one. */
function narrow(order: OpenOrder, stated: NonNullable<OpenOrder['stated']>): void {
  const before = order.stated?.currencies ?? stated.currencies;
  if (before === stated.currencies && order.stated !== null) return;
  const currencies = stated.currencies.filter((currency) => before.includes(currency));
  const { column, value } = stated;
  if (currencies.length === 0) order.fault ??= { fault: OTHER_CURRENCY, column, value };
  else order.stated = { ...stated, currencies };
}

const CONFLICTING_ROWS: Fault = {
  code: 'conflicting_rows',
  reason: 'Rows of one order contradict each other in this column.',
  help: 'Find the right value and correct the others, or export the file again. The tool does not guess.',
};
