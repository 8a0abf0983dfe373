import type { CustomerKeys } from '../config/require-settings.ts';
import type { CustomerHash } from '../core/customer.ts';
import type { KeyFingerprints } from '../intake/customers/bind-customer-key.ts';
import { customerHasher, fingerprintOf, tombstoneHasher } from '../intake/customers/map/customer-hash.ts';
import { foldAddress } from '../intake/customers/map/parse-address.ts';
import type { RekeyAddress } from '../intake/customers/rekey-customers.ts';

/** Fingerprints that identify the current and the previous key. */
export function fingerprintsOf({ current, previous }: CustomerKeys): KeyFingerprints {
  return { current: fingerprintOf(current), previous: previous === null ? null : fingerprintOf(previous) };
}

/** Returns a function that computes the digests of an address under both keys. */
export function rekeyingOf({ current, previous }: CustomerKeys): RekeyAddress {
  return (brandId, address) => {
    const folded = foldAddress(address);
    return {
      previous: customerHasher(previous ?? current, brandId)(folded),
      current: customerHasher(current, brandId)(folded),
    };
  };
}

/** Digests of a customer for each brand, under each key. */
export function hashesUnder(
  keys: CustomerKeys,
  { brandIds, address }: { readonly brandIds: Iterable<string>; readonly address: string },
): readonly CustomerHash[] {
  const folded = foldAddress(address);
  return listed(keys).flatMap((key) => [...brandIds].map((brandId) => customerHasher(key, brandId)(folded)));
}

/** Tombstones that a customer may have, starting with that of the current key. */
export function tombstonesUnder(
  keys: CustomerKeys,
  address: string,
): readonly [CustomerHash, ...CustomerHash[]] {
  const [current, ...previous] = listed(keys).map((key) => tombstoneHasher(key)(foldAddress(address)));
  if (current === undefined) throw new Error('there is no key');
  return [current, ...previous];
}

function listed({ current, previous }: CustomerKeys): readonly string[] {
  return previous === null ? [current] : [current, previous];
}
