import type { Message } from '@aws-sdk/client-sqs';
import pLimit from 'p-limit';
import { isNetworkError, statusOf } from '../../config/aws/aws-error.ts';
import { errorCode } from '../../core/error-code.ts';
import { parseObject } from '../../core/json/exact-json.ts';
import { configurationError, type KnownError } from '../../core/known-error.ts';
import type { ObjectName } from '../parse-source-uri.ts';
import type { Queue } from './open-queue.ts';

/** Result of reading a queue. */
export type TakenEvents = {
  readonly messages: number;
  /** Messages that are no events of S3. They stay in the queue, which moves them to its dead-letter queue. */
  readonly notUnderstood: number;
  /** False if the queue may contain more messages. */
  readonly isEmpty: boolean;
};

/** Maximum that SQS returns for one request. */
const MESSAGES = 10;

/** Requests at a time. With 20 ms for an answer, a backlog is then read at about a thousand messages/s. */
const PARALLEL = 8;

/**
 * Maximum number of requests for messages that are made at once, about a minute's work. What is left does not
 * delay the files that were announced.
 */
const MAX_REQUESTS = 5_000;

/**
 * A message is hidden from others for this time. It is deleted within a fraction of a second. A message that
 * is not understood comes back after this time, and is not read twice by one run.
 */
const HIDDEN_SECONDS = 300;

/**
 * SQS asks all its servers if a request waits, however briefly. Otherwise it may answer that there are no
 * messages although there are.
 */
const WAIT_SECONDS = 1;

/**
 * Receives the messages of a queue until it is empty. What a batch of messages announces is recorded before
 * the batch is deleted, so a process that dies in between leaves the messages in the queue. Messages that are
 * not understood are not deleted.
 *
 * @param record stores the announced objects durably.
 * @throws KnownError `queue_unreadable` (exit 2).
 */
export async function takeEvents(
  queue: Queue,
  options: {
    readonly record: (objects: readonly ObjectName[]) => Promise<void>;
    readonly signal: AbortSignal;
  },
): Promise<TakenEvents> {
  const limit = pLimit(PARALLEL);
  let [messages, notUnderstood, isEmpty, hasFailed] = [0, 0, false, false];

  async function takeMore(): Promise<void> {
    if (isEmpty || hasFailed) return;
    try {
      const batch = await takeBatch(queue, options);
      messages += batch.messages;
      notUnderstood += batch.notUnderstood;
      isEmpty ||= batch.messages === 0;
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  }

  const requests = Array.from({ length: MAX_REQUESTS }, () => limit(takeMore));
  // After an error, the others still record and delete what they have received.
  await Promise.allSettled(requests);
  await Promise.all(requests);
  return { messages, notUnderstood, isEmpty };
}

async function takeBatch(
  queue: Queue,
  { record, signal }: Parameters<typeof takeEvents>[1],
): Promise<{ readonly messages: number; readonly notUnderstood: number }> {
  const { Messages: messages = [] } = await ask({ queue, permission: 'sqs:ReceiveMessage' }, () =>
    queue.api.receiveMessage(
      {
        QueueUrl: queue.url,
        MaxNumberOfMessages: MESSAGES,
        WaitTimeSeconds: WAIT_SECONDS,
        VisibilityTimeout: HIDDEN_SECONDS,
      },
      { abortSignal: signal },
    ),
  );
  const understood: Message[] = [];
  const objects: ObjectName[] = [];
  for (const message of messages) {
    const announced = readEvent(message.Body ?? '');
    if (announced === null) continue;
    understood.push(message);
    objects.push(...announced);
  }
  if (objects.length > 0) await record(objects);
  await deleteMessages(queue, understood);
  return { messages: messages.length, notUnderstood: messages.length - understood.length };
}

/** Deletes messages. One that the queue fails to delete comes back, which does no harm. */
async function deleteMessages(queue: Queue, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return;
  const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  await ask({ queue, permission: 'sqs:DeleteMessage' }, () =>
    queue.api.deleteMessageBatch({ QueueUrl: queue.url, Entries }),
  );
}

/** State of a queue, as its server reports it. */
export type QueueState = {
  /** Approximate number of messages that wait. */
  readonly waiting: number;
  /** True if messages that are received again and again are moved to a dead-letter queue. */
  readonly hasDeadLetters: boolean;
};

/** Asks a queue for its state. @throws KnownError `queue_unreadable` (exit 2). */
export async function readQueueState(queue: Queue): Promise<QueueState> {
  const { Attributes: attributes = {} } = await ask({ queue, permission: 'sqs:GetQueueAttributes' }, () =>
    queue.api.getQueueAttributes({
      QueueUrl: queue.url,
      AttributeNames: ['ApproximateNumberOfMessages', 'RedrivePolicy'],
    }),
  );
  return {
    waiting: Number(attributes.ApproximateNumberOfMessages ?? 0),
    hasDeadLetters: (attributes.RedrivePolicy ?? '') !== '',
  };
}

async function ask<Answer>(request: QueueRequest, send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    throw explainQueueError(error, request) ?? error;
  }
}

type Explanation = { readonly message: string; readonly help: string };

type QueueRequest = {
  readonly queue: Pick<Queue, 'url' | 'region' | 'profile'>;
  /** The permission that the request needs, as policies name it. */
  readonly permission: 'sqs:ReceiveMessage' | 'sqs:DeleteMessage' | 'sqs:GetQueueAttributes';
};

const REFUSED =
  /^(UnrecognizedClientException|InvalidClientTokenId|InvalidSecurity|SignatureDoesNotMatch|InvalidAccessKeyId|IncompleteSignature|MissingAuthenticationToken|ExpiredToken(Exception)?|RequestExpired)$/;

/**
 * Explains a failed request to a queue to a person. The SDK's error is not kept, because its fields contain
 * the signed request.
 *
 * @returns the KnownError `queue_unreadable`; null if the error is not a failed request (an abort, a bug).
 */
function explainQueueError(error: unknown, request: QueueRequest): KnownError | null {
  const explanation = explain(error, request);
  if (explanation === null) return null;
  return configurationError({
    code: 'queue_unreadable',
    ...explanation,
    where: request.queue.url,
    safe: 'Its messages stay in the queue.',
  });
}

function explain(
  error: unknown,
  { queue: { region, profile }, permission }: QueueRequest,
): Explanation | null {
  if (!(error instanceof Error) || error.name === 'AbortError') return null;
  if (/Credentials?ProviderError|TokenProviderError/.test(error.name)) {
    const of = profile === null ? '' : ` in the profile "${profile.name}"`;
    return {
      message: `No credentials for the queue of events were found${of}.`,
      help: 'Give the machine a role, or set AWS_PROFILE (or profile of the source), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    };
  }
  if (/QueueDoesNotExist|NonExistentQueue/.test(error.name))
    return {
      message: 'There is no such queue of events.',
      help: 'Copy the URL of the queue into events.queue of the source.',
    };
  if (REFUSED.test(error.name) || statusOf(error) === 401)
    return {
      message: `The queue of events refused the credentials (${error.name}, region "${region}").`,
      help: 'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN or the profile (wrong, or expired), and the clock of this machine.',
    };
  if (/AccessDenied|KMS|Kms/.test(error.name) || statusOf(error) === 403)
    return {
      message: `These credentials may not use the queue of events (${error.name}).`,
      help: `Grant ${permission} on it, and kms:Decrypt on its key if it is encrypted with your own: deploy/aws/s3-policy.json.`,
    };
  if (isNetworkError(error))
    return {
      message: `The queue of events does not answer (${errorCode(error) ?? error.name}).`,
      help: 'Check the network, the proxy, DNS and the URL, and in a network without internet access, the VPC endpoint. AWS_ENDPOINT_URL_SQS names another address.',
    };
  const status = statusOf(error);
  if (status === null) return null;
  return {
    message: `The queue of events answered ${error.name}, status ${status}.`,
    help: 'Run the command again later. If the error persists, check the URL of the queue.',
  };
}

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
