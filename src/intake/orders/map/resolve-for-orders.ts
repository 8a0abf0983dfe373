import type { SourceSettings } from '../../../config/source-fields.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import { requireLoweringColumns, shownHeader, unreadColumns } from '../../layout/lowering-columns.ts';
import { refuseNotOrders } from '../../layout/not-orders.ts';
import { type ResolvedHeader, resolveHeader } from '../../layout/resolve-header.ts';
import type { Layout, OtherLayouts } from '../../layout/to-layout.ts';
import { refuseJoinedKinds } from './joined-ids.ts';

/** What is needed, in addition to its header, to decide whether a file can be read for its orders. */
export type OrderReading = {
  readonly source: Pick<SourceSettings, 'currency'> & Partial<Pick<SourceSettings, 'missingColumns'>>;
  readonly otherLayouts?: OtherLayouts;
};

/**
 * Finds the columns of a file that is read for its orders. Refuses exports that contain none. Checks that it has those
 * that can only lower an amount or exclude an order, and that the currency is known from a column, or from the source
 * if no other column may state one.
 *
 * @throws FileHeld `not_orders`, `header_mismatch`, `ambiguous_header`, `column_missing`, `currency_unknown`.
 */
export function resolveForOrders(
  header: readonly string[],
  layout: Layout,
  { source, otherLayouts = () => [] }: OrderReading,
): ResolvedHeader {
  refuseNotOrders(header, layout);
  const resolved = resolveHeader(header, layout, otherLayouts);
  requireLoweringColumns(resolved, layout, source);
  refuseJoinedKinds(resolved, layout, source);
  if (resolved.fields.currency.length > 0) return resolved;
  const given = layout.currency ?? source.currency;
  const [column = 'currency'] = layout.columns.currency ?? [];
  const [unread] = unreadColumns(resolved, 'currency', source).map(shownHeader);
  if (given === null)
    throw new FileHeld({
      code: 'currency_unknown',
      message: `The file has no column "${column}", and its source gives no currency, so the currency of its amounts is unknown.`,
      help: 'Add the currency of the amounts to the source in pipeline.yaml, for example `currency: EUR`. Or export the file with the column.',
    });
  if (unread === undefined) return resolved;
  throw new FileHeld({
    code: 'currency_unknown',
    message: `The file has no column "${column}", but it has ${unread}, which the layout does not read. If that states the currency of the amounts, they may not be in ${given}.`,
    help: `Add the name of the column to the layout, under columns: currency. If all amounts are in ${given} whatever it says, say so with the reason under the source: missing_columns: { ${unread}: "…" }`,
  });
}
