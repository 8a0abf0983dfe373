import type { SourceSettings } from '../../model/config.ts';
import type { ConsentRule } from '../../model/customer.ts';
import { FileHeld } from '../../model/file-held.ts';
import type { CellTest, Layout, OtherLayouts } from '../../model/layout.ts';
import { foldHeader } from '../../model/text/fold.ts';
import { toNfkc } from '../../model/text/normal-form.ts';
import { bestFit, type Column, provenBy, quoteAll, type ResolvedHeader } from '../layout/resolve-header.ts';
import { cellTest } from '../layout/test-cell.ts';
import { isBlank } from '../values/clean-text.ts';
import { remember } from '../values/remember.ts';

/** What a row says about consent, as bits, because several columns may each say something. */
export const SAYS = { yes: 1, no: 2, unsubscribed: 4, neither: 8, unknown: 16 } as const;

/** The consent columns of one file, and how they are read. */
export type ConsentPlan = {
  /** Columns of the file with information about consent. Empty if the file does not record it. */
  readonly columns: readonly Column[];
  /** Reads a row. @returns a combination of `SAYS`; 0 if every column is blank. */
  readonly read: (cells: readonly string[]) => number;
  /** Returns the column whose value the layout does not list, for a row that says `unknown`. */
  readonly unknownIn: (cells: readonly string[]) => Column | null;
};

/** Finds the consent columns in a header, and assigns the layout's tests to each. */
export function planConsent(layout: Layout, header: ResolvedHeader): ConsentPlan {
  const { consent, unsubscribed } = layout;
  const columnsOf = (names: readonly string[]): readonly Column[] =>
    names.flatMap((name) => header.find([name]) ?? []);
  const declared = columnsOf(consent.columns);
  const rules = [
    ...consent.given.map((test) => ({ test, says: SAYS.yes })),
    ...consent.refused.map((test) => ({ test, says: SAYS.no })),
    ...unsubscribed.map((test) => ({ test, says: SAYS.unsubscribed })),
    ...consent.neither.map((test) => ({ test, says: SAYS.neither })),
  ].map(({ test, says }) => ({ test, says, columns: columnsOf(test.columns) }));
  const byIndex = new Map<number, Column>();
  for (const column of [...declared, ...rules.flatMap(({ columns }) => columns)])
    byIndex.set(column.index, byIndex.get(column.index) ?? column);
  const columns = [...byIndex.values()];
  const readers = columns.map((column) => {
    const isDeclared = declared.some(({ index }) => index === column.index);
    const own = rules.filter((rule) => rule.columns.some(({ index }) => index === column.index));
    return { column, says: cellReader(own, isDeclared) };
  });
  return {
    columns,
    read(cells) {
      let sum = 0;
      for (const { column, says } of readers) {
        const cell = cells[column.index] ?? '';
        if (cell !== '') sum |= says(cell);
      }
      return sum;
    },
    unknownIn: (cells) =>
      readers.find(({ column, says }) => (says(cells[column.index] ?? '') & SAYS.unknown) !== 0)?.column ??
      null,
  };
}

/**
 * Creates the reader of one cell. Times of consent differ from row to row, so results are cached only for
 * words.
 */
function cellReader(
  rules: readonly { readonly test: CellTest; readonly says: number }[],
  isDeclared: boolean,
): (cell: string) => number {
  const tests = rules.map(({ test, says }) => ({ says, passes: cellTest(test) }));
  const read = (cell: string): number => {
    let sum = 0;
    for (const { says, passes } of tests) if (passes(cell)) sum |= says;
    return sum === 0 && isDeclared && !isBlank(cell) ? SAYS.unknown : sum;
  };
  return rules.every(({ test }) => test.notBlank) ? read : remember(read);
}

export type RequireConsentOptions = {
  readonly layout: Layout;
  /** Layouts that are searched for a consent column if this layout's are missing. */
  readonly otherLayouts: OtherLayouts;
  readonly source: Pick<SourceSettings, 'name' | 'consent'>;
  readonly rule: ConsentRule;
};

/**
 * Refuses a file that is not proven to be the layout's export of customers. Exports of orders are recognised
 * by their required columns, but a single column of addresses occurs in nearly every export.
 *
 * @throws FileHeld `header_mismatch`.
 */
export function requireFormat(names: readonly string[], layout: Layout): void {
  const isOfCustomers = !layout.required.includes('order_id');
  if (!isOfCustomers || layout.signature.length === 0 || provenBy(layout, names) > 0) return;
  const signs = [...new Set(layout.signature.map((set) => set.join('" with "')))];
  throw new FileHeld({
    code: 'header_mismatch',
    message: `The file has none of the columns that identify ${layout.title}: ${quoteAll(signs)}.`,
    help: `Export the file with one of these columns, or set the layout of its format on the source. For your own export, use generic-customers or a layout without signature. Nobody in the file is submitted.`,
  });
}

/**
 * Refuses a file that does not show who has consented. If it were read, customers who refused would look like
 * customers who were never asked.
 *
 * @param names the header as written.
 * @throws FileHeld `consent_column_missing`, `consent_column_unread`.
 */
export function requireConsent(
  names: readonly string[],
  header: ResolvedHeader,
  { layout, otherLayouts, source, rule }: RequireConsentOptions,
): void {
  if (rule === 'ignored') return;
  const wanted = layout.consent.columns;
  if (header.find(wanted) !== null) return;
  const others = otherLayouts();
  const isOfOtherThings = namesOfFields([layout, ...others]);
  const readers = others.filter((other) => {
    const column = header.find(other.consent.columns);
    if (column === null) return false;
    // Shops also use Status for the state of an order. It means consent only in a file that is proven to be
    // an export of that layout.
    return provenBy(other, names) > 0 || !isOfOtherThings.has(foldHeader(column.name));
  });
  const reader = bestFit(names, layout, readers) ?? readers[0];
  const unread = header.find(reader?.consent.columns ?? []);
  // The file records consent, even if the source says that it does not.
  if (reader !== undefined && unread !== null) {
    throw new FileHeld({
      code: 'consent_column_unread',
      message: `The file has a column ${quoteAll([unread.name])}, in which the layout ${reader.name} reads consent. The layout ${layout.name} does not read it.`,
      help: `Set layout: ${reader.name} under sources.${source.name} if it is such an export. Otherwise add the column to consent.columns of your layout. Nobody in the file is submitted.`,
    });
  }
  if (source.consent === 'not_recorded') return;
  const near = names.filter((name) => LIKE_CONSENT.test(toNfkc(name))).slice(0, MAX_NEAR);
  const missing =
    wanted.length === 0
      ? `The layout ${layout.name} does not say which column holds consent, so nobody can tell who in this file has refused.`
      : `The file has no column of consent: the layout ${layout.name} looks for ${quoteAll(wanted)}.`;
  throw new FileHeld({
    code: 'consent_column_missing',
    message: `${missing}${near.length === 0 ? '' : ` The file has ${quoteAll(near)}.`}`,
    help: `Export the file with that column, or add its own column to consent.columns of the layout. If this export does not record consent, set consent: not_recorded under sources.${source.name}. Nobody in the file is submitted.`,
  });
}

/** Returns the headers that layouts read as fields of an order, a customer or a creator. */
function namesOfFields(layouts: readonly Layout[]): ReadonlySet<string> {
  return new Set(layouts.flatMap(({ columns }) => Object.values(columns).flat().map(foldHeader)));
}

/** Headers that may contain consent. Used only for messages. */
const LIKE_CONSENT = /consent|opt.?(?:in|out)|subscri|marketing|blacklist|newsletter/iu;
const MAX_NEAR = 5;
