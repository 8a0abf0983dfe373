import { layoutFor } from '../../map/layout/layout-for.ts';
import { resolveHeader } from '../../map/layout/resolve-header.ts';
import type { Layout, LayoutField, ReadFor } from '../../model/layout.ts';
import { LAYOUT_FIELDS } from '../../model/layout.ts';
import { foldHeader } from '../../model/text/fold.ts';

/** Which column of a file each field of a layout is read from, and which columns nothing reads. */
export type ColumnUse = {
  readonly fields: readonly { readonly field: LayoutField; readonly columns: readonly string[] }[];
  readonly unused: readonly string[];
};

/**
 * Says what a layout reads of a header.
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
  const read = new Set(spellingsOf(reduced).map(foldHeader));
  const unused = header
    .map((name) => name.trim())
    .filter((name) => name !== '' && !read.has(foldHeader(name)));
  return { fields, unused };
}

/** Every header that a layout looks at: for fields, sums and tests. */
function spellingsOf(layout: Layout): readonly string[] {
  const sums = Object.values(layout.grouping.sum).flatMap(({ plus, minus }) => [...plus, ...minus]);
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
    ...tests.flatMap(({ columns }) => columns),
    ...layout.timeOfDay,
    ...layout.times.zoneColumn,
    ...layout.consent.columns,
    ...layout.conditionalColumns.flatMap(({ columns }) => columns),
    ...layout.leftAfterRefund.flatMap(({ before, after }) => [...before, ...after]),
  ];
}
