import { z } from 'zod';
import { webhookTypes } from '../contract/webhook-types.ts';
import { header, name, path } from './fields.ts';

/** What a template of the signature may contain. */
function template(required: string) {
  return z
    .string()
    .max(200)
    .refine((text) => text.split(required).length === 2, `must contain ${required} once`)
    .refine((text) => text.split('{timestamp}').length <= 2, 'must contain {timestamp} at most once');
}

/** How the service signs and writes its events. */
export const events = z.strictObject({
  signature_header: header
    .default('X-Service-Signature')
    .describe(
      'Specified: X-Service-Signature, with the brand of the service in place of "Service". Source: the specification.',
    ),
  timestamp_header: header
    .default('X-Service-Timestamp')
    .describe(
      'Specified: X-Service-Timestamp, with the brand in place of "Service". Source: the specification.',
    ),
  signed: template('{body}')
    .default('{body}')
    .describe(
      'Which bytes are signed is not shown, only that the body is among them. Also usual: {timestamp}.{body}. Source: public examples.',
    ),
  signature: template('{signature}')
    .default('{signature}')
    .describe(
      'The form of the header is not shown. Also usual: sha256={signature}, and t={timestamp},v1={signature}. Source: public examples.',
    ),
  encoding: z
    .enum(['hex', 'base64', 'base64url'])
    .default('hex')
    .describe('Encoding of the signature: not shown. Source: public examples.'),
  secret: z
    .enum(['text', 'base64', 'hex'])
    .default('text')
    .describe('Whether the secret is the key itself or its encoding: not shown. Source: public examples.'),
  timestamp: z
    .enum(['seconds', 'milliseconds', 'iso'])
    .default('seconds')
    .describe('Specified: a UNIX timestamp; its unit is not shown. Source: public examples.'),
  kind: path
    .default('webhook_type')
    .describe(
      'Whether an event names its kind is not shown. Path of the member that does; without it, the members of the event or the address tell. Source: the name in create_webhook.',
    ),
  kinds: z
    .partialRecord(z.enum(webhookTypes), name)
    .default({})
    .describe('Our kind: the name in the event, if it is another one than that of the registration.'),
  envelope: path
    .nullable()
    .default(null)
    .describe('Member that contains the payload: not shown. Source: public examples have none.'),
  members: z
    .record(path, path)
    .default({})
    .describe(
      'Payloads are not shown. Our member (order_information.order_id): the path at which the service sends it. Source: public examples.',
    ),
});
