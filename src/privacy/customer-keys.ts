import type { CustomerKeys } from '../config/require-settings.ts';
import type { CustomerHash, RekeyedHash } from '../core/customer.ts';
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
  { brandIds, address }: { brandIds: Iterable<string>; address: string },
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

/**
 * Recognises customers who were forgotten, under either key, and collects the tombstones that can be
 * converted to the current key.
 */
export function findForgotten(tombstones: ReadonlySet<CustomerHash>, keys: CustomerKeys) {
  const tombstoneOf = tombstoneHasher(keys.current);
  const previousOf = keys.previous === null ? null : tombstoneHasher(keys.previous);
  const found = new Map<CustomerHash, RekeyedHash>();
  return {
    isForgotten(folded: string): boolean {
      if (tombstones.size === 0) return false;
      const current = tombstoneOf(folded);
      if (tombstones.has(current)) return true;
      const previous = previousOf?.(folded);
      if (previous === undefined || !tombstones.has(previous)) return false;
      found.set(previous, { previous, current });
      return true;
    },
    toRekey: (): readonly RekeyedHash[] => [...found.values()],
  };
}

function listed({ current, previous }: CustomerKeys): readonly string[] {
  return previous === null ? [current] : [current, previous];
}
