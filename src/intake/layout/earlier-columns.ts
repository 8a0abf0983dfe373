import type { SourceSettings } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import type { LayoutField, ReadFor } from '../../core/layout.ts';
import { fileName } from '../../core/text/file-name.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { LOWERING_MEANINGS, means } from './column-words.ts';
import { layoutFor } from './layout-for.ts';
import { loweringColumns, reasonIn, shownHeader, writtenColumns } from './lowering-columns.ts';
import { listSpellings } from './resolve-header.ts';
import type { Layout } from './to-layout.ts';

/*
 * What a newer file states about an order replaces what older ones state. If it lacks a column that they have, it
 * states nothing of what the column says: a refund, a test or a code would be forgotten. And it is not known what a
 * column means that no file had before. So the columns of a file are compared with those of the earlier files of its
 * source, whatever its layout allows to be missing.
 */

/** A file of the same source that was read before. */
export type EarlierFile = { readonly uri: string; readonly header: readonly string[] };

export type EarlierColumnsOptions = {
  readonly layout: Layout;
  readonly source: Partial<Pick<SourceSettings, 'missingColumns'>>;
  readonly readFor: ReadFor;
  /** One file for each header that the source has had, without files that are newer than this one. */
  readonly earlier: readonly EarlierFile[];
};

/** Fields of an order that decide whether it counts, for whom, and for how much. */
const DECIDING: readonly LayoutField[] = [
  'status',
  'total',
  'subtotal',
  'refunded',
  'currency',
  'placed_at',
  'paid_at',
  'cancelled_at',
  'codes',
  'links',
  'notes',
  'influencer_handle',
  'deal_id',
  'collab_id',
  'brand_id',
];

/** Lists the columns of a layout that decide about an order, or about the consent of a person: the spellings of each. */
export function decidingColumns(layout: Layout, readFor: ReadFor): readonly (readonly string[])[] {
  const reduced = layoutFor(layout, readFor);
  if (reduced === null || readFor === 'clicks' || readFor === 'creators') return [];
  const { columns, consent, unsubscribed, grouping, timeOfDay, times } = reduced;
  if (readFor === 'customers') {
    const refusing = [...consent.refused, ...unsubscribed].map((one) => one.columns);
    if (layout.signature.length === 0) return [consent.columns, consent.refusedAt, ...refusing];
    // Tools export members who agreed and members who refused as files with other columns, as their layouts say.
    return [consent.refusedAt, ...refusing].filter((names) => reasonIn(layout.mayBeMissing, names) === null);
  }
  const summed = Object.values(grouping.sum).flatMap(({ plus }) => plus.map((name) => [name]));
  return [
    ...loweringColumns(reduced).map((column) => column.columns),
    ...DECIDING.flatMap((field) => writtenColumns(reduced, columns[field] ?? [])),
    ...[...summed, timeOfDay, times.zoneColumn],
  ];
}

/**
 * Compares the columns of a file with those of earlier files. It must have each deciding column that one of them has, and
 * none of a lowering meaning that no earlier one has and that the layout does not read; unless the source says why not. A
 * column that changes from one of the layout's spellings to another one is the same.
 *
 * @returns why the file is held (`column_missing`), or null.
 */
export function changeOfColumns(header: readonly string[], options: EarlierColumnsOptions): FileHeld | null {
  const { layout, source, readFor, earlier } = options;
  if (earlier.length === 0) return null;
  const excused = source.missingColumns ?? {};
  const names = new Set(header.map(foldHeader));
  const before = earlier.map((file) => ({ ...file, names: new Set(file.header.map(foldHeader)) }));
  const gone = new Map<string, string>();
  for (const spellings of decidingColumns(layout, readFor)) {
    if (reasonIn(excused, spellings) !== null) continue;
    const columns = [...new Map(spellings.map((name) => [foldHeader(name), name])).entries()];
    const countIn = (there: ReadonlySet<string>) => columns.filter(([name]) => there.has(name)).length;
    const file = before.find((one) => countIn(one.names) > countIn(names));
    if (file === undefined) continue;
    for (const [folded, name] of columns)
      if (file.names.has(folded) && !names.has(folded)) gone.set(name, file.uri);
  }
  if (gone.size > 0) return lacking(gone, header, options);
  if (readFor !== 'orders') return null;
  const read = new Set(listSpellings(layout).map(foldHeader));
  const fresh = header.filter(
    (name) =>
      !read.has(foldHeader(name)) &&
      before.every((one) => !one.names.has(foldHeader(name))) &&
      LOWERING_MEANINGS.some((meaning) => means(name, meaning)) &&
      reasonIn(excused, [name]) === null,
  );
  return fresh.length === 0 ? null : unknown([...new Set(fresh)]);
}

function lacking(
  gone: ReadonlyMap<string, string>,
  header: readonly string[],
  { layout, readFor, earlier }: EarlierColumnsOptions,
): FileHeld {
  const known = new Set(
    [...listSpellings(layout), ...earlier.flatMap((file) => file.header)].map(foldHeader),
  );
  const others = header.filter((name) => name.trim() !== '' && !known.has(foldHeader(name))).map(shownHeader);
  const columns = [...gone.keys()].map(shownHeader);
  const files = [...new Set([...gone.values()].map(fileName))];
  const [it, column, has] =
    gone.size === 1 ? ['it', 'this column', 'has'] : ['them', 'these columns', 'have'];
  const what =
    readFor === 'customers'
      ? `Without ${it}, people who refused would be submitted.`
      : `Read without ${it}, it would replace what earlier files say about the same orders.`;
  const renamed =
    others.length === 0 ? '' : ` It has ${others.slice(0, 5).join(', ')}, which they do not have.`;
  return new FileHeld({
    code: 'column_missing',
    message: `The file lacks ${columns.join(', ')}, which an earlier file of this source has (${files.join(', ')}). ${what}${renamed}`,
    help: `Export the file again with ${column}.${renamed === '' ? '' : ' If it was renamed, add its new name to the layout.'} If the exports of this source do not always ${has === 'has' ? 'have it' : 'have them'}, and what they say counts nevertheless, say so with the reason under the source: missing_columns: { ${columns.map((name) => `${name}: "…"`).join(', ')} }`,
  });
}

function unknown(names: readonly string[]): FileHeld {
  const columns = names.map(shownHeader);
  return new FileHeld({
    code: 'column_missing',
    message: `The file has ${columns.join(', ')}, which may say that an order does not count, or counts less. No earlier file of this source has ${columns.length === 1 ? 'this column' : 'these columns'}, and the layout does not read ${columns.length === 1 ? 'it' : 'them'}.`,
    help: `Name ${columns[0]} in a layout of your own, or let init write one. If every order counts in full whatever it says, say so with the reason under the source: missing_columns: { ${columns.map((name) => `${name}: "…"`).join(', ')} }`,
  });
}
