import { parseObject } from '../../core/text/exact-json.ts';
import type { ObjectName } from '../parse-source-uri.ts';

/** Events after which an object has new content, or can be read again after it was archived. */
const OF_NEW_CONTENT = /^(s3:)?Object(Created:|Restore:Completed$)/;
const OF_NEW_CONTENT_BY_EVENTBRIDGE = ['Object Created', 'Object Restore Completed'];

/** A message may be wrapped by SNS, and SNS may have received it from EventBridge. No other nesting exists. */
const MAX_WRAPPERS = 1;

/**
 * Returns the objects that a message announces: an event notification of S3, which has several records, the
 * same inside a notification of SNS, or an event of EventBridge. Other events of S3, such as removals and
 * the test event that S3 sends when notifications are configured, announce nothing. An announced object may
 * have been replaced or removed since, because events arrive late, repeatedly and out of order.
 *
 * The formats are those of the S3 User Guide, "Event message structure" and "EventBridge event message
 * structure".
 *
 * @returns null if the message is none of these. It must not be deleted.
 */
export function readEvent(body: string): readonly ObjectName[] | null {
  return readMessage(body, MAX_WRAPPERS);
}

function readMessage(body: string, wrappers: number): readonly ObjectName[] | null {
  const message = parseObject(body);
  if (message === null) return null;
  if (message.Type === 'Notification' && typeof message.Message === 'string')
    return wrappers === 0 ? null : readMessage(message.Message, wrappers - 1);
  if (message.Event === 's3:TestEvent') return [];
  if (Array.isArray(message.Records)) return readRecords(message.Records);
  return message.source === 'aws.s3' ? readBridged(message) : null;
}

/** Reads the records of a notification. One record that is not understood makes the message unreadable. */
function readRecords(records: readonly unknown[]): readonly ObjectName[] | null {
  const objects: ObjectName[] = [];
  for (const record of records) {
    const { eventName, s3 } = toObject(record);
    if (typeof eventName !== 'string' || s3 === undefined) return null;
    if (!OF_NEW_CONTENT.test(eventName)) continue;
    const object = nameOf(toObject(s3), decodeKey);
    if (object === null) return null;
    objects.push(object);
  }
  return objects;
}

function readBridged(message: Readonly<Record<string, unknown>>): readonly ObjectName[] | null {
  const type = message['detail-type'];
  if (typeof type !== 'string' || !type.startsWith('Object ')) return null;
  if (!OF_NEW_CONTENT_BY_EVENTBRIDGE.includes(type)) return [];
  // EventBridge does not encode keys.
  const object = nameOf(toObject(message.detail), (key) => key);
  return object === null ? null : [object];
}

function nameOf(
  { bucket, object }: Readonly<Record<string, unknown>>,
  decode: (key: string) => string | null,
): ObjectName | null {
  const { name } = toObject(bucket);
  const { key: text } = toObject(object);
  if (typeof name !== 'string' || typeof text !== 'string') return null;
  const key = decode(text);
  // Postgres cannot store such a name, and no listing has it.
  if (key === null || key.includes('\0') || !key.isWellFormed()) return null;
  return { bucket: name, key };
}

/** Decodes a key as S3 encodes it in notifications: like a form, with `+` for a space. */
function decodeKey(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** Returns an object's members, or none if the value is no object. */
function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
