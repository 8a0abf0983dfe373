import { isIdentifyCustomers } from '../../../jobs/identify-customers/settings.ts';
import { requireHashKey } from '../../config/require-settings.ts';
import { customerHasher } from '../../map/customers/customer-hash.ts';
import { foldAddress, parseAddress } from '../../map/customers/parse-address.ts';
import type { PipelineConfig } from '../../model/config.ts';
import type { CustomerHash } from '../../model/customer.ts';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';

/**
 * The hashes of an address, one for each brand whose customers are identified.
 *
 * @throws KnownError `bad_address`, `customer_key_missing`, `customer_key_short` (exit 2). None repeats the address.
 */
export function hashesOf(config: PipelineConfig, text: string): readonly CustomerHash[] {
  const address = parseAddress(text);
  if (typeof address !== 'string' || address === '') {
    throw new KnownError({
      code: 'bad_address',
      message: 'This is not an e-mail address.',
      help: 'Write it like jane@example.com.',
      exitCode: EXIT.configuration,
    });
  }
  const key = requireHashKey(config);
  const brands = Object.values(config.jobs)
    .filter(isIdentifyCustomers)
    .map(({ brandId }) => brandId);
  return [...new Set(brands)].map((brandId) => customerHasher(key, brandId)(foldAddress(address)));
}
