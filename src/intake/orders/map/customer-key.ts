import type { CustomerHash } from '../../../core/customer.ts';
import { foldAddress, parseAddress } from '../../customers/map/parse-address.ts';

/** Computes the key of the customer with this folded address. Null if that customer was forgotten. */
export type CustomerKeyOf = (foldedAddress: string) => CustomerHash | null;

/**
 * Reads the customer key from the cell with the address. An address that cannot be read gives no key and does
 * not reject the order.
 *
 * @param cell undefined if the export has no such column.
 * @param keyOf null if the source does not request customer keys.
 */
export function readCustomerKey(cell: string | undefined, keyOf: CustomerKeyOf | null): CustomerHash | null {
  if (keyOf === null || cell === undefined) return null;
  const address = parseAddress(cell);
  return typeof address !== 'string' || address === '' ? null : keyOf(foldAddress(address));
}
