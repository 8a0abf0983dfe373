import { createHmac, hash } from 'node:crypto';
import type { CustomerHash } from '../../../core/customer.ts';

/**
 * Half of a digest, which RFC 2104 allows. Collisions are practically impossible even among a billion
 * customers, and a row takes half the space.
 */
const HEX_DIGITS = 32;

/** Block size of SHA-256 in bytes (FIPS 180-4). */
const BLOCK = 64;
const DIGEST = 32;

/**
 * Room for an address: at most 254 characters (RFC 5321), each up to three bytes in UTF-8. Folding may add
 * some.
 */
const MESSAGE_BYTES = 1024;

/**
 * Creates the hash function for customers of a brand: the first half of HMAC-SHA256 over brand and address.
 * Without the key, a customer cannot be identified from a hash, not even by trying addresses.
 *
 * HMAC consists of two digests (RFC 2104, section 2), which Node computes with one call each. Node's `Hmac`
 * gives the same result but costs twice as much, because it needs an object and three calls for each
 * customer. It is used only if a message does not fit into the buffer.
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
 * Creates the hash function for tombstones of forgotten customers. A tombstone is the same for every brand,
 * including brands added later. No brand has an empty id, so a tombstone never equals the hash of a customer.
 */
export function tombstoneHasher(key: string): (foldedAddress: string) => CustomerHash {
  return customerHasher(key, '');
}

/** Identifies a key without revealing it. Never change the text: databases store its HMAC. */
export function fingerprintOf(key: string): string {
  return hmac(key, 'influencer-sync contacts.hash_key').slice(0, 16);
}

/** Prepares the two blocks that begin with the key, with room for the message. */
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
