import type { EventDescription } from './schema.ts';
import { isSignedBody } from './signature.ts';

/** Ways to sign that services are known to use. Each is tried with every other. */
const SIGNED = [
  '{body}',
  '{timestamp}.{body}',
  '{timestamp}{body}',
  '{timestamp}:{body}',
  'v0:{timestamp}:{body}',
];
const FORMS = [
  '{signature}',
  'sha256={signature}',
  'v1={signature}',
  'v0={signature}',
  'v1,{signature}',
  't={timestamp},v1={signature}',
];
const ENCODINGS = ['hex', 'base64', 'base64url'] as const;
const SECRETS = ['text', 'base64', 'hex'] as const;

/**
 * Finds out how an event is signed whose signature does not fit the description: tries the known ways with the
 * account's own secrets. Whoever does not know a secret cannot make it find one. The event stays refused.
 *
 * @param headers by lower-case name.
 * @returns what to change in `service.events`; null if it is signed in no known way, or with another secret.
 */
export function diagnoseSignature(
  body: Buffer,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  { secrets, events }: { secrets: readonly string[]; events: EventDescription },
): Partial<EventDescription> | null {
  const named = (pattern: RegExp) =>
    Object.keys(headers)
      .filter((name) => pattern.test(name))
      .slice(0, 3);
  const timestamps = named(/timestamp/);
  const timestampHeader = timestamps[0] ?? events.timestamp_header.toLowerCase();
  for (const signatureHeader of named(/signature/))
    for (const signature of FORMS)
      for (const signed of SIGNED)
        for (const encoding of ENCODINGS)
          for (const secret of SECRETS) {
            const tried: EventDescription = { ...events, signature, signed, encoding, secret };
            const given = {
              signature: textOf(headers[signatureHeader]),
              timestamp: textOf(headers[timestampHeader]),
            };
            if (!isSignedBody(body, given, { secrets, events: tried })) continue;
            const found = {
              signed,
              signature,
              encoding,
              secret,
              ...asWritten('signature_header', signatureHeader, events),
              ...asWritten('timestamp_header', timestampHeader, events),
            };
            return onlyChanges(found, events);
          }
  return null;
}

/** Keeps the case of a header that is already described. */
function asWritten(
  name: 'signature_header' | 'timestamp_header',
  header: string,
  events: EventDescription,
): Partial<EventDescription> {
  return { [name]: events[name].toLowerCase() === header ? events[name] : header };
}

function onlyChanges(found: Partial<EventDescription>, events: EventDescription): Partial<EventDescription> {
  const own = events as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(found).filter(([name, value]) => own[name] !== value));
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
