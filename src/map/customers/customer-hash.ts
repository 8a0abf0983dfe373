import { createHmac, hash } from 'node:crypto';
import type { CustomerHash } from '../../model/customer.ts';

/** Half of a digest, as RFC 2104 allows: no two of a billion customers share one, and a row takes half the space. */
const HEX_DIGITS = 32;

/** Of SHA-256, in bytes (FIPS 180-4). */
const BLOCK = 64;
const DIGEST = 32;

/** An address has 254 characters at most (RFC 5321), of three bytes at most in UTF-8 each; folding may add some. */
const MESSAGE_BYTES = 1024;

/**
 * Makes the digest of a brand's customers: the first half of HMAC-SHA256 over brand and address. Without the key it is impossible to find out
 * whose it is, also not by trying addresses.
 *
 * HMAC is two digests by its definition (RFC 2104, 2), which Node computes in one call each. Its `Hmac` costs twice as much, for an object
 * and three calls a customer; what it says is the same, and stands in where a message would not fit.
 */
export function customerHasher(key: string, brandId: string): (foldedAddress: string) => CustomerHash {
  const prefix = `${brandId}\n`;
  const { inner, outer } = pad(key);
  const begin = BLOCK + inner.write(prefix, BLOCK);
  return (address) => {
    if (begin + 3 * address.length > inner.length) return hmac(key, prefix + address);
    const end = begin + inner.write(address, begin);
    outer.write(hash('sha256', inner.subarray(0, end), 'binary'), BLOCK, 'binary');
    return hash('sha256', outer, 'hex').slice(0, HEX_DIGITS);
  };
}

/**
 * Makes the digest that is left of a customer who was forgotten: the same for every brand, those of later years too. No brand has an empty
 * id, so that it is the digest of nobody else.
 */
export function tombstoneHasher(key: string): (foldedAddress: string) => CustomerHash {
  return customerHasher(key, '');
}

/** What tells one key from another and says nothing of either. Never change the text: databases keep its HMAC. */
export function fingerprintOf(key: string): string {
  return hmac(key, 'influencer-sync contacts.hash_key').slice(0, 16);
}

/** The two blocks that begin with the key, and room for what follows it. */
function pad(key: string): { readonly inner: Buffer; readonly outer: Buffer } {
  const bytes = Buffer.from(key);
  const block = Buffer.alloc(BLOCK);
  (bytes.length > BLOCK ? hash('sha256', bytes, 'buffer') : bytes).copy(block);
  const inner = Buffer.alloc(BLOCK + MESSAGE_BYTES);
  const outer = Buffer.alloc(BLOCK + DIGEST);
  for (const [place, byte] of block.entries()) {
    inner[place] = byte ^ 0x36;
    outer[place] = byte ^ 0x5c;
  }
  return { inner, outer };
}

function hmac(key: string, message: string): string {
  return createHmac('sha256', key).update(message).digest('hex').slice(0, HEX_DIGITS);
}
