import { createHmac, createSecretKey } from 'node:crypto';
import type { ContactHash } from '../model/contact.ts';

/** Half of a digest, as RFC 2104 allows: no two of a billion customers share one, and a row takes half the space. */
const HEX_DIGITS = 32;

/**
 * Makes the digest of a brand's customers: the first half of HMAC-SHA256 over brand and address. Without the key nobody can find out
 * whose it is, also not by trying addresses.
 */
export function contactHasher(key: string, brandId: string): (foldedAddress: string) => ContactHash {
  const secret = createSecretKey(key, 'utf8');
  const prefix = `${brandId}\n`;
  return (address) =>
    createHmac('sha256', secret)
      .update(prefix + address)
      .digest('hex')
      .slice(0, HEX_DIGITS);
}

/** What tells one key from another and says nothing of either. */
export function fingerprintOf(key: string): string {
  return createHmac('sha256', key).update('influencer-sync contacts.hash_key').digest('hex').slice(0, 16);
}
