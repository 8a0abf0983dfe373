import { FileHeld } from '../../core/held/file-held.ts';
import { LAYOUT_FIELDS, type LayoutField } from '../../core/layout.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { plural } from '../../core/text/plural.ts';
import { parseId } from '../values/parse-id.ts';
import { cellTest } from './test-cell.ts';
import type { Layout, OtherLayouts } from './to-layout.ts';

/** The index of a column, and its header as written. */
export type Column = { readonly index: number; readonly name: string };

/** The columns of a file by their meaning. */
export type ResolvedHeader = {
  /** Columns of each field in order of preference. Empty if the file has none. */
  readonly fields: Readonly<Record<LayoutField, readonly Column[]>>;
  /** Finds a column by the spellings of its header. Returns null if the file has none. */
  readonly find: (spellings: readonly string[]) => Column | null;
  /** Finds the columns of all spellings that the file has: what excludes a row may stand in any of them. */
  readonly findAll: (spellings: readonly string[]) => readonly Column[];
  /** Columns that may identify the rows of an order, and the order, in order of preference. */
  readonly ids: { readonly group: readonly Column[]; readonly orderId: readonly Column[] };
  /** Headers that the layout does not name. */
  readonly unread: readonly string[];
  /** Adds the layout's conditional columns to the cells of a row. Null if the file has none of them. */
  readonly extend: ((cells: readonly string[]) => readonly string[]) | null;
};

const MAX_SHOWN_CHARS = 40;

/**
 * Finds a layout's columns in the header of a file. Case, blanks, quotes and invisible characters are
 * ignored.
 *
 * @param others layouts that may fit better, to suggest one.
 * @throws FileHeld `header_mismatch`, `ambiguous_header`.
 */
export function resolveHeader(
  written: readonly string[],
  layout: Layout,
  others: OtherLayouts = () => [],
): ResolvedHeader {
  const { names: header, extend } = extendHeader(written, layout);
  const places = Map.groupBy(header.keys(), (index) => foldHeader(header[index] ?? ''));
  const lacks = (field: LayoutField): boolean =>
    !spellingsOf(layout, field).some((name) => places.has(foldHeader(name)));
  const missing = [
    ...layout.required.filter(lacks).map((field) => [field]),
    ...layout.requiredAny.filter((fields) => fields.every(lacks)),
  ];
  const isUnproven = layout.signature.length > 0 && provenBy(layout, header) === 0;
  if (missing.length > 0 || isUnproven) {
    const loaded = others();
    const fitting = bestFit(header, layout, loaded);
    if (missing.length > 0) throw mismatch(header, { layout, others: loaded, missing, fitting });
    if (fitting !== null)
      throw new FileHeld({
        code: 'header_mismatch',
        message: `The header belongs to ${fitting.title}, not to ${layout.title}, which the layout ${layout.name} reads.`,
        help: `It fits the layout ${fitting.name}: set that layout on the source, or move the file elsewhere. If this export is correct, copy ${layout.name}.yaml into layouts/ beside pipeline.yaml and remove signature from the copy.`,
      });
  }
  const duplicated = new Set<string>();
  const findAll = (spellings: readonly string[]): Column[] =>
    [...new Set(spellings.map(foldHeader))].flatMap((name) => {
      const [index, second] = places.get(name) ?? [];
      if (index === undefined) return [];
      const column = { index, name: (header[index] ?? '').trim() };
      if (second !== undefined) duplicated.add(column.name);
      return [column];
    });
  const find = (spellings: readonly string[]): Column | null => findAll(spellings)[0] ?? null;
  const idsOf = (field: LayoutField): readonly Column[] => findAll(layout.columns[field] ?? []);
  const fields = Object.fromEntries(
    LAYOUT_FIELDS.map((field) => {
      const found = findAll(layout.columns[field] ?? []);
      // The identity must not change from row to row, so only one column of the file is used.
      return [field, field === 'order_id' || field === 'group' ? found.slice(0, 1) : found];
    }),
  ) as Record<LayoutField, Column[]>;
  findAll(listSpellings(layout));
  if (duplicated.size > 0)
    throw new FileHeld({
      code: 'ambiguous_header',
      message: `The header has more than one column ${[...duplicated].map((name) => `"${name}"`).join(', ')}, so it is unclear which one counts.`,
      help: 'Rename or remove the wrong one, or export the file again.',
    });
  const read = new Set(listSpellings(layout).map(foldHeader));
  const unread = header.filter((name) => !read.has(foldHeader(name)));
  return {
    fields,
    find,
    findAll,
    extend,
    ids: { group: idsOf('group'), orderId: idsOf('order_id') },
    unread,
  };
}

/** Returns every header that a layout refers to: for fields, sums and tests. */
export function listSpellings(layout: Layout): readonly string[] {
  const sums = Object.values(layout.grouping.sum).flatMap(({ plus, minus, times = [] }) => [
    ...plus,
    ...minus,
    ...times,
  ]);
  const { sku, plus, minus, times } = layout.lines ?? { sku: [], plus: [], minus: [], times: [] };
  const tests = [
    ...layout.conditionalColumns.map(({ when }) => when),
    ...layout.exclusions,
    ...layout.grouping.addsNothing,
    ...layout.consent.given,
    ...layout.consent.refused,
    ...layout.consent.neither,
    ...layout.unsubscribed,
  ];
  return [
    ...Object.values(layout.columns).flat(),
    ...sums,
    ...[sku, plus, minus, times, layout.grouping.item].flat(),
    ...tests.flatMap(({ columns }) => columns),
    ...layout.timeOfDay,
    ...layout.times.zoneColumn,
    ...layout.consent.columns,
    ...layout.consent.givenAt,
    ...layout.consent.refusedAt,
    ...[...layout.conditionalColumns, ...layout.joinedColumns].flatMap(({ columns }) => columns),
    ...(layout.refundList?.columns ?? []),
    ...layout.refundedOf,
    ...layout.leftAfterRefund.flatMap(({ before, after }) => [...before, ...after]),
  ];
}

/** The spellings of the columns that a layout reads for a field, or adds up for it. */
export function spellingsOf(layout: Layout, field: LayoutField): readonly string[] {
  const sums: Readonly<Record<string, { readonly plus: readonly string[] } | undefined>> =
    layout.grouping.sum;
  return [...(layout.columns[field] ?? []), ...(sums[field]?.plus ?? [])];
}

type Mismatch = {
  readonly layout: Layout;
  readonly others: readonly Layout[];
  /** Missing fields. If a list has several, any one of them would be sufficient. */
  readonly missing: readonly (readonly LayoutField[])[];
  readonly fitting: Layout | null;
};

function mismatch(header: readonly string[], { layout, others, missing, fitting }: Mismatch): FileHeld {
  const known = new Set(LAYOUT_FIELDS.flatMap((field) => spellingsOf(layout, field)).map(foldHeader));
  const found = header.filter((name) => known.has(foldHeader(name)));
  const lacking = missing.map((fields) => {
    const wanted = fields.map((field) => `"${spellingsOf(layout, field)[0] ?? field}"`).join(' or ');
    const there = fields.flatMap((field) =>
      alternatives(header, { layout, others, field, hasKnown: found.length > 0 }),
    );
    return there.length === 0 ? wanted : `${wanted} (there is ${quoteAll([...new Set(there)])})`;
  });
  const what = found.length === 0 ? 'none of the wanted columns' : quoteAll(found);
  return new FileHeld({
    code: 'header_mismatch',
    message: `The header does not fit the layout ${layout.name}: it lacks ${lacking.join(', ')}. Among its ${plural(header.length, 'column')} it has ${what}.`,
    help: helpFor(header, fitting?.name ?? null, found.length),
  });
}

function helpFor(header: readonly string[], fitting: string | null, foundCount: number): string {
  if (fitting !== null)
    return `It fits the layout ${fitting}: set that layout on the source, or move the file elsewhere.`;
  if (header.some((name) => name.includes('\u0000'))) {
    return "There are NUL bytes between the letters, as in UTF-16: set the source's encoding to utf-16le.";
  }
  const filled = header.filter((name) => name.trim() !== '').length;
  if (header.length > 1 && foundCount === 0 && filled * 2 <= header.length)
    return 'Most cells of the first row are blank, as above a header. If there are lines above it, `preamble_lines: search` finds it.';
  if (header.length === 1)
    return 'There is only one column. Either the layout has another delimiter, or there are lines above the header: `preamble_lines: search` finds it.';
  if (foundCount === 0)
    return 'Check that the first row is the header (preamble_lines of the layout), and that this is the right kind of file.';
  return "Export the file with these columns, or add its spellings to the layout's columns.";
}

/**
 * A layout without a signature is suggested only if it requires at least this many columns. A single column
 * such as Email proves nothing.
 */
const MIN_COLUMNS_WITHOUT_SIGNATURE = 3;

/**
 * Finds the other layout that a header fits best: the one with the largest signature, or else one without a
 * signature.
 */
export function bestFit(header: readonly string[], layout: Layout, others: readonly Layout[]): Layout | null {
  let best: Layout | null = null;
  let most = 0;
  for (const other of others) {
    if (other.name === layout.name || !fits(other, header)) continue;
    const proof = other.signature.length === 0 ? 0.5 : provenBy(other, header);
    if (proof > most) best = other;
    most = Math.max(most, proof);
  }
  return best;
}

/**
 * Returns the number of columns in the layout's largest signature that a header contains completely; 0 if
 * there is none.
 */
export function provenBy({ signature }: Layout, header: readonly string[]): number {
  const names = new Set(header.map(foldHeader));
  const whole = signature.filter((columns) => columns.every((name) => names.has(foldHeader(name))));
  return Math.max(0, ...whole.map((columns) => columns.length));
}

function fits(layout: Layout, header: readonly string[]): boolean {
  if (layout.signature.length > 0 && provenBy(layout, header) === 0) return false;
  if (layout.signature.length === 0 && layout.required.length < MIN_COLUMNS_WITHOUT_SIGNATURE) return false;
  const names = new Set(header.map(foldHeader));
  const has = (field: LayoutField): boolean =>
    spellingsOf(layout, field).some((name) => names.has(foldHeader(name)));
  return layout.required.every(has) && layout.requiredAny.every((fields) => fields.some(has));
}

/**
 * Finds columns that a header has instead of a missing one: a similar spelling, or a column that another
 * layout reads for the same field.
 *
 * @param options.hasKnown false if the header has no known column. It may then not be a header, so its cells
 * are not shown.
 */
function alternatives(
  header: readonly string[],
  options: {
    readonly layout: Layout;
    readonly others: readonly Layout[];
    readonly field: LayoutField;
    readonly hasKnown: boolean;
  },
): readonly string[] {
  const { layout, others, field, hasKnown } = options;
  const taken = new Set(LAYOUT_FIELDS.flatMap((one) => spellingsOf(layout, one)).map(foldHeader));
  const elsewhere = new Set(others.flatMap((other) => spellingsOf(other, field)).map(foldHeader));
  const near = hasKnown ? spellingsOf(layout, field).map((name) => nearest(name, header)) : [];
  const same = header.filter((name) => elsewhere.has(foldHeader(name)) && !taken.has(foldHeader(name)));
  return [...new Set([...near.filter((name) => name !== null), ...same].map((name) => name.trim()))].slice(
    0,
    MAX_ALTERNATIVES,
  );
}
const MAX_ALTERNATIVES = 3;

/** Quotes a few names for a message. */
export function quoteAll(names: readonly string[]): string {
  // If the header row is missing, a name may be a cell of a row.
  return names.map((name) => `"${maskAddresses(name.trim().slice(0, MAX_SHOWN_CHARS))}"`).join(', ');
}

/** Finds a header that differs by a letter, or only in the characters between letters. */
function nearest(wanted: string, header: readonly string[]): string | null {
  const letters = (name: string): string => foldHeader(name).replace(/[^\p{L}\p{N}]/gu, '');
  const target = letters(wanted);
  const near = header.find((name) => {
    const other = letters(name);
    if (other === '') return false;
    return (
      other === target || (target.length > 3 && (other.includes(target) || isOneEditAway(target, other)))
    );
  });
  return near ?? null;
}

/** True if two words differ by at most one inserted, removed or replaced letter. */
function isOneEditAway(one: string, other: string): boolean {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < Math.min(one.length, other.length) - start && one.at(-1 - end) === other.at(-1 - end))
    end += 1;
  return Math.max(one.length, other.length) - start - end <= 1;
}

/** A header with the columns that a layout derives, and the function that adds them to rows. */
type ExtendedHeader = {
  readonly names: readonly string[];
  /** Null if rows stay unchanged. */
  readonly extend: ((cells: readonly string[]) => readonly string[]) | null;
};

type Made = { readonly name: string; readonly cellOf: (cells: readonly string[]) => string };

/**
 * Adds the conditional and joined columns whose original columns exist in the file. They are placed after the last
 * column of the file, so that the other parts of a layout find them by name like any column. If there are
 * none, rows stay unchanged.
 */
function extendHeader(
  header: readonly string[],
  { conditionalColumns, joinedColumns }: Layout,
): ExtendedHeader {
  const places = new Map(header.map((name, index) => [foldHeader(name), index] as const).reverse());
  const find = (spellings: readonly string[]): number | null =>
    spellings.map((name) => places.get(foldHeader(name))).find((at) => at !== undefined) ?? null;
  const made: Made[] = [];
  // A column that is added may use those that were added before it.
  const add = (one: Made): void => {
    if (places.has(foldHeader(one.name)))
      throw new FileHeld({
        code: 'ambiguous_header',
        message: `The file has a column "${one.name}", and the layout adds one of the same name under conditional_columns or joined_columns.`,
        help: 'Give the column that the layout adds another name.',
      });
    places.set(foldHeader(one.name), header.length + made.length);
    made.push(one);
  };
  for (const { name, columns: spellings, when } of conditionalColumns) {
    const from = spellings.flatMap((spelling) => places.get(foldHeader(spelling)) ?? []);
    const testAt = find(when.columns);
    if (from.length === 0 || testAt === null) continue;
    const test = cellTest(when);
    const firstOf = (cells: readonly string[]): string => {
      const at = from.find((one) => (cells[one] ?? '').trim() !== '');
      return at === undefined ? '' : (cells[at] ?? '');
    };
    add({ name, cellOf: (cells) => (test(cells[testAt] ?? '') ? firstOf(cells) : '') });
  }
  for (const { name, columns } of joinedColumns) {
    const from = columns.flatMap((column) => find([column]) ?? []);
    if (from.length === columns.length)
      add({ name, cellOf: (cells) => joinIds(from.map((at) => cells[at] ?? '')) });
  }
  if (made.length === 0) return { names: header, extend: null };
  return { names: [...header, ...made.map(({ name }) => name)], extend: extender(header.length, made) };
}

function extender(width: number, made: readonly Made[]): (cells: readonly string[]) => readonly string[] {
  return (cells) => {
    const extended = cells.slice(0, width);
    while (extended.length < width) extended.push('');
    for (const { cellOf } of made) extended.push(cellOf(extended));
    return extended;
  };
}

/** Joins parts of an id so that no other parts give the same. Blank if one is no id. */
export function joinIds(parts: readonly string[]): string {
  const ids = parts.map(parseId).flatMap((id) => (typeof id === 'string' ? id : []));
  const isWhole = ids.length === parts.length && ids.slice(0, -1).every((id) => !id.includes(':'));
  return isWhole ? ids.join(':') : '';
}
