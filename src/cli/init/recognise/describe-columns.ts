import type { Layout, LayoutField, ReadFor } from '../../../core/layout.ts';
import { LAYOUT_FIELDS } from '../../../core/layout.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { layoutFor } from '../../../intake/layout/layout-for.ts';
import { loweringColumns } from '../../../intake/layout/lowering-columns.ts';
import { listSpellings, resolveHeader } from '../../../intake/layout/resolve-header.ts';

/** The columns of a file that each field of a layout is read from, and the columns that are not read. */
export type ColumnUse = {
  readonly fields: readonly { readonly field: LayoutField; readonly columns: readonly string[] }[];
  readonly unused: readonly string[];
  /** Columns that could only lower an amount or exclude an order and that the file lacks, as the layout allows. */
  readonly mayBeMissing: readonly { readonly column: string; readonly reason: string }[];
};

/**
 * Describes which columns of a header a layout reads.
 *
 * @throws FileHeld `header_mismatch`, `ambiguous_header`.
 */
export function describeColumns(header: readonly string[], layout: Layout, readFor: ReadFor): ColumnUse {
  const reduced = layoutFor(layout, readFor) ?? layout;
  const resolved = resolveHeader(header, reduced);
  const fields = LAYOUT_FIELDS.flatMap((field) => {
    const columns = resolved.fields[field].map(({ name }) => name);
    return columns.length === 0 ? [] : [{ field, columns }];
  });
  const read = new Set(listSpellings(reduced).map(foldHeader));
  const unused = header
    .map((name) => name.trim())
    .filter((name) => name !== '' && !read.has(foldHeader(name)));
  const mayBeMissing =
    readFor === 'orders'
      ? loweringColumns(reduced).flatMap(({ columns, mayBeMissing: reason }) =>
          reason === null || resolved.find(columns) !== null ? [] : [{ column: columns[0] ?? '', reason }],
        )
      : [];
  return { fields, unused, mayBeMissing };
}
