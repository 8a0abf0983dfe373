import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookSettings } from '../model/http/webhook-event.ts';

/**
 * Verifies that a signature is HMAC-SHA256 over the raw bytes of the body with one of the secrets, in the
 * configured encoding. Takes the same time whatever is wrong with it: every secret is tried, and digests of
 * equal length are compared.
 *
 * @param signature the header as received. Undefined if it was missing.
 */
export function verifySignature(
  body: Buffer,
  signature: string | undefined,
  { secrets, encoding }: Pick<WebhookSettings, 'secrets' | 'encoding'>,
): boolean {
  const given = digest(signature ?? '');
  let isGenuine = false;
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(body).digest(encoding);
    // With an empty secret, any sender could sign.
    if (secret !== '' && timingSafeEqual(digest(expected), given)) isGenuine = true;
  }
  return isGenuine;
}

/** Hashes a text, so that texts of any length can be compared in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
