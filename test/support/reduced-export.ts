import { loadLayout } from '../../src/intake/layout/load-layout.ts';
import { loweringColumns } from '../../src/intake/layout/lowering-columns.ts';
import type { Layout } from '../../src/intake/layout/to-layout.ts';

/**
 * The setting `missing_columns` of a source whose exports have only the columns that a test is about: each column
 * that the layout requires because it can only lower an amount or exclude an order.
 */
export function reducedExport(layout: string | Layout): Readonly<Record<string, string>> {
  const columns = loweringColumns(typeof layout === 'string' ? loadLayout(layout) : layout);
  return Object.fromEntries(columns.map(({ columns: [name = ''] }) => [name, 'A test of other columns']));
}
