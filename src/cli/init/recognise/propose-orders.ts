import { parse } from 'yaml';
import { COLUMN_ROLES, type StatedRoles } from '../../../core/layout.ts';
import type { CsvRecord } from '../../../core/record.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { plural } from '../../../core/text/plural.ts';
import { inShellQuotes } from '../../../core/text/printable.ts';
import { layoutSchema } from '../../../intake/layout/layout-schema.ts';
import { toLayout } from '../../../intake/layout/to-layout.ts';
import { cleanText } from '../../../intake/values/clean-text.ts';
import { parseMoney } from '../../../intake/values/parse-money.ts';
import {
  type Assignment,
  type AssignOptions,
  type ColumnDecision,
  NAMES_SOMEBODY,
  type StopColumn,
} from './assign-columns.ts';
import { isOfKind, isOfPart, isOfPlace, type StatusWords } from './column-names.ts';
import {
  Cells,
  cellIn,
  describeColumn,
  hasStates,
  isMoney,
  isSurelyMoney,
  type MeasuredColumn,
  MONEY_FORMATS,
  mayBeStatus,
  moneyFormatOf,
  rowsBy,
} from './column-values.ts';
import {
  type NoLayout,
  type ProposedLayout,
  refusal,
  rolesOutside,
  whatIsUnclear,
} from './proposed-layout.ts';
import {
  type AddedUp,
  type JoinedIds,
  ordersText,
  SIGN,
  unknownStatesOf,
  wordsUnknownTo,
} from './proposed-text.ts';

const ORDER_ROLES = COLUMN_ROLES.filter((role) => role !== 'consent');

/** The rows and columns of files that list orders. */
export type OrdersFiles = {
  readonly columns: readonly MeasuredColumn[];
  readonly id: MeasuredColumn;
  readonly total: MeasuredColumn;
  /** The orders of each file, and of all. */
  readonly files: readonly (readonly CsvRecord[])[];
  readonly records: readonly CsvRecord[];
  /** How the labelled rows after the last order begin, and further rows that add up those above. */
  readonly footers: ReadonlySet<string>;
  readonly totals: readonly CsvRecord[];
  readonly assigned: Assignment;
  readonly words: StatusWords;
  readonly stated: StatedRoles;
  readonly joined: JoinedIds | null;
  readonly name: string;
  readonly isBelowTitle: boolean;
  /** Whether a person has checked the layout of this name that adds up rows. */
  readonly isAccepted: boolean;
};

/**
 * Proposes a layout for orders: one for each row or, if several rows have one id, for the first of them. If the rows of
 * an order are items, payments or refunds, proposes one that adds them up, which a person must accept.
 */
export function proposeOrders(orders: OrdersFiles): ProposedLayout | NoLayout {
  const { columns, id, total, files, records, assigned, words, stated, joined } = orders;
  const { chosen, unclear } = assigned;
  const misused = rolesOutside(ORDER_ROLES, 'orders', { columns, stated });
  if (misused.length > 0) return whatIsUnclear(misused, 'orders');
  const namesSomebody = NAMES_SOMEBODY.some((field) => chosen.has(field));
  if (!namesSomebody && !unclear.some(({ likely }) => likely === 'codes'))
    return refusal(
      'unknown_header',
      'It looks like orders or payments, but no column has the name and the values of discount codes, links or influencers, so no order could be credited. If one has the codes, name it: --column "NAME=codes".',
    );
  // The example of a layout with sums depends on what a person says about the quantity.
  if (unclear.some(({ offered = [] }) => offered.includes('quantity')))
    return whatIsUnclear(unclear, 'orders');
  const parts = columns.filter(({ header }) => joined?.columns.includes(header));
  const misjoined = whyMisjoined(parts, { chosen, total, records, words, timeOfDay: assigned.timeOfDay });
  if (misjoined !== null) return withSums(orders, refusal('item_rows', misjoined.why), { id: misjoined.id });
  const naming = findNamingRows(columns, { id, total, records, stated });
  if (naming !== null) return withSums(orders, naming.found, { id: naming.id, naming });
  for (const rows of files) {
    const items = itemRows(columns, { id, total, records: rows, stated });
    if (items?.code === 'item_rows') return withSums(orders, items, { id });
    if (items !== null) return items;
  }
  if (unclear.length > 0) return whatIsUnclear(unclear, 'orders');
  const hasItems = files.some((rows) => repeated(rows, id).length > 0);
  const footer = [...orders.footers, ...labelsOfTotals(orders)];
  const text = ordersText({ ...orders, ...assigned, decisions: decisionsOf(orders), footer, hasItems });
  return asProposed(orders, { text, stops: assigned.stops, columns: decisionsOf(orders) });
}

/** Labels of totals that a run would not recognise: a number of orders beside no amount. */
function labelsOfTotals({ totals, total, footers }: OrdersFiles): readonly string[] {
  const labels = totals.flatMap(({ cells }) => {
    const label = cells.find((cell) => cell.trim() !== '')?.trim() ?? '';
    return (cells[total.index] ?? '').trim() === '' && /^[^\d@]{3,60}$/.test(label) ? [label] : [];
  });
  return [...new Set(labels)].filter((label) => !footers.has(label));
}

/** What was decided about each column; the columns that are joined have the id of the order together. */
function decisionsOf({ assigned, joined }: OrdersFiles): readonly ColumnDecision[] {
  return assigned.decisions
    .filter(({ header }) => header !== joined?.name)
    .map((one) => (joined?.columns.includes(one.header) === true ? { ...one, role: 'order_id' } : one));
}

function asProposed(
  { assigned: { chosen }, words, name }: OrdersFiles,
  {
    text,
    stops,
    columns,
  }: Pick<ProposedLayout, 'text' | 'columns'> & { readonly stops: readonly StopColumn[] },
): ProposedLayout {
  const layout = toLayout(name, layoutSchema.parse(parse(text)));
  const status = layout.columns.status === undefined ? undefined : chosen.get('status');
  const states = [
    ...stops.map((stop) => [stop.column.header, wordsUnknownTo(stop)] as const),
    ...(status === undefined ? [] : [[status.header, unknownStatesOf(status, words)] as const]),
  ];
  const unknownStates = new Map(states.filter(([, unknown]) => unknown.length > 0));
  return { layout, text, columns, assumed: [], unknownStates };
}

/**
 * Proposes the layout that adds up the rows of each order, if a person has accepted it; else refuses the file, with that
 * layout as an example to check.
 *
 * @param options.id the column of the order that each row belongs to.
 */
function withSums(
  orders: OrdersFiles,
  found: NoLayout,
  { id, naming = null }: { readonly id: MeasuredColumn; readonly naming?: NamingRows | null },
): NoLayout | ProposedLayout {
  const { columns, total, records, assigned, words, name, footers } = orders;
  const chosen = new Map([...assigned.chosen, ['order_id', id] as const]);
  const rows = { id, total, records: naming?.records ?? records };
  const isBelow = isBelowZeroIn(total);
  const [refunds, sales] = [rows.records.filter(isBelow), rows.records.filter((row) => !isBelow(row))];
  const status = chosen.get('status');
  const kinds = kindsOfRows(columns, rows, words);
  const addedUp = {
    kinds,
    isSigned: refunds.length > 0 && refunds.every(hasSign(total)) && !sales.some(hasSign(total)),
    item: naming === null ? itemOf(columns, rows) : rowIdOf(columns, orders),
    reference: naming === null ? null : { column: naming.column, own: orders.id },
    hasStates: hasSeveral(status, rows),
    hasItemStates: hasSeveral(status, { ...rows, records: sales }),
    refundStates: status === undefined ? [] : refunds.map(({ cells }) => cells[status.index] ?? ''),
  };
  const stops = [
    ...assigned.stops.filter(({ column }) => column !== naming?.column),
    ...(kinds === null ? [] : [otherKinds(kinds.column)]),
  ];
  const proposed = { ...orders, ...assigned, stops, chosen, joined: null };
  const text = ordersText({ ...proposed, footer: [...footers], hasItems: true, addedUp });
  if (!orders.isAccepted)
    return {
      ...found,
      why: `${found.why} If the rows of one id add up to the order's total, check this layout, and run the command again with --save-layout ${name}, which uses and writes it:`,
      example: text,
      hasRefunds: refunds.length > 0,
    };
  const [kind, owner] = [kinds?.column.header, naming?.column.header];
  const read = [kind, owner, ...(addedUp.item?.columns ?? [])];
  const open = assigned.unclear.filter(({ header }) => !read.includes(header));
  if (open.length > 0) return whatIsUnclear(open, 'orders');
  const decided = decisionsOf(orders).map((decision): ColumnDecision => {
    if (decision.header === owner)
      return { ...decision, role: 'order_id', why: 'it names the order that a row lowers' };
    if (decision.header === kind)
      return { ...decision, role: 'excludes', why: 'it tells sales from refunds' };
    return decision;
  });
  return asProposed(orders, { text, stops, columns: decided });
}

/**
 * Checks rows that share an order id. The total belongs to the order if later rows leave it blank, or repeat it while
 * another amount differs from row to row. It belongs to the item if it differs within an order: to add items up, a
 * person must know which amounts are part of them.
 *
 * @returns why the rows are not read as orders; null if they are orders.
 */
function itemRows(
  columns: readonly MeasuredColumn[],
  {
    id,
    total,
    records,
    stated,
  }: Pick<AssignOptions, 'records' | 'stated'> & Readonly<Record<'id' | 'total', MeasuredColumn>>,
): NoLayout | null {
  const values = (rows: readonly CsvRecord[], column: MeasuredColumn): readonly string[] =>
    rows.map((row) => cellIn(column, row)).filter((cell) => cell !== '');
  const amounts = columns.filter(({ cells }) => cells.share((cell) => /\d[.,]\d/.test(cell)) > 0);
  const same = `Several rows have the same order id (column ${JSON.stringify(id.header)}) and`;
  const shop = columns.find((column) => {
    const { header, cells, index } = column;
    if (!isOfPlace(header) || cells.filled < cells.rows || numbersRows(column, { id, records })) return false;
    const both = records.map(({ cells }) => JSON.stringify([cells[index], cells[id.index]]));
    return new Set(both).size === both.length;
  });
  let isRepeated = false;
  let isProven = false;
  for (const [order, rows] of rowsBy(id, records)) {
    const totals = values(rows, total);
    if (order === '' || totals.length < 2) continue;
    isRepeated = true;
    if (new Set(totals).size > 1)
      return refusal(
        'item_rows',
        `${same} different amounts in ${JSON.stringify(total.header)} (lines ${rows[0]?.line} and ${rows[1]?.line}), so its rows are items, payments or refunds of an order, or other orders of the same number. If each shop numbers its orders by itself, name the column of the shop, too: --column ${inShellQuotes(`order_id=${shop?.header ?? 'SHOP'}+${id.header}`)}.`,
      );
    isProven ||= amounts.some((column) => column !== total && new Set(values(rows, column)).size > 1);
  }
  if (!isRepeated || isProven || stated.get(foldHeader(total.header)) === 'total') return null;
  const why =
    'say "total" if it is the total of the whole order, repeated on its rows; if it belongs to each row, write a layout with grouping.sum';
  return refusal(
    'unclear_columns',
    `${same} the same amount in ${JSON.stringify(total.header)}. It may be the total of the order, or that of each row.`,
    [{ ...describeColumn(total), why, likely: 'total' }],
  );
}

/** Rows with amounts below zero that name the order that they cancel or lower. */
type NamingRows = {
  readonly column: MeasuredColumn;
  /** The column of the order that each row belongs to, and the rows with it. */
  readonly id: MeasuredColumn;
  readonly records: readonly CsvRecord[];
  readonly found: NoLayout;
};

/**
 * Finds the column that is filled only on rows below zero, with what looks like the id of an order: a cancellation, or a
 * credit note. Such a row has an id of its own, so as an order it would lower none. Null if there is none.
 */
function findNamingRows(
  columns: readonly MeasuredColumn[],
  { id, total, records, stated }: RowsOfOrders & Pick<AssignOptions, 'stated'>,
): NamingRows | null {
  // A parent of 0 is none.
  const namedBy = (record: CsvRecord, one: MeasuredColumn): string => cellIn(one, record).replace(/^0+$/, '');
  const formOf = (text: string): string => text.replaceAll(/\d+/g, '0');
  const ids = new Set(records.map((record) => formOf(cellIn(id, record))));
  const isBelow = isBelowZeroIn(total);
  const column = columns.find((one) => {
    if (one === id || one === total || one.header === '' || stated.has(foldHeader(one.header))) return false;
    const filled = records.filter((record) => namedBy(record, one) !== '');
    return (
      filled.length > 0 &&
      filled.every((record) => isBelow(record) && ids.has(formOf(cellIn(one, record)))) &&
      filled.some((record) => cellIn(one, record) !== cellIn(id, record))
    );
  });
  if (column === undefined) return null;
  const owner = (record: CsvRecord): string => namedBy(record, column) || cellIn(id, record);
  const cells = new Cells();
  const owned = records.map((record) => {
    cells.add(owner(record));
    return { ...record, cells: [...columns.map(({ index }) => record.cells[index] ?? ''), owner(record)] };
  });
  const naming = records.filter((record) => namedBy(record, column) !== '');
  const named = JSON.stringify(column.header);
  const isOne = naming.length === 1;
  const why = `${plural(naming.length, 'row')} with amounts below zero ${isOne ? 'names' : 'name'} another order in ${named} (line ${naming[0]?.line}), and ${isOne ? 'has an id of its' : 'have ids of their'} own. They cancel or lower the orders that they name, which would be credited in full without them. If ${named} means something else: --column ${inShellQuotes(`${column.header}=unused`)}.`;
  return {
    column,
    id: { header: `${column.header} or ${id.header}`, index: columns.length, cells },
    records: owned,
    found: refusal('item_rows', why),
  };
}

/** The column with an id of each item: named like a part of an order, and different on each row. */
function itemOf(columns: readonly MeasuredColumn[], { id, total, records }: RowsOfOrders): JoinedIds | null {
  const item = columns.find(
    (column) =>
      column !== id &&
      column !== total &&
      isOfPart(column.header) &&
      column.cells.counts.size === records.length &&
      !isMoney(column.cells, /[.,]\d\d$/),
  );
  return item === undefined ? null : { name: item.header, columns: [item.header] };
}

/**
 * What is different on each row where a cancellation has an id of its own: the id, or the id with the number of the row.
 * Where it has the id of its sale, its rows may have the same numbers.
 */
function rowIdOf(
  columns: readonly MeasuredColumn[],
  { id, records }: Omit<RowsOfOrders, 'total'>,
): JoinedIds | null {
  if (id.cells.counts.size === records.length) return { name: id.header, columns: [id.header] };
  const number = columns.find((column) => numbersRows(column, { id, records }));
  return number === undefined
    ? null
    : { name: `${id.header} and ${number.header}`, columns: [id.header, number.header] };
}

/** True if a column numbers the rows of each order: 1, 2, 3. */
function numbersRows(column: MeasuredColumn, { id, records }: Omit<RowsOfOrders, 'total'>): boolean {
  const orders = [...rowsBy(id, records).values()];
  return (
    orders.length < records.length &&
    orders.every((rows) => rows.every((row, at) => cellIn(column, row) === String(at + 1)))
  );
}

/** True if rows of one order differ in a column. */
function hasSeveral(
  column: MeasuredColumn | undefined,
  { id, records }: Omit<RowsOfOrders, 'total'>,
): boolean {
  return (
    column !== undefined &&
    repeated(records, id).some((rows) => {
      const cells = rows.map((row) => cellIn(column, row));
      return new Set(cells.filter((cell) => cell !== '')).size > 1;
    })
  );
}

/** Whether an amount is below zero, as amounts of this column are written. */
function isBelowZeroIn({ cells, index }: MeasuredColumn): (record: CsvRecord) => boolean {
  const format = moneyFormatOf(cells) ?? MONEY_FORMATS[0];
  return (record) =>
    format !== undefined && String(parseMoney(record.cells[index] ?? '', format)).startsWith('-');
}

/** The rows of each id that several rows have. */
function repeated(records: readonly CsvRecord[], id: MeasuredColumn): readonly (readonly CsvRecord[])[] {
  const byId = rowsBy(id, records);
  byId.delete('');
  return [...byId.values()].filter(({ length }) => length > 1);
}

type RowsOfOrders = Pick<AssignOptions, 'records'> & Readonly<Record<'id' | 'total', MeasuredColumn>>;

/** True if an id has amounts above and below zero, and each word of the column is only on one side: sales and refunds. */
function tellsRefunds(column: MeasuredColumn, { id, total, records }: RowsOfOrders): boolean {
  const isBelow = isBelowZeroIn(total);
  if (!repeated(records, id).some((rows) => new Set(rows.map(isBelow)).size > 1)) return false;
  return [...rowsBy(column, records).values()].every((rows) => new Set(rows.map(isBelow)).size === 1);
}

/** Whether an amount is written with the sign of one below zero, which a layout can look for. */
function hasSign({ index }: MeasuredColumn): (record: CsvRecord) => boolean {
  return ({ cells }) => SIGN.test(cells[index] ?? '');
}

/** The column whose words tell sales from refunds of the same order, and do not say whether an order was paid. */
function kindsOfRows(
  columns: readonly MeasuredColumn[],
  rows: RowsOfOrders,
  { isPaid }: StatusWords,
): AddedUp['kinds'] {
  const saysPaid = ({ header, cells }: MeasuredColumn): boolean =>
    [...cells.counts.keys()].some((word) => isPaid(word, header));
  const column = columns.find((one) => hasStates(one) && !saysPaid(one) && tellsRefunds(one, rows));
  if (column === undefined) return null;
  const isBelow = isBelowZeroIn(rows.total);
  const refunds = new Set(rows.records.filter(isBelow).map((row) => cellIn(column, row)));
  return { column, sales: [...column.cells.counts.keys()].filter((word) => !refunds.has(cleanText(word))) };
}

/** Holds the orders that have a row of another kind than the file has, such as one of a training of the staff. */
function otherKinds(column: MeasuredColumn): StopColumn {
  const { counts, filled, rows } = column.cells;
  const unless = [...counts.keys(), ...(filled < rows ? [''] : [])];
  return { column, reason: 'test', test: { equals: ['test'], unless } };
}

/**
 * Says why joined columns are no ids of orders: one of them tells rows of one order apart, such as its items, or its
 * payment from its refund. Each would be an order, and a refund would lower none. Null if they may be ids.
 */
function whyMisjoined(
  parts: readonly MeasuredColumn[],
  {
    chosen,
    total,
    records,
    words,
    timeOfDay,
  }: Pick<Assignment, 'chosen' | 'timeOfDay'> & {
    readonly total: MeasuredColumn;
    readonly records: readonly CsvRecord[];
    readonly words: StatusWords;
  },
): { readonly why: string; readonly id: MeasuredColumn } | null {
  const [id, ...others] = parts.toSorted((one, other) => other.cells.counts.size - one.cells.counts.size);
  if (id === undefined) return null;
  const times = [chosen.get('placed_at'), timeOfDay?.column].flatMap((column) => column ?? []);
  const timeOf = (row: CsvRecord): string => times.map((column) => cellIn(column, row)).join(' ');
  const ofOneId = repeated(records, id);
  const areOfOneTime =
    ofOneId.length > 0 &&
    ofOneId.flat().every((row) => /\d:\d\d/.test(timeOf(row))) &&
    ofOneId.every((rows) => new Set(rows.map(timeOf)).size === 1);
  for (const column of others) {
    const { header, cells } = column;
    const why =
      isOfKind(header) || mayBeStatus(column, words)
        ? 'it says of which kind or in which state a row is'
        : isOfPart(header)
          ? 'its name means the items of an order'
          : isSurelyMoney(cells)
            ? 'it has amounts'
            : tellsRefunds(column, { id, total, records })
              ? 'it tells amounts below zero from the others of the same id'
              : areOfOneTime
                ? `all rows with one ${JSON.stringify(id.header)} have the same time of order`
                : null;
    if (why !== null)
      return {
        id,
        why: `${JSON.stringify(header)} cannot be part of the ids of orders: ${why}. With it, the rows of one order would count as several, and a refund would lower none of them. Leave out the option.`,
      };
  }
  return null;
}
