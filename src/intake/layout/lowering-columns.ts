import type { SourceSettings } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { LOWERING_MEANINGS, type LoweringMeaning, means, STATE_MEANINGS } from './column-words.ts';
import type { ResolvedHeader } from './resolve-header.ts';
import type { Layout } from './to-layout.ts';

/**
 * A column that can only lower an amount or exclude an order. Without it, an order would count in full, so a
 * file must have it.
 */
export type LoweringColumn = {
  /** Spellings of its header. One of them is enough. */
  readonly columns: readonly string[];
  /** What the column would have said, for a message: `how much was refunded`. */
  readonly says: string;
  /** Why a file may lack it, as the layout says. Null: a file without it is held. */
  readonly mayBeMissing: string | null;
};

/** Lists the columns of a layout of orders that can only lower an amount or exclude an order. */
export function loweringColumns(layout: Layout): readonly LoweringColumn[] {
  const { columns, exclusions, grouping, refundList, refundedOf, leftAfterRefund } = layout;
  const found: { columns: readonly string[]; says: string }[] = [];
  const add = (spellings: readonly string[] | undefined, says: string): void => {
    for (const written of writtenColumns(layout, spellings ?? [])) found.push({ columns: written, says });
  };
  add(columns.status, 'whether the order counts');
  add([...(columns.refunded ?? []), ...(refundList?.columns ?? [])], 'how much was refunded');
  if (refundedOf.length > 0) add(refundedOf, 'in which currency a refund is');
  add(columns.cancelled_at, 'whether the order was cancelled');
  for (const { columns: of, reason } of exclusions)
    add(of, `which orders are ${reason.startsWith('unknown_') ? 'held' : 'excluded'} as ${reason}`);
  for (const { minus, times } of Object.values(grouping.sum)) {
    for (const name of minus) add([name], 'what is subtracted');
    if (times !== undefined) add(times, 'how many pieces a price is for');
  }
  for (const test of grouping.addsNothing) add(test.columns, 'which rows add nothing');
  for (const { before, after } of leftAfterRefund)
    for (const names of [before, after]) add(names, 'what is left after a refund');
  const byColumn = Map.groupBy(found, (one) => one.columns.map(foldHeader).sort().join('\n'));
  return [...byColumn.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const says = [...new Set(same.map((one) => one.says))].join(' and ');
    return [{ columns: first.columns, says, mayBeMissing: reasonFor(layout, first.columns) }];
  });
}

/**
 * Returns true if files may lack the column of the status, by the layout or the source. Orders of such a file
 * count without a status. In a file with the column, an order with a blank status is held (`unknown_status`).
 */
export function mayLackStatus(layout: Layout, source: Excusing): boolean {
  const { status } = layout.columns;
  if (status === undefined) return true;
  return reasonFor(layout, status) !== null || reasonIn(source.missingColumns ?? {}, status) !== null;
}

/**
 * Lists the columns that a file lacks although they can lower an amount or exclude an order, and that nobody has excused; and
 * those that it has, of states that the layout should read and does not.
 * The layout excuses a column that an export does not have. If the file has columns of the same meaning that the layout does
 * not read, it may have been renamed: then the source must excuse each of them by its own name.
 */
export function missingColumns(
  header: ResolvedHeader,
  layout: Layout,
  source: Excusing,
): readonly (LoweringColumn & {
  /** Headers that the layout does not read, and that may be the column. */
  readonly renamed: readonly string[];
})[] {
  const missing = loweringColumns(layout).flatMap((column) => {
    const { columns } = column;
    if (header.find(columns) !== null) return [];
    const mayBeMissing = column.mayBeMissing ?? reasonIn(source.missingColumns ?? {}, columns);
    const meaning = LOWERING_MEANINGS.find((one) => columns.some((name) => means(name, one)));
    const renamed = meaning === undefined ? [] : unreadColumns(header, meaning, source);
    return mayBeMissing !== null && renamed.length === 0 ? [] : [{ ...column, mayBeMissing, renamed }];
  });
  const known = new Set(missing.flatMap(({ renamed }) => renamed));
  return [
    ...missing,
    ...unreadStates(header, layout, source).filter(({ columns }) => !columns.some((name) => known.has(name))),
  ];
}

/**
 * Columns of states that a layout for any export does not read: what they say is not known to be that the order counts. A
 * layout with a signature is for one export, of which it is known what its other columns say.
 */
function unreadStates(
  header: ResolvedHeader,
  { signature }: Layout,
  source: Excusing,
): ReturnType<typeof missingColumns> {
  if (signature.length > 0) return [];
  const found = new Set(STATE_MEANINGS.flatMap((meaning) => unreadColumns(header, meaning, source)));
  return [...found].map((name) => ({
    columns: [name],
    says: 'whether the order counts',
    mayBeMissing: null,
    renamed: [],
  }));
}

/** Lists the headers of a meaning that the layout does not read, and that the source does not excuse by their names. */
export function unreadColumns(
  { unread }: ResolvedHeader,
  meaning: LoweringMeaning,
  { missingColumns: excused = {} }: Excusing,
): readonly string[] {
  return unread.filter((name) => means(name, meaning) && reasonIn(excused, [name]) === null);
}

/** The part of a source that says why its files may lack a column. */
type Excusing = Partial<Pick<SourceSettings, 'missingColumns'>>;

/** As many of a file's headers as a message names. */
const SHOWN_HEADERS = 5;

/**
 * Checks that a file has every column that can only lower an amount or exclude an order, and that it is read, unless the
 * layout or the source says why not.
 *
 * @throws FileHeld `column_missing`.
 */
export function requireLoweringColumns(header: ResolvedHeader, layout: Layout, source: Excusing): void {
  const missing = missingColumns(header, layout, source);
  if (missing.length === 0) return;
  const lacking = missing.filter(({ columns }) => header.find(columns) === null);
  const ignored = missing
    .filter((one) => !lacking.includes(one))
    .map(({ columns }) => shownHeader(columns[0] ?? ''));
  const [it, column] = lacking.length === 1 ? ['it', 'this column'] : ['them', 'these columns'];
  const named = lacking.map(({ columns, says }) => `"${columns[0]}" (${says})`);
  const renamed = [...new Set(lacking.flatMap((one) => one.renamed))].map(shownHeader);
  const others = header.unread.filter((name) => name.trim() !== '').map(shownHeader);
  const excuses = [
    ...lacking.flatMap(({ columns, mayBeMissing }) => (mayBeMissing !== null ? [] : [`"${columns[0]}"`])),
    ...renamed,
    ...ignored,
  ];
  const toRename =
    renamed.length > 0
      ? 'If the column was renamed, add its name to the layout. '
      : others.length > 0
        ? `If one of the columns that the layout does not read is it, add its name to the layout: ${others.slice(0, SHOWN_HEADERS).join(', ')}${others.length > SHOWN_HEADERS ? ', …' : ''}. `
        : '';
  const lacks = `The file lacks ${named.join(', ')}. Without ${it}, orders that do not count, or amounts that are too high, would be credited.${renamed.map((name) => ` It has ${name}, which the layout does not read.`).join('')}`;
  const has = `The file has ${ignored.join(', ')}, which may say that an order does not count, and which the layout does not read.`;
  const toExport = `${toRename}Export the file again with ${column}. If the exports of this source never have ${it}, and every order counts in full, say so`;
  const toRead = `Name it in a layout of your own, under exclusions, or let init write one, with the role other_status for ${ignored[0]} (--column). If every order counts whatever it says, say so`;
  throw new FileHeld({
    code: 'column_missing',
    message: [lacking.length > 0 && lacks, ignored.length > 0 && has]
      .filter((text) => text !== false)
      .join(' '),
    help: `${lacking.length > 0 ? toExport : toRead} with the reason under the source: missing_columns: { ${excuses.map((name) => `${name}: "…"`).join(', ')} }`,
  });
}

/** A header of a file for a message, in quotes. */
export function shownHeader(name: string): string {
  return `"${maskAddresses(name.trim().slice(0, 40))}"`;
}

/** Replaces the names of conditional columns by the columns of the file that they are made of. */
export function writtenColumns(layout: Layout, spellings: readonly string[]): readonly (readonly string[])[] {
  const made = layout.conditionalColumns.filter(({ name }) =>
    spellings.some((spelling) => foldHeader(spelling) === foldHeader(name)),
  );
  const names = new Set(made.map(({ name }) => foldHeader(name)));
  const plain = spellings.filter((spelling) => !names.has(foldHeader(spelling)));
  return [
    ...(plain.length === 0 ? [] : [plain]),
    ...(plain.length > 0 ? [] : made.flatMap(({ columns, when }) => [columns, when.columns])),
  ];
}

function reasonFor(layout: Layout, spellings: readonly string[]): string | null {
  const stated = reasonIn(layout.mayBeMissing, spellings);
  if (stated !== null) return stated;
  const isStatus = layout.columns.status?.some((name) => spellings.includes(name)) === true;
  return isStatus && layout.lacks.includes('status') ? 'The format has no status.' : null;
}

/** Returns the reason that is given for one of these spellings of a column, or null. */
export function reasonIn(
  reasons: Readonly<Record<string, string>>,
  spellings: readonly string[],
): string | null {
  const folded = new Set(spellings.map(foldHeader));
  return Object.entries(reasons).find(([name]) => folded.has(foldHeader(name)))?.[1] ?? null;
}
