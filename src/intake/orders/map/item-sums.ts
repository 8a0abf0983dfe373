import { FileHeld } from '../../../core/held/file-held.ts';
import type { SummedField } from '../../../core/layout.ts';
import { type DecimalText, fromUnits, hasFittingDecimals, toUnits } from '../../../core/money.ts';
import type { OrderItem } from '../../../core/order.ts';
import { plural } from '../../../core/text/plural.ts';
import type { MoneyFormat } from '../../layout/to-layout.ts';
import { type Fault, OTHER_CURRENCY } from '../../map/fault.ts';
import { isBlank } from '../../values/clean-text.ts';
import type { MarkWatch } from '../../values/decimal-mark.ts';
import { NO_CURRENCY } from '../../values/parse-currency.ts';
import { parseId } from '../../values/parse-id.ts';
import { isZero, readMoney, tooManyDecimals } from '../../values/parse-money.ts';
import { ValueFault } from './built-order.ts';
import type { ItemSums, OpenOrder } from './open-order.ts';
import type { ColumnPlan, SumColumn } from './plan-columns.ts';

type Reading = {
  readonly plan: ColumnPlan;
  readonly money: MoneyFormat;
  /** Sees how the amounts are written. */
  readonly marks: MarkWatch | null;
  readonly line: number;
  /** True if the amounts of the row count as zero. */
  readonly addsNothing: boolean;
};

/** Adds the amounts of a row. @returns false if the order has the item already. */
export function addSums(
  order: OpenOrder,
  cells: readonly string[],
  { addsNothing, ...reading }: Reading,
): boolean {
  const row: Partial<Record<SummedField, bigint>> = {};
  const { plan } = reading;
  order.lacksAmount ||=
    !addsNothing && !plan.sums.some(({ isFirst, index }) => isFirst && !isBlank(cells[index] ?? ''));
  for (const column of plan.sums) {
    const cell = addsNothing ? '0' : (cells[column.index] ?? '');
    if (isBlank(cell)) continue;
    addSum(order, row, { ...reading, column, cell, cells: addsNothing ? null : cells });
  }
  if ((row.total ?? 0n) < 0n || (row.subtotal ?? 0n) < 0n) requireOneRefund(order, cells, plan);
  order.texts?.add(cells.join('\u001f'));
  if (!noteItem(order, cells, { plan, row, line: reading.line })) return false;
  for (const [name, units] of Object.entries(row)) {
    const field = name as SummedField;
    order.sums ??= {};
    order.sums[field] = (order.sums[field] ?? 0n) + units;
  }
  return true;
}

/** Notes an item. @returns false if the order has it already. */
function noteItem(
  order: OpenOrder,
  cells: readonly string[],
  { plan: { item }, row, line }: Pick<Reading, 'plan' | 'line'> & { readonly row: ItemSums },
): boolean {
  if (item === null || order.items === null) return true;
  const cell = cells[item.index] ?? '';
  const id = parseId(cell);
  if (typeof id !== 'string' || order.items.size >= MAX_ITEMS) {
    order.items = null;
    return true;
  }
  const known = order.items.get(id);
  if (known === undefined) order.items.set(id, row);
  else if (FIELDS.some((field) => known[field] !== row[field]))
    order.fault ??= { fault: conflictingRows(line), column: item.name, value: cell };
  return known === undefined;
}

function addSum(
  order: OpenOrder,
  row: Partial<Record<SummedField, bigint>>,
  {
    column: { field, sign, name, times, currencies: named },
    cell,
    cells,
    money: format,
    marks,
    line,
    plan,
  }: Omit<Reading, 'addsNothing'> & {
    readonly column: SumColumn;
    readonly cell: string;
    /** Those of the row, for the quantity. Null if the row adds nothing. */
    readonly cells: readonly string[] | null;
  },
): void {
  const money = readMoney(cell, format);
  if (!('amount' in money)) {
    order.fault ??= { fault: money, column: name, value: cell };
    return;
  }
  // Whether it takes something off the price or adds to it is not known. A refund may be written either way.
  let units = toUnits(money.amount);
  if (times !== null && cells !== null) {
    const quantity = times.find(({ index }) => !isBlank(cells[index] ?? ''));
    // What is blank may be any number of pieces, so that the order may not be whole.
    order.lacksAmount ||= quantity === undefined;
    if (quantity === undefined) return;
    const value = cells[quantity.index] ?? '';
    const product = amountOf(units, value, format);
    if (product === null) {
      order.fault ??= { fault: BAD_QUANTITY, column: quantity.name, value };
      return;
    }
    units = product;
  }
  if (sign < 0n && units < 0n && field !== 'refunded')
    order.fault ??= { fault: NEGATIVE_DISCOUNT, column: name, value: cell };
  marks?.see(cell, line, currencyCell(order, plan));
  for (const currencies of [isZero(cell) ? [] : named, money.currencies ?? []])
    if (currencies.length > 0) narrow(order, { currencies, column: name, value: cell });
  row[field] = (row[field] ?? 0n) + sign * units;
}

/**
 * Multiplies the price of a piece. A quantity has no marks of thousands: `1.000` beside prices with a decimal comma may
 * be one or a thousand.
 *
 * @returns null if the quantity is no number from zero on, or the product has more than four decimals.
 */
function amountOf(price: bigint, quantity: string, format: MoneyFormat): bigint | null {
  const read = readMoney(quantity, { ...format, thousands: null, symbols: false });
  if (!('amount' in read)) return null;
  const product = price * toUnits(read.amount);
  return toUnits(read.amount) < 0n || product % PIECE !== 0n ? null : product / PIECE;
}

const PIECE = toUnits('1');

const BAD_QUANTITY: Fault = {
  code: 'bad_quantity',
  reason: 'The number of pieces is no number from 0 on, so what the row adds to its order is unknown.',
  help: 'Write it in digits without a mark of thousands, such as 2. If the price is that of the whole row, remove times from the layout.',
};

/**
 * Checks a row below zero, which lowers the total of its order: a refunded amount on it is probably the same refund, which
 * would be subtracted twice.
 */
function requireOneRefund(
  order: OpenOrder,
  cells: readonly string[],
  { fields, refundLists, leftAfterRefund, slots, sums }: ColumnPlan,
): void {
  const read = [...fields.refunded, ...refundLists].flatMap((slot) => slots[slot] ?? []);
  for (const { index, name } of [...read, ...sums.filter(({ field }) => field === 'refunded')]) {
    const value = cells[index] ?? '';
    if (!isBlank(value) && !isZero(value)) order.fault ??= { fault: REFUNDED_TWICE, column: name, value };
  }
  for (const { before, after } of leftAfterRefund) {
    const [was = '', left = ''] = [before, after].map((slot) => cells[slots[slot]?.index ?? -1]);
    if (!isBlank(left) && !isZero(left) && left !== was)
      order.fault ??= { fault: REFUNDED_TWICE, column: slots[after]?.name ?? '', value: left };
  }
}

const REFUNDED_TWICE: Fault = {
  code: 'refunded_twice',
  reason:
    'The row is below zero, which lowers the total of its order, and it also states a refunded amount. If both are the same refund, it would be subtracted twice.',
  help: 'Remove the column from refunded in the layout if it repeats what the rows below zero say, or leave these rows out of the sum with adds_nothing. Then check the layout: npx influencer-sync layouts test.',
};

const NEGATIVE_DISCOUNT: Fault = {
  code: 'negative_discount',
  reason:
    'The amount is below zero in a column that is subtracted, so it would raise the total of the order.',
  help: 'Write what was taken off the price without the minus. If the whole export writes it with one, copy the layout and name the column under plus.',
};

/** The currency that the rows so far state, as it is written. Null if they state none. */
function currencyCell({ values }: OpenOrder, { fields }: ColumnPlan): string | null {
  const slot = fields.currency.find((one) => !isBlank(values[one] ?? ''));
  return slot === undefined ? null : (values[slot] ?? '').trim().toUpperCase();
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

/** More items are not identified: such an order would need as much space as a thousand others. */
const MAX_ITEMS = 500;
const FIELDS = ['total', 'subtotal', 'refunded'] as const;

export function holdRepeated(orders: number): FileHeld {
  return new FileHeld({
    code: 'repeated_rows',
    message: `Every row of the file occurs at least twice: the amounts of ${plural(orders, 'order')} would be added up twice.`,
    help: 'The file was probably joined from two exports. Export it again. If the export has a column with an id of the item, name it under grouping.item of the layout.',
  });
}

/** @param line of the row that states the value, which another row of the order states differently above it. */
export function conflictingRows(line: number): Fault {
  return {
    code: 'conflicting_rows',
    reason: `Rows of one order contradict each other in this column: the value is on line ${line}, and a row above it has another.`,
    help: 'Find the right value and correct the others, or export the file again. If the rows are refunds or items, `npx influencer-sync init` proposes a layout that adds them up.',
  };
}

/** Returns the items in the order of their ids, so that equal lists compare as equal. */
export function toItems({ items }: OpenOrder): readonly OrderItem[] | null {
  if (items === null) return null;
  const amount = (units: bigint | undefined): DecimalText | null =>
    units === undefined ? null : fromUnits(units);
  return [...items]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([id, { total, subtotal, refunded }]) => [id, amount(total), amount(subtotal), amount(refunded)]);
}

/**
 * Checks an amount that was added up over the rows of an order, now that its currency is known. The amounts of items may
 * have more decimals than their sum.
 *
 * @throws ValueFault if an amount names another currency, or the sum has more decimals than the currency.
 */
export function checkSum(
  { stated }: Pick<OpenOrder, 'stated'>,
  {
    field,
    sum,
    currency,
    plan,
  }: { field: SummedField; sum: bigint; currency: string; plan: Pick<ColumnPlan, 'sums'> },
): DecimalText {
  if (stated !== null && currency !== NO_CURRENCY && !stated.currencies.includes(currency))
    throw new ValueFault(OTHER_CURRENCY, stated.column, stated.value);
  const amount = fromUnits(sum);
  if (hasFittingDecimals(amount, currency)) return amount;
  const column = plan.sums.find((one) => one.field === field)?.name ?? null;
  throw new ValueFault(tooManyDecimals(currency), column, amount);
}
