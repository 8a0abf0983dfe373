import { parse } from 'yaml';
import {
  COLUMN_ROLES,
  type ColumnRole,
  CUSTOMER_ROLES,
  type LayoutField,
  type StatedRoles,
} from '../../../core/layout.ts';
import { toUnits } from '../../../core/money.ts';
import type { CsvRecord } from '../../../core/record.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { plural } from '../../../core/text/plural.ts';
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
  type AssignOptions,
  assignColumns,
  type ColumnDecision,
  NAMES_SOMEBODY,
  type StopColumn,
  SURE_NAME,
  type UnclearColumn,
} from './assign-columns.ts';
import {
  amountNameOf,
  isCurrency,
  isInMinorUnits,
  isOfAnother,
  isOfKind,
  isOfPart,
  isOfPlace,
  type NameScorer,
  nameScorer,
  otherReportOf,
  SAYS_ORDER,
  type StatusWords,
  statusWordsOf,
} from './column-names.ts';
import {
  Cells,
  describeColumn,
  hasStates,
  isMoney,
  isSurelyMoney,
  type MeasuredColumn,
  MONEY_FORMATS,
  mayBeStatus,
  moneyFormatOf,
  shape,
} from './column-values.ts';
import { mayBeConsent, proposeCustomers } from './propose-customers.ts';
import {
  type AddedUp,
  type JoinedIds,
  ordersText,
  SIGN,
  unknownStatesOf,
  wordsUnknownTo,
} from './proposed-text.ts';

/** A layout for a header that no layout knows, as a file that a person must check. */
export type ProposedLayout = {
  readonly layout: Layout;
  /** Content of `layouts/<name>.yaml`, with comments. */
  readonly text: string;
  /** One for each column that has a name. */
  readonly columns: readonly ColumnDecision[];
  /** Columns that are read as a no unless a person says otherwise. */
  readonly assumed: readonly UnclearColumn[];
  /** Columns of customers that ask for consent, and in which nothing is known to mean yes. */
  readonly withoutYes?: readonly string[];
  /** By column of customers that may say who has consented: its words, of which none is known to mean yes. */
  readonly unknownYes?: ReadonlyMap<string, readonly string[]>;
  /** By column: words for states of which only a person knows whether they mean that an order was paid. */
  readonly unknownStates: ReadonlyMap<string, readonly string[]>;
};

/** Why no layout can be proposed for a header, and the columns about which a person may say more. */
export type NoLayout = {
  readonly code: 'unknown_header' | 'ambiguous_header' | 'not_orders' | 'item_rows' | 'unclear_columns';
  readonly why: string;
  readonly unclear: readonly UnclearColumn[];
  /** The text of a layout that adds up rows, for a person to check and to accept. */
  readonly example?: string;
  /** Whether some of these rows are below zero, as refunds are. */
  readonly hasRefunds?: boolean;
};

const ORDER_ROLES = COLUMN_ROLES.filter((role) => role !== 'consent');

/**
 * Maps a header by the names of its columns and the shape of their values. If either does not fit, leaves the field
 * without a column instead of guessing.
 */
export function proposeLayout(
  written: Table,
  options: {
    readonly name: string;
    readonly layouts: readonly Layout[];
    /** Other files with the same columns, in any order. */
    readonly others?: readonly Table[] | undefined;
    /** Words of the column of states that stand further down in the files. */
    readonly moreStates?: readonly string[] | undefined;
    /** Whether there are lines above the header. */
    readonly isBelowTitle?: boolean | undefined;
    readonly stated?: StatedRoles | undefined;
    /** What a person has said to mean that an order was paid, folded: words, or `COLUMN=WORD`. */
    readonly paidWords?: ReadonlySet<string> | undefined;
    /** Words that a person has said to mean consent, folded. */
    readonly consentWords?: ReadonlySet<string> | undefined;
    /** Whether a person has checked the layout of this name that adds up rows. */
    readonly isAccepted?: boolean | undefined;
  },
): ProposedLayout | NoLayout {
  const { name, layouts, isBelowTitle = false, paidWords, consentWords = new Set<string>() } = options;
  const { others: otherFiles = [], moreStates = [] } = options;
  const { header, stated, joined, ...first } = joinStatedIds(written, options.stated ?? new Map());
  const rowsOfFiles = [
    first.records,
    ...otherFiles.map(
      (file) => joinStatedIds(reorder(file, written.header), options.stated ?? new Map()).records,
    ),
  ];
  const footers = new Set<string>();
  const totals: CsvRecord[] = [];
  const files = rowsOfFiles.map((rows) => {
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
  const words = statusWordsOf(layouts, paidWords);
  const score = nameScorer(layouts);
  const assigned = assignColumns(columns, { records, words, score, stated });
  const { chosen, unclear, decisions } = assigned;
  for (const word of moreStates) chosen.get('status')?.cells.add(word);
  const [id, total, email] = [chosen.get('order_id'), chosen.get('total'), chosen.get('email')];
  const namesSomebody = NAMES_SOMEBODY.some((field) => chosen.has(field));
  // Customers have notes, and amounts of their own. What has codes beside amounts is a list of orders.
  const mayBeAny = chosen.has('codes') || (namesSomebody && email === undefined);
  const money = total ?? findPayments(columns, { score, mayBeAny });
  const saysOrder = id !== undefined && score(id.header, 'order_id') >= SAYS_ORDER;
  const isTotalStated = [...stated.values()].includes('total');
  const other = money === undefined && !saysOrder ? null : otherReportOf(header, isTotalStated);
  if (other !== null) return refusal('not_orders', `It looks like ${other}`);
  const asked = new Set([
    ...[...chosen.values()].map(({ header }) => header),
    ...unclear.map((one) => one.header),
  ]);
  const twice = columns.find(
    (column) =>
      asked.has(column.header) &&
      columns.some((one) => one !== column && foldHeader(one.header) === foldHeader(column.header)),
  );
  if (twice !== undefined && (money !== undefined || saysOrder || email !== undefined))
    return refusal(
      'ambiguous_header',
      `Two columns are called ${JSON.stringify(twice.header)}, and nothing says which of them counts. Export the file again with one of them, or with two names.`,
    );
  const amounts = (['total', 'subtotal', 'refunded'] as const).flatMap((field) => chosen.get(field) ?? []);
  const others = total === undefined && saysOrder ? columns.filter(({ cells }) => isMoney(cells)) : [];
  const inMinor = [...amounts, ...others].find(({ header }) => isInMinorUnits(header));
  if (inMinor !== undefined)
    return refusal(
      'unclear_columns',
      `The name of the column ${JSON.stringify(inMinor.header)} says that its amounts are in minor units, such as cents, which no layout can read: each would count many times over. Export the amounts as 12.50.`,
    );
  const open = money === undefined && !saysOrder ? null : whatIsMissing(columns, assigned, stated);
  if (open !== null) return open;
  if (id !== undefined && total !== undefined) {
    const misused = rolesOutside(ORDER_ROLES, 'orders', { columns, stated });
    if (misused.length > 0) return whatIsUnclear(misused, 'orders');
    if (!namesSomebody && !unclear.some(({ likely }) => likely === 'codes'))
      return refusal(
        'unknown_header',
        'It looks like orders or payments, but no column has the name and the values of discount codes, links or influencers, so no order could be credited. If one has the codes, name it: --column "NAME=codes".',
      );
    const withSums = (
      found: NoLayout,
      ids: MeasuredColumn,
      naming: NamingRows | null = null,
    ): NoLayout | ProposedLayout => {
      if (found.code !== 'item_rows') return found;
      const own = new Map([...chosen, ['order_id', ids] as const]);
      const rows = { id: ids, total, records: naming?.records ?? records };
      const isBelow = isBelowZeroIn(total);
      const [refunds, sales] = [rows.records.filter(isBelow), rows.records.filter((row) => !isBelow(row))];
      const status = own.get('status');
      const kinds = kindsOfRows(columns, rows, words);
      const addedUp = {
        kinds,
        isSigned: refunds.length > 0 && refunds.every(hasSign(total)) && !sales.some(hasSign(total)),
        item: naming === null ? itemOf(columns, rows) : rowIdOf(columns, { id, records }),
        reference: naming === null ? null : { column: naming.column, own: id },
        hasStates: hasSeveral(status, rows),
        hasItemStates: hasSeveral(status, { ...rows, records: sales }),
        refundStates: status === undefined ? [] : refunds.map(({ cells }) => cells[status.index] ?? ''),
      };
      const stops = [
        ...assigned.stops.filter(({ column }) => column !== naming?.column),
        ...(kinds === null ? [] : [otherKinds(kinds.column)]),
      ];
      const proposed = { ...assigned, stops, chosen: own, joined: null, words, name, isBelowTitle };
      const example = ordersText({ ...proposed, footer: [...footers], hasItems: true, addedUp });
      if (options.isAccepted === true) {
        const [kind, owner] = [kinds?.column.header, naming?.column.header];
        const read = [kind, owner, ...(addedUp.item?.columns ?? [])];
        const open = unclear.filter(({ header }) => !read.includes(header));
        if (open.length > 0) return whatIsUnclear(open, 'orders');
        const own = decided.map((decision): ColumnDecision => {
          if (decision.header === owner)
            return { ...decision, role: 'order_id', why: 'it names the order that a row lowers' };
          if (decision.header === kind)
            return { ...decision, role: 'excludes', why: 'it tells sales from refunds' };
          return decision;
        });
        return { ...asProposed(example, stops), columns: own };
      }
      return { ...found, why: `${found.why} ${saveAs(name)}`, example, hasRefunds: refunds.length > 0 };
    };
    const asProposed = (text: string, stops: readonly StopColumn[]): ProposedLayout => {
      const layout = toLayout(name, layoutSchema.parse(parse(text)));
      const status = layout.columns.status === undefined ? undefined : chosen.get('status');
      const states = [
        ...stops.map((stop) => [stop.column.header, wordsUnknownTo(stop)] as const),
        ...(status === undefined ? [] : [[status.header, unknownStatesOf(status, words)] as const]),
      ];
      const unknownStates = new Map(states.filter(([, unknown]) => unknown.length > 0));
      return { layout, text, columns: decided, assumed: [], unknownStates };
    };
    const decided = decisions.filter(({ header }) => header !== joined?.name).map(asPartOf(joined));
    // The example below depends on what a person says about the quantity.
    if (unclear.some(({ offered = [] }) => offered.includes('quantity')))
      return whatIsUnclear(unclear, 'orders');
    const parts = columns.filter(({ header }) => joined?.columns.includes(header));
    const misjoined = whyMisjoined(parts, { chosen, total, records, words, timeOfDay: assigned.timeOfDay });
    if (misjoined !== null) return withSums(refusal('item_rows', misjoined.why), misjoined.id);
    const naming = findNamingRows(columns, { id, total, records, stated });
    if (naming !== null) return withSums(naming.found, naming.id, naming);
    for (const rows of files) {
      const items = itemRows(columns, { id, total, records: rows, stated });
      if (items !== null) return withSums(items, id);
    }
    if (unclear.length > 0) return whatIsUnclear(unclear, 'orders');
    const proposed = { ...assigned, decisions: decided, joined, words, name, isBelowTitle };
    const hasItems = files.some((rows) => {
      const ids = rows.map(({ cells }) => cleanText(cells[id.index] ?? '')).filter((text) => text !== '');
      return new Set(ids).size < ids.length;
    });
    // A run recognises a sum by its amount, and a number of orders in another column only by its label.
    for (const { cells } of totals) {
      const label = cells.find((cell) => cell.trim() !== '')?.trim() ?? '';
      if ((cells[total.index] ?? '').trim() === '' && /^[^\d@]{3,60}$/.test(label)) footers.add(label);
    }
    return asProposed(ordersText({ ...proposed, footer: [...footers], hasItems }), assigned.stops);
  }
  if (saysOrder) return withoutTotal(columns, id);
  const idName = columns.find(({ header }) => score(header, 'order_id') >= SURE_NAME)?.header ?? 'NAME';
  if (money !== undefined)
    return refusal(
      'unknown_header',
      `It has amounts (column ${JSON.stringify(money.header)}), but no column has the name and the values of ${total === undefined ? 'totals or order ids' : 'order ids'}.${id === undefined ? ` If one has the ids, name it: --column ${inShellQuotes(`${idName}=order_id`)}.` : ''}`,
    );
  if (email !== undefined) {
    const misused = rolesOutside(CUSTOMER_ROLES, 'customers', { columns, stated });
    if (misused.length > 0) return whatIsUnclear(misused, 'customers');
    const others = columns.filter((column) => column !== email && column.header !== '');
    const open = mayBeConsent(others, { stated, consentWords });
    if (open.length > 0) return whatIsUnclear(open, 'customers');
    const proposed = proposeCustomers(columns, { email, name, stated, consentWords });
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
  const addresses = columns.filter(
    ({ header, cells }) => header !== '' && !stated.has(foldHeader(header)) && shape('email', cells) === 1,
  );
  if (addresses.length > 0 && !saysOrder) {
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

function asPartOf(joined: JoinedIds | null) {
  return (decision: ColumnDecision): ColumnDecision =>
    joined?.columns.includes(decision.header) === true ? { ...decision, role: 'order_id' } : decision;
}

function refusal(code: NoLayout['code'], why: string, unclear: readonly UnclearColumn[] = []): NoLayout {
  return { code, why, unclear };
}

/** The columns with a stated role that has no effect for what the file lists, to be asked about again. */
function rolesOutside(
  roles: readonly ColumnRole[],
  what: 'orders' | 'customers',
  { columns, stated }: { columns: readonly MeasuredColumn[]; stated: StatedRoles },
): readonly UnclearColumn[] {
  return columns.flatMap((column): UnclearColumn[] => {
    const role = stated.get(foldHeader(column.header));
    if (role === undefined || roles.includes(role)) return [];
    const why = `the role ${role} has no effect in a file of ${what}`;
    return [{ ...describeColumn(column), why, likely: 'unused', isOfCustomers: what === 'customers' }];
  });
}

function whatIsUnclear(unclear: readonly UnclearColumn[], what: 'orders' | 'customers'): NoLayout {
  const listed = unclear.map(
    ({ header, why, samples }) =>
      `${JSON.stringify(header)}: ${why}${samples.length === 0 ? '' : ` (${samples.join(', ')})`}`,
  );
  const count = unclear.length === 1 ? 'a column' : `${unclear.length} columns`;
  return refusal(
    'unclear_columns',
    `It has ${what}, but ${count} that may change what is ${what === 'orders' ? 'credited' : 'submitted'} cannot be understood. ${listed.join('. ')}.`,
    unclear,
  );
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
  const orders = Map.groupBy(records, ({ cells }) => cleanText(cells[id.index] ?? ''));
  const values = (rows: readonly CsvRecord[], { index }: MeasuredColumn): readonly string[] =>
    rows.map(({ cells }) => cleanText(cells[index] ?? '')).filter((cell) => cell !== '');
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
  for (const [order, rows] of orders) {
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

function saveAs(name: string): string {
  return `If the rows of one id add up to the order's total, check this layout, and run the command again with --save-layout ${name}, which uses and writes it:`;
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
  const cellOf = ({ cells }: CsvRecord, { index }: MeasuredColumn): string => cleanText(cells[index] ?? '');
  // A parent of 0 is none.
  const namedBy = (record: CsvRecord, one: MeasuredColumn): string => cellOf(record, one).replace(/^0+$/, '');
  const formOf = (text: string): string => text.replaceAll(/\d+/g, '0');
  const ids = new Set(records.map((record) => formOf(cellOf(record, id))));
  const isBelow = isBelowZeroIn(total);
  const column = columns.find((one) => {
    if (one === id || one === total || one.header === '' || stated.has(foldHeader(one.header))) return false;
    const filled = records.filter((record) => namedBy(record, one) !== '');
    return (
      filled.length > 0 &&
      filled.every((record) => isBelow(record) && ids.has(formOf(cellOf(record, one)))) &&
      filled.some((record) => cellOf(record, one) !== cellOf(record, id))
    );
  });
  if (column === undefined) return null;
  const owner = (record: CsvRecord): string => namedBy(record, column) || cellOf(record, id);
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
function numbersRows({ index }: MeasuredColumn, { id, records }: Omit<RowsOfOrders, 'total'>): boolean {
  const orders = [...Map.groupBy(records, ({ cells }) => cleanText(cells[id.index] ?? '')).values()];
  return (
    orders.length < records.length &&
    orders.every((rows) => rows.every(({ cells }, at) => cleanText(cells[index] ?? '') === String(at + 1)))
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
      const cells = rows.map((record) => cleanText(record.cells[column.index] ?? ''));
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
function repeated(
  records: readonly CsvRecord[],
  { index }: MeasuredColumn,
): readonly (readonly CsvRecord[])[] {
  const byId = Map.groupBy(records, ({ cells }) => cleanText(cells[index] ?? ''));
  byId.delete('');
  return [...byId.values()].filter(({ length }) => length > 1);
}

type RowsOfOrders = Pick<AssignOptions, 'records'> & Readonly<Record<'id' | 'total', MeasuredColumn>>;

/** True if an id has amounts above and below zero, and each word of the column is only on one side: sales and refunds. */
function tellsRefunds({ index }: MeasuredColumn, { id, total, records }: RowsOfOrders): boolean {
  const isBelow = isBelowZeroIn(total);
  if (!repeated(records, id).some((rows) => new Set(rows.map(isBelow)).size > 1)) return false;
  const sides = Map.groupBy(records, ({ cells }) => cleanText(cells[index] ?? ''));
  return [...sides.values()].every((rows) => new Set(rows.map(isBelow)).size === 1);
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
  const refunds = new Set(
    rows.records.filter(isBelow).map(({ cells }) => cleanText(cells[column.index] ?? '')),
  );
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
  const timeOf = ({ cells }: CsvRecord): string =>
    times.map(({ index }) => cleanText(cells[index] ?? '')).join(' ');
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
