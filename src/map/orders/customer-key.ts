import type { CustomerHash } from '../../model/customer.ts';
import { foldAddress, parseAddress } from '../customers/parse-address.ts';

/** Makes the key of the customer whose address, folded, is given; null where that customer was forgotten. */
export type CustomerKeyOf = (foldedAddress: string) => CustomerHash | null;

/**
 * Who ordered, of the cell that names the address. An address that cannot be read names nobody, and is no reason to reject an order.
 *
 * @param cell undefined: the export has no such column.
 * @param keyOf null: the source does not ask for it.
 */
export function readCustomerKey(cell: string | undefined, keyOf: CustomerKeyOf | null): CustomerHash | null {
  if (keyOf === null || cell === undefined) return null;
  const address = parseAddress(cell);
  return typeof address !== 'string' || address === '' ? null : keyOf(foldAddress(address));
}
