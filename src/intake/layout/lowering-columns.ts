import type { SourceSettings } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { headerWords, LOWERING_WORDS, says } from './column-words.ts';
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
  for (const { minus } of Object.values(grouping.sum))
    for (const name of minus) add([name], 'what is subtracted');
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
export function mayLackStatus(
  layout: Layout,
  source: Partial<Pick<SourceSettings, 'missingColumns'>>,
): boolean {
  const { status } = layout.columns;
  if (status === undefined) return true;
  return reasonFor(layout, status) !== null || reasonIn(source.missingColumns ?? {}, status) !== null;
}

/**
 * Lists the columns that a file lacks although they can lower an amount or exclude an order, and that nobody has excused.
 * The layout excuses a column that an export does not have. If the file has one of the same meaning that the layout does not
 * read, it was renamed: then only the source can excuse it.
 */
export function missingColumns(
  header: ResolvedHeader,
  layout: Layout,
  source: Partial<Pick<SourceSettings, 'missingColumns'>>,
): readonly (LoweringColumn & {
  /** A header that the layout does not read, and that may be the column. */
  readonly renamed: string | null;
})[] {
  return loweringColumns(layout).flatMap((column) => {
    const { columns, mayBeMissing } = column;
    if (header.find(columns) !== null || reasonIn(source.missingColumns ?? {}, columns) !== null) return [];
    const terms = Object.values(LOWERING_WORDS).find((words) =>
      columns.some((name) => says(headerWords(name), words)),
    );
    const renamed = header.unread.find((name) => terms && says(headerWords(name), terms)) ?? null;
    return mayBeMissing !== null && renamed === null ? [] : [{ ...column, renamed }];
  });
}

/**
 * Checks that a file has every column that can only lower an amount or exclude an order, unless the layout or
 * the source says why it may be missing.
 *
 * @throws FileHeld `column_missing`.
 */
export function requireLoweringColumns(
  header: ResolvedHeader,
  layout: Layout,
  source: Partial<Pick<SourceSettings, 'missingColumns'>>,
): void {
  const missing = missingColumns(header, layout, source);
  if (missing.length === 0) return;
  const named = missing.map(({ columns, says }) => `"${columns[0]}" (${says})`);
  const setting = missing.map(({ columns }) => `"${columns[0]}": "…"`);
  const renamed = [...new Set(missing.flatMap((column) => column.renamed ?? []))].map(
    (name) => ` It has "${maskAddresses(name.trim().slice(0, 40))}", which the layout does not read.`,
  );
  throw new FileHeld({
    code: 'column_missing',
    message: `The file lacks ${named.join(', ')}. Without ${missing.length === 1 ? 'it' : 'them'}, orders that do not count, or amounts that are too high, would be credited.${renamed.join('')}`,
    help: `${renamed.length === 0 ? '' : 'If the column was renamed, add its name to the layout. '}Export the file again with ${missing.length === 1 ? 'this column' : 'these columns'}. If the exports of this source never have ${missing.length === 1 ? 'it' : 'them'}, and every order counts in full, say so with the reason under the source: missing_columns: { ${setting.join(', ')} }`,
  });
}

/** Replaces the names of conditional columns by the columns of the file that they are made of. */
function writtenColumns(layout: Layout, spellings: readonly string[]): readonly (readonly string[])[] {
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

function reasonIn(reasons: Readonly<Record<string, string>>, spellings: readonly string[]): string | null {
  const folded = new Set(spellings.map(foldHeader));
  return Object.entries(reasons).find(([name]) => folded.has(foldHeader(name)))?.[1] ?? null;
}
