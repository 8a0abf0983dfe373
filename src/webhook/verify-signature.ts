import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookSettings } from '../model/http/webhook-event.ts';

/**
 * Whether a signature is HMAC-SHA256 over the raw bytes of the body under one of the secrets, written in the agreed encoding and no other.
 * Takes the same time whatever is wrong with it: each secret is tried, and digests of equal length are compared.
 *
 * @param signature the header as it came; undefined where there was none.
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

/** Makes texts of any length comparable in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
