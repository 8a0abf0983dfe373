import { layoutFor } from '../../map/layout/layout-for.ts';
import { resolveForOrders } from '../../map/orders/resolve-for-orders.ts';
import type { NewestFile } from '../runnable-kind.ts';

/**
 * Holds the header of a file against the columns that its layout needs for orders.
 *
 * @throws FileHeld as a run would.
 */
export async function checkHeader({ layout, otherLayouts, source, open }: NewestFile): Promise<string> {
  let columns: readonly string[] = [];
  for await (const { header } of open()) {
    columns = header;
    break;
  }
  resolveForOrders(columns, layoutFor(layout, 'orders') ?? layout, { source, otherLayouts });
  return '';
}
