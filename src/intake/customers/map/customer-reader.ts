import type { SourceSettings } from '../../../config/source-fields.ts';
import {
  type Consent,
  type ConsentRule,
  type ConsentStatement,
  type CustomerHash,
  type CustomersSeen,
  type OptionalColumn,
  type OptionalField,
  type PassedOver,
  type StatedCustomer,
  submitsUnknown,
} from '../../../core/customer.ts';
import type { LayoutField } from '../../../core/layout.ts';
import type { CsvRecord, OpenRow, RejectedRow } from '../../../core/record.ts';
import { layoutFor } from '../../layout/layout-for.ts';
import { type Column, type ResolvedHeader, resolveHeader } from '../../layout/resolve-header.ts';
import type { Layout, OtherLayouts } from '../../layout/to-layout.ts';
import { mayBeCut, type ReadColumns, requireWhole } from '../../map/cut-row.ts';
import { type Fault, reject } from '../../map/fault.ts';
import { isBlank } from '../../values/clean-text.ts';
import { currencyParser } from '../../values/parse-currency.ts';
import { parseMoney } from '../../values/parse-money.ts';
import { findAddresses, foldAddress, parseAddress } from './parse-address.ts';
import { type ConsentPlan, planConsent, SAYS } from './plan-consent.ts';
import { requireConsent, requireFormat } from './require-consent.ts';

export type MapCustomersOptions = {
  readonly layout: Layout;
  readonly source: Pick<SourceSettings, 'name' | 'currency' | 'consent'> &
    Partial<Pick<SourceSettings, 'timeZone'>>;
  /** Other layouts, to suggest one if the header fits it better. */
  readonly otherLayouts?: OtherLayouts;
  /** Null: nobody is submitted, so consent does not matter. All customers are returned, and nothing about it. */
  readonly consent: ConsentRule | null;
  /**
   * Age of the file: what it says without a date was said by then. The store says when the file was put there;
   * if it does not, this is the time of reading.
   */
  readonly asOf: Date;
  /** Where the file is: its name may say that its people refused. */
  readonly uri?: string;
  /** Hash of a folded address, for the job's brand. */
  readonly hashOf: (folded: string) => CustomerHash;
  /** True if the customer with this folded address was forgotten on request. Default: no customer was. */
  readonly isForgotten?: (folded: string) => boolean;
};

/** What one row of a file says about the consent of a person. */
export type ConsentTrace = {
  /** Physical line, 1-based. */
  readonly line: number;
  /** `contradicting`: a yes and a no. `unlisted`: the layout does not list the word. Both count as a no. */
  readonly verdict: Consent | 'contradicting' | 'unlisted';
  /** Dates as in `ConsentStatement`. */
  readonly consentedAt: number | null;
  readonly refusedAt: number | null;
  /**
   * True if the text of the file ends in this row, which may be cut: its last cell may be the beginning of another
   * value. If that is the address, the row may be about another person.
   */
  readonly mayBeCut: boolean;
  /** The columns of consent that are not blank: what they contain, and how that is read. */
  readonly cells: readonly { readonly column: string; readonly word: string; readonly says: string }[];
};

/** Finds the columns of a file, and checks that it may be read for its customers. */
export function openReader(header: readonly string[], options: MapCustomersOptions): CustomerReader {
  const layout = layoutFor(options.layout, 'customers');
  if (layout === null) throw new Error(`the layout ${options.layout.name} has no column email`);
  const otherLayouts: OtherLayouts = () =>
    (options.otherLayouts?.() ?? []).flatMap((other) => layoutFor(other, 'customers') ?? []);
  const resolved = resolveHeader(header, layout, otherLayouts);
  requireFormat(header, options.layout);
  requireConsent(header, resolved, { ...options, layout, otherLayouts, rule: options.consent });
  const plan = planCustomers(layout, resolved, { ...options, names: header });
  return customerReader(layout, plan, { ...options, width: header.length });
}

/** A customer, why nothing is recorded about the one of the row, or why the row cannot be used. */
type Read =
  | StatedCustomer
  | PassedOver
  | { readonly row: RejectedRow; readonly doubtful: readonly StatedCustomer[] };

export type CustomerReader = {
  readonly read: (record: CsvRecord) => Read;
  readonly seen: () => CustomersSeen;
  /** @throws FileHeld `may_be_cut`. @param open the last row, if the text of the file ends within it. */
  readonly requireWhole: (open: OpenRow | null) => void;
  /** @returns null if the row is not of this person, and cannot be cut from one of them. */
  readonly trace: (record: CsvRecord, folded: string, open: OpenRow | null) => ConsentTrace | null;
};

function customerReader(
  { name, money, endsWithoutLineBreak }: Layout,
  plan: CustomerPlan,
  {
    consent: rule,
    hashOf,
    isForgotten = () => false,
    source,
    width,
  }: MapCustomersOptions & { readonly width: number },
): CustomerReader {
  const toCurrency = currencyParser(source.currency);
  const columns = plan.consent.columns.map((column) => column.name);
  const said = { yes: 0, no: 0, blank: 0 };
  const toSpent = counted('spent', plan.spent, (text) => textOrNull(parseMoney(text, money)));
  const toCount = counted('orders_count', plan.ordersCount, countOf);
  const toSpentIn = counted('currency', plan.currency, (text) => textOrNull(toCurrency(text)));
  const currencyOfSource = textOrNull(toCurrency(''));
  const takesUnknown = rule !== null && submitsUnknown(rule, source);

  function read(record: CsvRecord): Read {
    const { cells } = record;
    if (plan.marks.length > 0 && firstFilled(cells, plan.marks) === null) return 'no_address';
    const emailColumn = firstFilled(cells, plan.email);
    const cell = emailColumn === null ? '' : (cells[emailColumn.index] ?? '');
    const address = parseAddress(cell);
    if (typeof address !== 'string')
      return { row: rejectCell(record, address, emailColumn), doubtful: refusedBy(record, cell) };
    if (address === '') return 'no_address';
    const folded = foldAddress(address);
    if (isForgotten(folded)) return 'forgotten';
    if (rule === null) return describe(record, address, folded, NOTHING_SAID);
    const says = plan.consent.read(cells);
    const isRefused = (says & SAYS.no) !== 0;
    if (!isRefused && says >= SAYS.unlisted) {
      const doubtful = describe(record, address, folded, plan.consent.state(cells, says));
      const column = plan.consent.cells(cells).find((cell) => cell.says >= SAYS.unlisted)?.column ?? null;
      return { row: rejectCell(record, unknownConsent(name), column), doubtful: [doubtful] };
    }
    const saysYes = (says & SAYS.yes) !== 0;
    said[isRefused ? 'no' : saysYes ? 'yes' : 'blank'] += 1;
    if (!isRefused && !saysYes && !takesUnknown) return 'unknown';
    return describe(record, address, folded, plan.consent.state(cells, says));
  }

  /** The people whom an unusable cell names, if its row says no: their no must not be lost with the row. */
  function refusedBy(record: CsvRecord, cell: string): readonly StatedCustomer[] {
    const says = plan.consent.read(record.cells);
    if (rule === null || !mayRefuse(says)) return [];
    const state = plan.consent.state(record.cells, says);
    return findAddresses(cell).flatMap((address) => {
      const folded = foldAddress(address);
      return isForgotten(folded) ? [] : describe(record, address, folded, state);
    });
  }

  function describe(
    record: CsvRecord,
    address: string,
    folded: string,
    said: ConsentStatement,
  ): StatedCustomer {
    const spent = toSpent.read(record);
    const currency = toSpentIn.read(record, currencyOfSource);
    return {
      address,
      hash: hashOf(folded),
      saidYes: said.saidYes,
      consentedAt: said.consentedAt,
      refusedAt: said.refusedAt,
      ordersCount: toCount.read(record),
      spent,
      currency: spent === null ? null : currency,
      boughtWithCode: plan.codes.length === 0 ? null : firstFilled(record.cells, plan.codes) !== null,
    };
  }

  function trace(
    { cells, line, record }: CsvRecord,
    folded: string,
    open: OpenRow | null,
  ): ConsentTrace | null {
    if (plan.marks.length > 0 && firstFilled(cells, plan.marks) === null) return null;
    const emailColumn = firstFilled(cells, plan.email);
    const cell = emailColumn === null ? '' : (cells[emailColumn.index] ?? '');
    const isCut = !endsWithoutLineBreak && open?.record === record && mayBeCut(open, width, columnsOf(plan));
    const says = plan.consent.read(cells);
    if (isCut && emailColumn?.index === open.lastAt) {
      if (isBlank(cell) || !folded.startsWith(foldAddress(cell.trim()))) return null;
    } else {
      const address = parseAddress(cell);
      const refused = mayRefuse(says) ? findAddresses(cell) : [];
      const addresses = typeof address === 'string' ? [address] : refused;
      if (!addresses.some((one) => foldAddress(one) === folded)) return null;
    }
    const { consentedAt, refusedAt } = plan.consent.state(cells, says);
    const columns = plan.consent
      .cells(cells)
      .map((cell) => ({
        column: cell.column.name,
        word: cells[cell.column.index] ?? '',
        says: wordsOf(cell.says),
      }));
    return {
      line,
      verdict: verdictOf(says),
      consentedAt,
      refusedAt,
      mayBeCut: isCut,
      cells: columns.filter(({ word }) => !isBlank(word)),
    };
  }

  return {
    read,
    trace,
    requireWhole: (open) => {
      if (!endsWithoutLineBreak) requireWhole(open, { width, columns: columnsOf(plan) });
    },
    seen: () => ({
      consent: { columns, ...said },
      optional: [toCount, toSpent, toSpentIn].flatMap((column) => column.seen()),
    }),
  };
}

/** True if the words of a row say no, or may say it. */
function mayRefuse(says: number): boolean {
  return (says & SAYS.no) !== 0 || says >= SAYS.unlisted;
}

function verdictOf(says: number): ConsentTrace['verdict'] {
  if ((says & SAYS.no) !== 0) return (says & SAYS.yes) === 0 ? 'no' : 'contradicting';
  if ((says & SAYS.unlisted) !== 0) return 'unlisted';
  return (says & SAYS.yes) === 0 ? 'unknown' : 'yes';
}

function wordsOf(says: number): string {
  const names = Object.entries(SAYS).filter(([, bit]) => (says & bit) !== 0);
  return names.map(([name]) => name).join(', ') || 'nothing';
}

function unknownConsent(layout: string): Fault {
  return {
    code: 'unknown_consent',
    reason: `The layout ${layout} does not list this value as consent, refusal or neither.`,
    help: 'Correct the cell, or list the value under consent.given, consent.refused or consent.neither of the layout. Until then it counts as a no: the customer is not submitted, whatever other rows and files say, unless one has a yes with a later date.',
  };
}

function firstFilled(cells: readonly string[], columns: readonly Column[]): Column | null {
  for (const column of columns) if (!isBlank(cells[column.index] ?? '')) return column;
  return null;
}

/**
 * Creates a reader for a column that only look-ups need. A value that cannot be read counts as missing and
 * does not reject its row. Such values are counted for each column, because many of them indicate a wrong
 * column or another format, and hold the file.
 */
function counted<Value>(
  holds: OptionalField,
  columns: readonly Column[],
  parse: (text: string) => Value | null,
) {
  const counts = columns.map(({ name: column, index }) => ({
    index,
    cells: { column, holds, filled: 0, unreadable: 0, firstUnreadableLine: null as number | null },
  }));
  return {
    read({ cells: row, line }: CsvRecord, ifBlank: Value | null = null): Value | null {
      for (const { index, cells } of counts) {
        const text = row[index] ?? '';
        if (isBlank(text)) continue;
        const value = parse(text);
        cells.filled += 1;
        if (value !== null) return value;
        cells.unreadable += 1;
        cells.firstUnreadableLine ??= line;
        return null;
      }
      return ifBlank;
    },
    seen: (): readonly OptionalColumn[] => counts.map(({ cells }) => ({ ...cells })),
  };
}

function textOrNull(read: string | Fault): string | null {
  return typeof read === 'string' ? read : null;
}

/** Allows a leading apostrophe from a spreadsheet. A number with more digits is not a count of orders. */
const COUNT = /^\s*'?(\d{1,8})\s*$/;

function countOf(text: string): number | null {
  const [, digits] = COUNT.exec(text) ?? [];
  return digits === undefined ? null : Number(digits);
}

function rejectCell(record: CsvRecord, fault: Fault, column: Column | null): RejectedRow {
  const { line, cells } = record;
  const value = column === null ? null : (cells[column.index] ?? '');
  return reject({ line, record: record.record, count: 1 }, fault, {
    column: column?.name ?? null,
    value: value === null ? null : hideLetters(value),
  });
}

/**
 * Hides most of a value that is not an address. It may still identify a person (`jane@example`, `jane at
 * example.com`, a name), so only the first letter and the punctuation stay, which is enough to see the fault.
 */
function hideLetters(value: string): string {
  let seen = 0;
  return value.slice(0, MAX_SHOWN_CHARS).replace(/[\p{L}\p{M}\p{N}]/gu, (letter) => {
    seen += 1;
    return seen === 1 ? letter : '*';
  });
}
const MAX_SHOWN_CHARS = 80;

const NOTHING_SAID: ConsentStatement = { saidYes: false, consentedAt: null, refusedAt: null };

/** The columns that are read for customers. All other columns are ignored. */
type CustomerPlan = {
  /** In order of preference: the first column that is not blank counts. */
  readonly email: readonly Column[];
  readonly ordersCount: readonly Column[];
  readonly spent: readonly Column[];
  readonly currency: readonly Column[];
  readonly codes: readonly Column[];
  /**
   * If rows are line items: columns that only an order's first row fills. Later rows may repeat the address
   * but not the consent.
   */
  readonly marks: readonly Column[];
  readonly consent: ConsentPlan;
};

/** Selects the columns of a file that are read for its customers. */
function planCustomers(
  layout: Layout,
  header: ResolvedHeader,
  { layout: whole, source, names, asOf }: MapCustomersOptions & { readonly names: readonly string[] },
): CustomerPlan {
  const field = (name: LayoutField): readonly Column[] => header.fields[name];
  return {
    email: field('email'),
    ordersCount: field('orders_count'),
    spent: field('spent'),
    currency: field('currency'),
    codes: field('codes'),
    marks: layout.grouping.lineItems ? [...field('status'), ...field('total')] : [],
    consent: planConsent(header, {
      layout,
      source,
      names,
      asOfMs: asOf.getTime(),
      isOfCustomers: !whole.required.includes('order_id'),
    }),
  };
}

/** The columns that may not be cut. */
function columnsOf({ consent, ...fields }: CustomerPlan): ReadColumns {
  const has = (columns: readonly Column[], at: number) => columns.some(({ index }) => index === at);
  return {
    isRead: (at) => consent.isRead(at) || Object.values(fields).some((columns) => has(columns, at)),
    isCurrency: (at) => has(fields.currency, at),
  };
}
