import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { EventDescription } from './schema.ts';

/** The two headers of a delivery, as received. Undefined if one is missing. */
export type SignedHeaders = {
  readonly signature: string | undefined;
  readonly timestamp: string | undefined;
};

type SignOptions = {
  readonly secret: string;
  readonly events: EventDescription;
  /** The time of sending, in Unix milliseconds. */
  readonly nowMs: number;
};

/** Creates the two headers of an event, as the service does. */
export function signBody(
  body: string | Buffer,
  { secret, events, nowMs }: SignOptions,
): Readonly<Record<string, string>> {
  const timestamp = writeTimestamp(nowMs, events.timestamp);
  const signature = computeSignature(Buffer.from(body), { secret, events, timestamp }) ?? '';
  return {
    [events.timestamp_header]: timestamp,
    [events.signature_header]: fill(events.signature, { signature, timestamp }),
  };
}

/**
 * Verifies that a signature is HMAC-SHA256 over the described bytes with one of the secrets. Takes the same time
 * whatever is wrong with it: every secret is tried, and digests of equal length are compared.
 */
export function isSignedBody(
  body: Buffer,
  headers: SignedHeaders,
  { secrets, events }: { secrets: readonly string[]; events: EventDescription },
): boolean {
  const parts = readTemplate(events.signature, headers.signature ?? '');
  const timestamp = parts?.timestamp ?? headers.timestamp ?? '';
  // Without the timestamp, the sender would choose what was signed.
  const isComplete = timestamp !== '' || !events.signed.includes('{timestamp}');
  const given = digest(parts?.signature ?? '');
  let isGenuine = false;
  for (const secret of secrets) {
    const expected = computeSignature(body, { secret, events, timestamp });
    // With an empty secret, any sender could sign.
    if (expected !== null && timingSafeEqual(digest(expected), given)) isGenuine = true;
  }
  return isGenuine && isComplete;
}

/** Reads the time of sending. @returns Unix seconds, with fractions; null if the text is not in the described unit. */
export function readTimestamp(text: string | undefined, unit: EventDescription['timestamp']): number | null {
  if (text === undefined) return null;
  if (unit === 'iso') {
    const at = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(at) ? null : at / 1000;
  }
  if (!/^\d{1,15}$/.test(text)) return null;
  return unit === 'seconds' ? Number(text) : Number(text) / 1000;
}

function writeTimestamp(nowMs: number, unit: EventDescription['timestamp']): string {
  if (unit === 'iso') return new Date(nowMs).toISOString();
  return String(Math.floor(unit === 'seconds' ? nowMs / 1000 : nowMs));
}

/** Returns null if the secret is empty, or not in the described encoding: its bytes would be known to everybody. */
function computeSignature(
  body: Buffer,
  { secret, events, timestamp }: { secret: string; events: EventDescription; timestamp: string },
): string | null {
  const key = readSecret(secret, events.secret);
  if (key === null) return null;
  const hmac = createHmac('sha256', key);
  for (const part of events.signed.split(/(\{body\}|\{timestamp\})/))
    hmac.update(part === '{body}' ? body : part === '{timestamp}' ? timestamp : part);
  return hmac.digest(events.encoding);
}

function readSecret(secret: string, encoding: EventDescription['secret']): Buffer | null {
  if (encoding === 'text') return secret === '' ? null : Buffer.from(secret, 'utf8');
  const text = secret.replace(/^whsec_/, '');
  const key = Buffer.from(text, encoding);
  // Padding at the end is optional.
  const isEncoded = key.toString(encoding).replaceAll('=', '') === text.replaceAll('=', '').trim();
  return isEncoded && key.length > 0 ? key : null;
}

function fill(template: string, values: { readonly signature: string; readonly timestamp: string }): string {
  return template
    .split(/(\{signature\}|\{timestamp\})/)
    .map((part) =>
      part === '{signature}' ? values.signature : part === '{timestamp}' ? values.timestamp : part,
    )
    .join('');
}

/** Reads a text that was written by a template. @returns null if it was not. */
function readTemplate(
  template: string,
  text: string,
): { readonly signature: string; readonly timestamp: string | null } | null {
  const parts = template.split(/(\{signature\}|\{timestamp\})/);
  const values: Record<string, string> = {};
  let at = 0;
  for (let index = 0; index < parts.length; index += 2) {
    const literal = parts[index] ?? '';
    const isLast = index === parts.length - 1;
    const found = index === 0 ? 0 : isLast && literal === '' ? text.length : text.indexOf(literal, at);
    if (found < 0 || !text.startsWith(literal, found)) return null;
    if (index > 0) values[parts[index - 1] ?? ''] = text.slice(at, found);
    at = found + literal.length;
  }
  if (at !== text.length) return null;
  return { signature: values['{signature}'] ?? '', timestamp: values['{timestamp}'] ?? null };
}

/** Hashes a text, so that texts of any length can be compared in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
