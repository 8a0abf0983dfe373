import type { LayoutField } from '../../../core/layout.ts';
import { LINE_OF_CODES } from '../../../core/text/codes-in-text.ts';
import { plural } from '../../../core/text/plural.ts';
import { toPrintableJson } from '../../../core/text/printable.ts';
import { joinLines, type Lines } from '../../../core/text/wrap.ts';
import type { MoneyFormat } from '../../../intake/layout/to-layout.ts';
import { foldWord } from '../../../intake/values/clean-text.ts';
import { currenciesOfName } from '../../../intake/values/currency-symbols.ts';
import { isZero, parseMoney } from '../../../intake/values/parse-money.ts';
import type { Assignment, StopColumn } from './assign-columns.ts';
import { type StatusWords, zoneOfName } from './column-names.ts';
import {
  Cells,
  codeInCells,
  codeSeparatorsOf,
  type MeasuredColumn,
  MONEY_FORMATS,
  moneyFormatOf,
  timesOfColumns,
} from './column-values.ts';

/** Quotes text from a file for YAML. JSON is valid YAML, and it escapes characters that a terminal or an editor would interpret. */
export function quote(text: string): string {
  return toPrintableJson(JSON.stringify(text));
}

export function list(texts: readonly string[]): string {
  return `[${texts.map(quote).join(', ')}]`;
}

/** The first lines of every proposed layout. */
export function headOf(name: string): string {
  return `# Proposed by \`influencer-sync init\` from the names and values of the columns. Check each line against the export, then delete this comment.
# docs/layouts.md explains every key.
title: ${quote(`Own export: ${name}`)}`;
}

/** Columns that only together identify an order or an item, and a name for the column that joins them. */
export type JoinedIds = { readonly name: string; readonly columns: readonly string[] };

/** How the rows of one order become one: their amounts are added up. */
export type AddedUp = {
  /** The column of kinds that tells sales from refunds, and the words of the sales. Null if none does. */
  readonly kinds: { readonly column: MeasuredColumn; readonly sales: readonly string[] } | null;
  /** Whether exactly the amounts below zero are written with the sign of one. */
  readonly isSigned: boolean;
  /** The column with an id of each row, or those that are one together. Null if there is none. */
  readonly item: JoinedIds | null;
  /**
   * The column in which a cancellation names the order that it lowers, and that of its own id: its rows are part of
   * that order.
   */
  readonly reference: { readonly column: MeasuredColumn; readonly own: MeasuredColumn } | null;
  /** Whether rows of one order have different states. */
  readonly hasStates: boolean;
  /** Whether even those of its sale have. */
  readonly hasItemStates: boolean;
  /** The states of the rows below zero. */
  readonly refundStates: readonly string[];
};

/** Of rows with the price of a piece, which are orders otherwise. */
const PRICES: AddedUp = {
  kinds: null,
  isSigned: false,
  item: null,
  reference: null,
  hasStates: false,
  hasItemStates: false,
  refundStates: [],
};

/** The sign of an amount below zero: `-20.00`, `(20.00)`. */
export const SIGN = /[-−(]/;

/** Fields of a layout of orders, as they are listed in it. */
const FIELDS: readonly LayoutField[] = [
  'order_id',
  'status',
  'currency',
  'total',
  'subtotal',
  'refunded',
  'codes',
  'influencer_handle',
  'links',
  'notes',
  'placed_at',
  'paid_at',
  'cancelled_at',
  'email',
];

/** Generates a layout of orders, with comments for the person who checks it. */
export function ordersText(
  proposed: Assignment & {
    readonly words: StatusWords;
    readonly name: string;
    readonly isBelowTitle: boolean;
    readonly footer: readonly string[];
    /** Whether several rows of a file have the same id. */
    readonly hasItems: boolean;
    readonly joined: JoinedIds | null;
    /** Null: each row, or the first of several, has the amounts of the order. */
    readonly addedUp?: AddedUp | null;
  },
): string {
  // A price counts as often as the quantity of its row says, which only a sum does.
  const { quantity } = proposed;
  const { addedUp = quantity === null ? null : PRICES } = proposed;
  const { words, name, moreCodes, stops, timeOfDay, decisions, isBelowTitle, footer, hasItems, joined } =
    proposed;
  const { kinds, isSigned, item, reference, hasStates, hasItemStates, refundStates } = addedUp ?? PRICES;
  const total = proposed.chosen.get('total')?.header ?? '';
  // In a column of parents, an order has none, or the parent 0.
  const hasZeros =
    reference !== null && [...reference.column.cells.counts.keys()].some((cell) => /^0+$/.test(cell));
  const parent = reference?.column.header ?? '';
  const named = hasZeros ? `${parent} of a refund` : parent;
  const isOfSale =
    reference !== null
      ? `columns: ${list([named])}, matches: ${quote('^\\s*$')}`
      : kinds !== null
        ? `columns: ${list([kinds.column.header])}, equals: ${list(kinds.sales)}`
        : isSigned
          ? `columns: ${list([total])}, matches: ${quote(`^[^${SIGN.source.slice(1)}*$`)}`
          : null;
  // The kinds of rows are no states of the order, and neither are the states of its items.
  const states = proposed.chosen.get('status');
  const isOfItems = reference === null && (isOfSale === null ? hasStates : hasItemStates);
  const ofItems = isOfItems && states !== kinds?.column ? states : undefined;
  const chosen = new Map(
    [...proposed.chosen].filter(([, column]) => column !== kinds?.column && column !== ofItems),
  );
  const ofSales =
    isOfSale === null
      ? []
      : [chosen.get('placed_at'), timeOfDay?.column, hasStates ? chosen.get('status') : undefined].flatMap(
          (one) => one ?? [],
        );
  const nameOf = (column: MeasuredColumn): string =>
    ofSales.includes(column) ? `${column.header} of a sale` : column.header;
  const cellsOf = (fields: readonly LayoutField[]): readonly Cells[] =>
    fields.flatMap((field) => chosen.get(field)?.cells ?? []);
  const format = moneyFormatOf(merge(cellsOf(['total', 'subtotal', 'refunded']))) ?? MONEY_FORMATS[0];
  const { decimal, thousands = null } = format ?? { decimal: '.' };
  const times = timesOfColumns([
    ...(timeOfDay === null ? cellsOf(['placed_at']) : [timeOfDay.joined]),
    ...cellsOf(['paid_at', 'cancelled_at']),
  ]);
  const written = (['placed_at', 'paid_at', 'cancelled_at'] as const).flatMap(
    (field) => chosen.get(field) ?? [],
  );
  const areUtc = times.needsZone && written.every(({ header }) => zoneOfName(header) === 'UTC');
  const [status, codes] = [chosen.get('status'), chosen.get('codes')];
  const [only = null, ...others] = currenciesOfName(chosen.get('total')?.header ?? '');
  const currency = chosen.has('currency') || others.length > 0 ? null : only;
  const lacks = [
    ...(['currency', 'time_zone', 'status', 'codes'] as const).filter((lack) =>
      lack === 'time_zone'
        ? times.needsZone && !areUtc
        : !chosen.has(lack) && !(lack === 'currency' && currency !== null),
    ),
    'consent',
  ];
  const columnsOfCodes = codes === undefined ? [] : [codes, ...moreCodes];
  const split = [...new Set(columnsOfCodes.flatMap(({ cells }) => codeSeparatorsOf(cells, [])))];
  const hasText = columnsOfCodes.some(({ cells }) => codeInCells(cells) !== null);
  const required = (['order_id', 'status', 'total', 'codes', 'placed_at'] as const).filter((field) =>
    chosen.has(field),
  );
  const ofReference = reference === null ? [] : [reference.own.header, reference.column.header];
  const parts = reference === null ? joined?.columns : ofReference;
  const signature = (['order_id', 'total', 'codes', 'placed_at'] as const).flatMap(
    (field) => (field === 'order_id' ? parts : null) ?? chosen.get(field)?.header ?? [],
  );
  const isRow = (header: string): boolean => [...(item?.columns ?? []), ...ofReference].includes(header);
  const joins = [joined, item].filter((one) => one !== null && one.columns.length > 1);
  const ofRefunds = stops.filter(({ unless }) => unless !== undefined);
  const unread = decisions.filter(({ role, header }) => role === null && !isRow(header));
  const exclusions = exclusionsOf({ chosen, stops, words });
  const negated =
    hasItems || addedUp !== null || format === undefined ? undefined : negativeRefunds(chosen, format);
  return joinLines(
    headOf(name),
    isBelowTitle && 'preamble_lines: search     # there are lines above the header',
    footer.length > 0 && `footer: ${list(footer)}     # rows after the last order`,
    `lacks: ${list(lacks)}`,
    currency !== null && `currency: ${currency}     # by the name of the total`,
    joins.length > 0 &&
      `joined_columns: [${joins.map((one) => `{ name: ${quote(one?.name ?? '')}, columns: ${list(one?.columns ?? [])} }`).join(', ')}]`,
    (reference !== null || ofSales.length > 0 || ofRefunds.length > 0) && 'conditional_columns:',
    ofRefunds.map(
      ({ column, unless }) =>
        `  - { name: ${quote(withoutAmount(column))}, columns: ${list([column.header])}, when: { columns: ${list([unless?.header ?? ''])}, matches: "^[^1-9]*$" } }     # else the amount says how much was refunded`,
    ),
    (reference !== null || ofSales.length > 0) && [
      '  # A refund has a time of its own, which is not that of the order.',
      hasZeros &&
        `  - { name: ${quote(named)}, columns: ${list([parent])}, when: { columns: ${list([parent])}, matches: ${quote('[^0\\s]')} } }`,
      reference !== null &&
        `  - { name: ${quote(chosen.get('order_id')?.header ?? '')}, columns: ${list([named, reference.own.header])}, when: { columns: ${list([reference.own.header])}, not_blank: true } }     # the first that is filled`,
      ofSales.map(
        (column) =>
          `  - { name: ${quote(nameOf(column))}, columns: ${list([column.header])}, when: { ${isOfSale} } }`,
      ),
    ],
    'columns:',
    FIELDS.map((field) => {
      const column = chosen.get(field);
      if (column === undefined || column === negated) return null;
      if (addedUp !== null && (field === 'total' || field === 'refunded')) return null;
      const names = field === 'codes' ? columnsOfCodes.map(nameOf) : [nameOf(column)];
      return `  ${field}: ${list(names)}${noteOf(field, column, hasItems)}`;
    }),
    `required: ${list(required)}`,
    `signature: [${list(signature.slice(0, parts === undefined ? 3 : 4))}]     # no other export may have all of these`,
    negated !== undefined &&
      `grouping: { sum: { refunded: { minus: ${list([negated.header])} } } }     # refunds are below zero`,
    addedUp !== null && [
      'grouping:',
      '  line_items: true',
      item !== null && `  item: ${list([item.name])}     # no two items have the same`,
      '  sum:     # of all rows with one id; add the other amounts that the customer paid',
      (['total', 'refunded'] as const).map((field) => {
        const column = chosen.get(field);
        if (column === undefined) return null;
        const isBelow =
          field === 'refunded' && format !== undefined && negativeRefunds(chosen, format) === column;
        const times = quantity === null || field !== 'total' ? '' : `, times: ${list([quantity.header])}`;
        return `    ${field}: { ${isBelow ? 'minus' : 'plus'}: ${list([column.header])}${times} }`;
      }),
      ofItems !== undefined &&
        `  adds_nothing: [{ columns: ${list([ofItems.header])}, none_of: ${list([...new Set([...paidOf(ofItems, words), ...refundStates])])} }]     # rows in other states do not count`,
    ],
    hasItems &&
      addedUp === null &&
      'grouping: { line_items: true }      # several rows have the same id; check that the total belongs to the order',
    `money: { decimal: ${quote(decimal)}, thousands: ${thousands === null ? 'null' : quote(thousands)}, symbols: true }`,
    times.formats !== null && times.formats.length > 0 && `times: ${list(times.formats)}`,
    areUtc && 'time_zone: UTC     # by the names of the times',
    hasText
      ? `${LINE_OF_CODES}     # codes after a word for them, inside text; other words are none`
      : split.length > 0 && `codes: { split: ${list(split)} }`,
    timeOfDay !== null && `time_of_day: ${list([nameOf(timeOfDay.column)])}`,
    status !== undefined && statusText(status, words),
    exclusions.length > 0 && ['exclusions:', ...exclusions.map((rule) => `  - { ${rule} }`)],
    stops.map((stop) => {
      const unknown = wordsUnknownTo(stop);
      return (
        unknown.length > 0 &&
        `  # Not known in ${quote(stop.column.header)}, so these orders are held: ${list(unknown)}. Write each below \`unless\` if such orders count, else below \`equals\`.`
      );
    }),
    unread.length === 0 ? '# Every column is read.' : '# Not read:',
    unread.map(({ header, why }) => `# - ${quote(header)}: ${why}`),
    '',
  );
}

/** The column of refunds if each of its amounts is zero or below, and at least one is below. */
function negativeRefunds(chosen: Assignment['chosen'], format: MoneyFormat): MeasuredColumn | undefined {
  const column = chosen.get('refunded');
  const amounts = [...(column?.cells.counts.keys() ?? [])].filter((cell) => !isZero(cell));
  const isBelow = (cell: string): boolean => String(parseMoney(cell, format)).startsWith('-');
  return amounts.length > 0 && amounts.every(isBelow) ? column : undefined;
}

/** The words of another column of states about which its rule says nothing. A run holds their orders. */
export function wordsUnknownTo({ reason, column, test }: StopColumn): readonly string[] {
  if (!('equals' in test && (reason === 'other_status' || reason === 'returned'))) return [];
  const known = new Set([...test.equals, ...(test.unless ?? [])].map(foldWord));
  return statesOf(column).filter((word) => !known.has(foldWord(word)));
}

/** The words of a column of states that no list knows. A run holds their orders. */
export function unknownStatesOf(column: MeasuredColumn, { saysNo, isPaid }: StatusWords): readonly string[] {
  return statesOf(column).filter((word) => !saysNo(word, column.header) && !isPaid(word, column.header));
}

function statesOf({ cells }: MeasuredColumn): readonly string[] {
  const words = [...cells.counts.keys()].filter((word) => !word.includes('@'));
  return [...new Map(words.map((word) => [foldWord(word), word])).values()].slice(0, 50);
}

/** The words of a column that mean that an order was paid; `paid` if none is known to. */
function paidOf(column: MeasuredColumn, words: StatusWords): readonly string[] {
  const paid = statesOf(column).filter((word) => words.isPaid(word, column.header));
  return paid.length === 0 ? ['paid'] : paid;
}

function statusText(status: MeasuredColumn, words: StatusWords): Lines {
  const found = statesOf(status);
  const unknown = unknownStatesOf(status, words);
  const credited = found.filter((word) => words.isPaid(word, status.header));
  const others = found.filter((word) => !credited.includes(word) && !unknown.includes(word));
  return [
    'status:',
    credited.length === 0
      ? '  credited: ["paid"]     # none of the words is known: list those that count'
      : `  credited: ${list(credited.map(foldWord))}     # orders in these states count; a word that is listed nowhere here holds its orders`,
    others.length > 0 && `  known: ${list(others.map(foldWord))}     # these orders are not credited`,
    unknown.length > 0 &&
      `  # Not known, so these orders are held: ${list(unknown.map(foldWord))}. Move each to \`credited\` or \`known\`.`,
  ];
}

/** Orders that are never posted: cancelled ones, and those that a column stops. */
function exclusionsOf({
  chosen,
  stops,
  words,
}: Pick<Assignment, 'chosen' | 'stops'> & { readonly words: StatusWords }): readonly string[] {
  const [status, cancelledAt] = [chosen.get('status'), chosen.get('cancelled_at')];
  const cancelled = [...(status?.cells.counts.keys() ?? [])].filter(
    (word) => /^cancell?ed$/.test(words.meaningOf(word)) && !words.isPaid(word, status?.header ?? ''),
  );
  const rule = (reason: string, { header }: { readonly header: string }, test: object): string =>
    `reason: ${reason}, columns: ${list([header])}, ${Object.entries(test)
      .map(
        ([key, value]) =>
          `${key}: ${value === true ? 'true' : typeof value === 'string' ? quote(value) : list(value)}`,
      )
      .join(', ')}`;
  return [
    ...(status === undefined || cancelled.length === 0
      ? []
      : [rule('cancelled', status, { equals: cancelled })]),
    ...(cancelledAt === undefined ? [] : [rule('cancelled', cancelledAt, { not_blank: true })]),
    ...stops.map(({ column, reason, test, unless }) =>
      rule(reason, unless === undefined ? column : { header: withoutAmount(column) }, test),
    ),
  ];
}

/** The name of a column of refunds on the rows that have no amount of one. */
function withoutAmount({ header }: MeasuredColumn): string {
  return `${header} without an amount`;
}

function noteOf(field: LayoutField, { cells }: MeasuredColumn, hasItems: boolean): string {
  if (field === 'order_id')
    return `     # ${!hasItems ? 'different on each row that was looked at' : 'the same on several rows: line items'}`;
  return field === 'codes' ? `     # filled on ${cells.filled} of ${plural(cells.rows, 'row')}` : '';
}

/** Combines the different cells of several columns. Each different cell of a column is counted once. */
function merge(columns: readonly Cells[]): Cells {
  const all = new Cells();
  for (const { counts } of columns) for (const cell of counts.keys()) all.add(cell);
  return all;
}
