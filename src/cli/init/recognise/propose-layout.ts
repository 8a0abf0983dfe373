import { parse } from 'yaml';
import { type ColumnRole, CUSTOMER_ROLES, type LayoutField, type StatedRoles } from '../../../core/layout.ts';
import { toUnits } from '../../../core/money.ts';
import type { CsvRecord } from '../../../core/record.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { inShellQuotes } from '../../../core/text/printable.ts';
import { isOfPeople, sumsUp } from '../../../intake/layout/column-words.ts';
import { layoutSchema } from '../../../intake/layout/layout-schema.ts';
import { joinIds } from '../../../intake/layout/resolve-header.ts';
import type { Layout, MoneyFormat } from '../../../intake/layout/to-layout.ts';
import { toLayout } from '../../../intake/layout/to-layout.ts';
import { arePlacedApart, minutesBetween, zoneStepsOf } from '../../../intake/orders/map/built-order.ts';
import { MAX_TOTALS_ROWS } from '../../../intake/orders/map/totals-rows.ts';
import { cleanText } from '../../../intake/values/clean-text.ts';
import { parseMoney } from '../../../intake/values/parse-money.ts';
import { timeParser } from '../../../intake/values/parse-time.ts';
import {
  type Assignment,
  assignColumns,
  NAMES_SOMEBODY,
  SURE_NAME,
  type UnclearColumn,
} from './assign-columns.ts';
import {
  amountNameOf,
  isCurrency,
  isInMinorUnits,
  isOfAnother,
  isOfPlace,
  type NameScorer,
  nameScorer,
  otherReportOf,
  SAYS_ORDER,
  statusWordsOf,
} from './column-names.ts';
import {
  Cells,
  describeColumn,
  isMoney,
  isSurelyMoney,
  type MeasuredColumn,
  MONEY_FORMATS,
  shape,
} from './column-values.ts';
import { mayBeConsent, proposeCustomers } from './propose-customers.ts';
import { proposeOrders } from './propose-orders.ts';
import {
  type NoLayout,
  type ProposedLayout,
  refusal,
  rolesOutside,
  whatIsUnclear,
} from './proposed-layout.ts';
import type { JoinedIds } from './proposed-text.ts';

/** What a person has said about the columns of files that no layout knows. */
export type SaidOfColumns = {
  readonly stated?: StatedRoles | undefined;
  /** What means that an order was paid, folded: words, or `COLUMN=WORD`. */
  readonly paidWords?: ReadonlySet<string> | undefined;
  /** Words that mean consent, folded. */
  readonly consentWords?: ReadonlySet<string> | undefined;
  /** The names of layouts that add up rows, and that the person has accepted. */
  readonly accepted?: readonly string[] | undefined;
};

/**
 * Maps a header by the names of its columns and the shape of their values. If either does not fit, leaves the field
 * without a column instead of guessing.
 */
export function proposeLayout(
  written: Table,
  options: SaidOfColumns & {
    readonly name: string;
    readonly layouts: readonly Layout[];
    /** Other files with the same columns, in any order. */
    readonly others?: readonly Table[] | undefined;
    /** Words of the column of states that stand further down in the files. */
    readonly moreStates?: readonly string[] | undefined;
    /** Whether there are lines above the header. */
    readonly isBelowTitle?: boolean | undefined;
  },
): ProposedLayout | NoLayout {
  const { name, layouts, isBelowTitle = false, accepted = [], moreStates = [] } = options;
  const { header, stated, joined, ...rows } = readRows(written, options);
  const { records, columns } = rows;
  const words = statusWordsOf(layouts, options.paidWords);
  const score = nameScorer(layouts);
  const assigned = assignColumns(columns, { records, words, score, stated });
  const { chosen, unclear } = assigned;
  for (const word of moreStates) chosen.get('status')?.cells.add(word);
  const [id, total, email] = [chosen.get('order_id'), chosen.get('total'), chosen.get('email')];
  // Customers have notes, and amounts of their own. What has codes beside amounts is a list of orders.
  const namesSomebody = NAMES_SOMEBODY.some((field) => chosen.has(field));
  const mayBeAny = chosen.has('codes') || (namesSomebody && email === undefined);
  const money = total ?? findPayments(columns, { score, mayBeAny });
  const saysOrder = id !== undefined && score(id.header, 'order_id') >= SAYS_ORDER;
  const areOrders = money !== undefined || saysOrder;
  const isTotalStated = [...stated.values()].includes('total');
  const other = areOrders ? otherReportOf(header, isTotalStated) : null;
  if (other !== null) return refusal('not_orders', `It looks like ${other}`);
  const twice =
    areOrders || email !== undefined ? findNamedTwice(columns, [...chosen.values(), ...unclear]) : undefined;
  if (twice !== undefined)
    return refusal(
      'ambiguous_header',
      `Two columns are called ${JSON.stringify(twice)}, and nothing says which of them counts. Export the file again with one of them, or with two names.`,
    );
  const amounts = (['total', 'subtotal', 'refunded'] as const).flatMap((field) => chosen.get(field) ?? []);
  const others = total === undefined && saysOrder ? columns.filter(({ cells }) => isMoney(cells)) : [];
  const inMinor = [...amounts, ...others].find(({ header }) => isInMinorUnits(header));
  if (inMinor !== undefined)
    return refusal(
      'unclear_columns',
      `The name of the column ${JSON.stringify(inMinor.header)} says that its amounts are in minor units, such as cents, which no layout can read: each would count many times over. Export the amounts as 12.50.`,
    );
  const open = areOrders ? whatIsMissing(columns, assigned, stated) : null;
  if (open !== null) return open;
  if (id !== undefined && total !== undefined)
    return proposeOrders({
      ...rows,
      id,
      total,
      assigned,
      words,
      stated,
      joined,
      name,
      isBelowTitle,
      isAccepted: accepted.includes(name),
    });
  if (saysOrder) return withoutTotal(columns, id);
  if (money !== undefined) {
    const idName = columns.find(({ header }) => score(header, 'order_id') >= SURE_NAME)?.header ?? 'NAME';
    return refusal(
      'unknown_header',
      `It has amounts (column ${JSON.stringify(money.header)}), but no column has the name and the values of ${total === undefined ? 'totals or order ids' : 'order ids'}.${id === undefined ? ` If one has the ids, name it: --column ${inShellQuotes(`${idName}=order_id`)}.` : ''}`,
    );
  }
  const { consentWords = new Set<string>() } = options;
  if (email !== undefined) return proposeList(columns, { email, name, stated, score, consentWords });
  const addresses = columns.filter(
    ({ header, cells }) => header !== '' && !stated.has(foldHeader(header)) && shape('email', cells) === 1,
  );
  if (addresses.length > 0) {
    const why = 'it has e-mail addresses, and its name does not say whose';
    const likely = addresses.length === 1 ? 'email' : 'unused';
    const unclear = addresses.map(
      ({ header }) => ({ header, samples: [], why, likely, isOfCustomers: true }) as const,
    );
    return whatIsUnclear(unclear, 'customers');
  }
  return refusal(
    'unknown_header',
    'Judging by the names and values of its columns, it has neither order ids with amounts nor e-mail addresses. If it has, name their columns: --column "NAME=order_id" --column "NAME=total" for orders, --column "NAME=email" for customers. Clicks and creators need the names of columns that a layout has: npx influencer-sync layouts',
  );
}

/** The name of a column that decides something, if another column has it, too. */
function findNamedTwice(
  columns: readonly MeasuredColumn[],
  deciding: readonly Pick<MeasuredColumn, 'header'>[],
): string | undefined {
  const asked = new Set(deciding.map(({ header }) => header));
  const twice = columns.find(
    (column) =>
      asked.has(column.header) &&
      columns.some((one) => one !== column && foldHeader(one.header) === foldHeader(column.header)),
  );
  return twice?.header;
}

/** Proposes a layout of customers, unless their consent, or who is a creator among them, is not known. */
function proposeList(
  columns: readonly MeasuredColumn[],
  options: Parameters<typeof proposeCustomers>[1] & { readonly score: NameScorer },
): ProposedLayout | NoLayout {
  const { email, name, stated, score } = options;
  const misused = rolesOutside(CUSTOMER_ROLES, 'customers', { columns, stated });
  if (misused.length > 0) return whatIsUnclear(misused, 'customers');
  const others = columns.filter((column) => column !== email && column.header !== '');
  const open = mayBeConsent(others, options);
  if (open.length > 0) return whatIsUnclear(open, 'customers');
  const proposed = proposeCustomers(columns, options);
  const isAnswered = proposed.columns.some(({ role }) => role === 'consent' || role === 'excludes');
  const creators = others.find(
    ({ header }) => !stated.has(foldHeader(header)) && score(header, 'influencer_handle') > 0,
  );
  if (creators !== undefined && !isAnswered)
    return whatIsUnclear(
      [
        {
          header: creators.header,
          samples: [],
          why: 'a list of creators has such a column, and its people are no customers. To create deals for creators, name the columns as the layout generic-creators does (docs/deals.md), or move the file elsewhere. If the file lists customers, the column is unused',
          likely: null,
          offered: [],
          isOfCustomers: true,
        },
      ],
      'customers',
    );
  return {
    layout: toLayout(name, layoutSchema.parse(parse(proposed.text))),
    ...proposed,
    unknownStates: new Map(),
  };
}

/** Reads the rows of all files in the order of the first one's columns, without the rows after the last record. */
function readRows(
  written: Table,
  {
    others = [],
    stated: roles = new Map(),
  }: { readonly others?: readonly Table[] | undefined; readonly stated?: StatedRoles | undefined },
) {
  const { header, stated, joined, records: first } = joinStatedIds(written, roles);
  const more = others.map((file) => joinStatedIds(reorder(file, written.header), roles).records);
  const footers = new Set<string>();
  const totals: CsvRecord[] = [];
  const files = [first, ...more].map((rows) => {
    const footer = footerOf(rows);
    for (const beginning of footer.beginnings) footers.add(beginning);
    const labelled = rows.slice(0, rows.length - footer.rows);
    const orders = labelled.length - countTotals(labelled);
    totals.push(...labelled.slice(orders));
    return labelled.slice(0, orders);
  });
  const records = files.flat();
  const columns = header.map((text, index): MeasuredColumn => {
    const cells = new Cells();
    for (const record of records) cells.add(record.cells[index] ?? '');
    return { header: text.trim(), index, cells };
  });
  return { header, stated, joined, files, records, columns, footers, totals };
}

/** The first rows of a file. */
export type Table = { readonly header: readonly string[]; readonly records: readonly CsvRecord[] };

/** The rows of a file with the cells in the order of another header. */
function reorder({ header, records }: Table, wanted: readonly string[]): Table {
  if (wanted.every((name, at) => foldHeader(name) === foldHeader(header[at] ?? '')))
    return { header: wanted, records };
  const from = wanted.map((name) => header.findIndex((one) => foldHeader(one) === foldHeader(name)));
  const cellsOf = ({ cells }: CsvRecord): readonly string[] => from.map((at) => cells[at] ?? '');
  return { header: wanted, records: records.map((record) => ({ ...record, cells: cellsOf(record) })) };
}

/** Adds the column that joins the ones to which a person has given the role `order_id`, if these are several. */
function joinStatedIds(
  { header, records }: Table,
  stated: StatedRoles,
): Table & { readonly stated: StatedRoles; readonly joined: JoinedIds | null } {
  const parts = [...stated].flatMap(([folded, role]) => {
    const at = role === 'order_id' ? header.findIndex((name) => foldHeader(name) === folded) : -1;
    return at < 0 ? [] : [{ at, folded }];
  });
  if (parts.length < 2) return { header, records, stated, joined: null };
  const columns = parts.map(({ at }) => (header[at] ?? '').trim());
  const name = columns.join(' and ');
  return {
    header: [...header, name],
    records: records.map((record) => ({
      ...record,
      cells: [
        ...header.map((_, at) => record.cells[at] ?? ''),
        joinIds(parts.map(({ at }) => record.cells[at] ?? '')),
      ],
    })),
    stated: new Map([
      ...stated,
      ...parts.map(({ folded }) => [folded, 'unused'] as const),
      [foldHeader(name), 'order_id'] as const,
    ]),
    joined: { name, columns },
  };
}

/**
 * Asks which columns the indispensable ones are that no name and no value shows. An order needs an id and an amount, and
 * somebody to credit it to.
 *
 * @returns null if none is missing, or no column could be one that is.
 */
function whatIsMissing(
  columns: readonly MeasuredColumn[],
  { chosen, stops }: Pick<Assignment, 'chosen' | 'stops'>,
  stated: StatedRoles,
): NoLayout | null {
  const taken = new Set([...chosen.values(), ...stops.map(({ column }) => column)]);
  const free = columns.filter(
    (column) => column.header !== '' && !taken.has(column) && !stated.has(foldHeader(column.header)),
  );
  const missing = INDISPENSABLE.filter(({ fields }) => !fields.some((field) => chosen.has(field)));
  const found = missing.map(({ fields, what, mayBe }) => {
    const [field] = fields;
    const candidates = free.filter(mayBe);
    return candidates.map((column): UnclearColumn => {
      const why = `no name says which column has ${what}, and this one may`;
      return candidates.length === 1
        ? { ...describeColumn(column), why, likely: field }
        : { ...describeColumn(column), why, likely: 'unused', oneOf: field };
    });
  });
  if (missing.length === 0 || found.some((candidates) => candidates.length === 0)) return null;
  const unclear = [...new Map(found.flat().map((one) => [one.header, one])).values()];
  return whatIsUnclear(unclear, 'orders');
}

const INDISPENSABLE: readonly {
  readonly fields: readonly [LayoutField & ColumnRole, ...LayoutField[]];
  readonly what: string;
  readonly mayBe: (column: MeasuredColumn) => boolean;
}[] = [
  {
    fields: ['order_id'],
    what: 'the ids of orders',
    mayBe: ({ header, cells }) =>
      cells.filled === cells.rows &&
      cells.counts.size > Math.min(2, cells.rows - 1) &&
      !isOfPeople(header) &&
      cells.share((cell) => /\d/.test(cell) && !/@|\d:\d\d|\s{2}|^\d+[./-]\d+[./-]\d+$/.test(cell)) === 1 &&
      !isSurelyMoney(cells),
  },
  {
    fields: ['total'],
    what: 'the total of an order',
    // An order without a total is none, while refunds and discounts are blank on most rows.
    mayBe: ({ header, cells }) =>
      amountNameOf(header) === null && cells.filled >= cells.rows * 0.9 && isSurelyMoney(cells),
  },
  {
    fields: ['codes', ...NAMES_SOMEBODY],
    what: 'the codes',
    mayBe: ({ header, cells }) =>
      !isOfAnother(header, 'codes') &&
      !isOfPeople(header) &&
      cells.share((cell) => /^[\p{L}\p{N}_-]{3,30}$/u.test(cell)) === 1 &&
      cells.share((cell) => /\p{L}\d/u.test(cell)) > 0,
  },
];

/** The rows after the last order: sums, and numbers of rows. */
export function footerOf(rows: readonly Pick<CsvRecord, 'cells'>[]): {
  readonly rows: number;
  /** How each begins, as `footer` of a layout has it. */
  readonly beginnings: readonly string[];
} {
  const found = new Set<string>();
  let count = 0;
  for (const { cells } of rows.toReversed()) {
    const first = cells.find((cell) => cell.trim() !== '')?.trim() ?? '';
    const [, counted] = COUNTS_ROWS.exec(first) ?? [];
    if (counted === undefined && !sumsUp(first)) break;
    found.add(counted ?? first);
    count += 1;
  }
  return { rows: count, beginnings: [...found].reverse() };
}

/** Counts the rows at the end that add up the rows above, whatever they are called. A run recognises them, too. */
function countTotals(rows: readonly Pick<CsvRecord, 'cells'>[]): number {
  const filled = ({ cells }: Pick<CsvRecord, 'cells'>): number =>
    cells.filter((cell) => cell.trim() !== '').length;
  const usual = rows[0] === undefined ? 0 : filled(rows[0]);
  const orders = rows.findLastIndex((row) => filled(row) * 2 > usual) + 1;
  const above = rows.slice(0, orders);
  const last = rows.slice(orders);
  if (orders < 2 || last.length > MAX_TOTALS_ROWS) return 0;
  const sumsIn = (format: MoneyFormat) => (cell: string, at: number) => {
    const amount = parseMoney(cell, format);
    if (typeof amount !== 'string') return null;
    const cells = above.map(({ cells: others }) => parseMoney(others[at] ?? '', format));
    const sum = cells.reduce((all, one) => all + (typeof one === 'string' ? toUnits(one) : 0n), 0n);
    return [sum, toUnits(String(orders))].includes(toUnits(amount));
  };
  const isTotal = ({ cells }: Pick<CsvRecord, 'cells'>): boolean =>
    MONEY_FORMATS.some((format) => {
      const found = cells.map(sumsIn(format)).filter((isSum) => isSum !== null);
      return found.length > 0 && found.every((isSum) => isSum);
    });
  return last.every(isTotal) ? last.length : 0;
}

const COUNTS_ROWS =
  /^\d+ +((?:records?|rows?|orders?|sales?|lines?|zeilen?|bestellungen|regels?|rijen|bestellingen|registros?|filas?|pedidos?|lignes?|commandes?|righe|ordini)(?!\p{L}).*)$/iu;

/** Orders without a column that is named like a total. Their other amounts are listed, and none is taken. */
function withoutTotal(columns: readonly MeasuredColumn[], id: MeasuredColumn): NoLayout {
  const ids = `It has order ids (column ${JSON.stringify(id.header)}), but no amounts`;
  const amounts = columns
    .filter(({ header, cells }) => header !== '' && isSurelyMoney(cells))
    .map((column) => ({ ...column, name: amountNameOf(column.header) }));
  if (amounts.length === 0) return refusal('unknown_header', `${ids}.`);
  const listed = amounts.map(
    ({ header, name }) => `${JSON.stringify(header)}: ${name?.field === null ? name.why : NO_TOTAL}`,
  );
  return refusal(
    'unclear_columns',
    `${ids} named like the total of an order. ${listed.join('. ')}. If one of them is what the customer paid, name it: --column "NAME=total".`,
    amounts
      .filter(({ name }) => name === null)
      .map((column) => ({ ...describeColumn(column), why: NO_TOTAL, likely: 'unused' })),
  );
}

const NO_TOTAL = 'its name does not say that it is the total';

/**
 * Says why files of one source have the same ids for different orders: most ids that several of them state are of several
 * shops, or were placed at times of which neither clocks nor zones make one. As one order, the newer would take the place
 * of the other. Null if they are the same orders.
 */
export function whyUsedAgain(layout: Layout, files: readonly Table[]): string | null {
  const [id = ''] = layout.columns.order_id ?? [];
  const indexIn = ({ header }: Table, name: string): number =>
    header.findIndex((one) => one.trim() !== '' && foldHeader(one) === foldHeader(name));
  const place = files[0]?.header.find(
    (name) =>
      isOfPlace(name) &&
      files.every((file) => {
        const at = indexIn(file, name);
        return file.records.every(({ cells }) => cleanText(cells[at] ?? '') !== '');
      }),
  );
  const parse = timeParser(layout.times.formats, 'UTC');
  const stated = files.flatMap((file) => {
    const [idAt = -1, placeAt = -1, ...times] = [
      ...[id, place ?? ''],
      ...[...(layout.columns.placed_at ?? []), ...layout.timeOfDay].slice(0, 2),
    ].map((name) => indexIn(file, name));
    const ofFile = file.records.map(({ cells }) => {
      const time = parse(times.map((at) => cleanText(cells[at] ?? '')).join(' '));
      return {
        id: cleanText(cells[idAt] ?? ''),
        place: cleanText(cells[placeAt] ?? ''),
        time: typeof time === 'string' ? time : null,
      };
    });
    return [...new Map(ofFile.map((order) => [order.id, order])).values()];
  });
  const several = [...Map.groupBy(stated, (order) => order.id).values()].filter(
    ([first, ...others]) => first?.id !== '' && others.length > 0,
  );
  const differ = several.filter(([first, ...others]) =>
    others.some(({ place, time }) => {
      const minutes = minutesBetween(time, first?.time ?? null);
      return (
        place !== first?.place ||
        arePlacedApart([time, first?.time ?? null]) ||
        (minutes !== null && zoneStepsOf(minutes) === null)
      );
    }),
  );
  const [example] = differ;
  if (example === undefined || differ.length * 2 <= several.length) return null;
  const places = [...new Set(example.map((order) => order.place))]
    .slice(0, 3)
    .map((text) => JSON.stringify(text));
  const isOfShops = place !== undefined && places.length > 1;
  const [how, say] = isOfShops
    ? [
        `of ${places.join(' and ')}`,
        'If each shop numbers its orders by itself, name the column of the shop, too:',
      ]
    : [
        'placed at different times',
        'If each shop numbers its orders by itself, put the files of each shop into a folder of its own. If the numbers begin again, join them with a column that is always the same for an order, such as its date:',
      ];
  const other = isOfShops ? place : (layout.columns.placed_at?.[0] ?? 'NAME');
  return `Several files have the same order ids (column ${JSON.stringify(id)}) for different orders: ${JSON.stringify(example[0]?.id)} is in ${example.length} files, ${how}. As one order, the newer would take the place of the other. ${say} --column ${inShellQuotes(`order_id=${other}+${id}`)}.`;
}

/**
 * Finds the amounts of payments in a file whose names are unknown: money beside a column of currencies, or `mayBeAny`. A
 * list of customers may have one of them, or the total that each customer has spent.
 */
function findPayments(
  columns: readonly MeasuredColumn[],
  { score, mayBeAny }: { score: NameScorer; mayBeAny: boolean },
): MeasuredColumn | undefined {
  const isCode = (cell: string): boolean => cell === cell.toUpperCase() && isCurrency(cell);
  if (!mayBeAny && !columns.some(({ cells }) => cells.share(isCode) === 1)) return undefined;
  return columns.find(
    ({ header, cells }) =>
      isSurelyMoney(cells) && score(header, 'spent') === 0 && amountNameOf(header)?.field !== null,
  );
}
