import { requireCustomerKeys } from '../../config/require-settings.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { CustomerHash } from '../../core/customer.ts';
import { customerBrands, requireAddress } from '../../privacy/customer-jobs.ts';
import { hashesUnder } from '../../privacy/customer-keys.ts';

/**
 * Returns the hashes of an e-mail address, one for each key and each brand whose customers are identified.
 *
 * @throws KnownError `bad_address`, `customer_key_missing`, `customer_key_short` (exit 2). No error contains
 *   the address.
 */
export function hashesOf(config: PipelineConfig, text: string): readonly CustomerHash[] {
  const address = requireAddress(text);
  const brandIds = customerBrands(config);
  return hashesUnder(requireCustomerKeys(config), { brandIds, address });
}
