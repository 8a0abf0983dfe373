import type { Message } from '@aws-sdk/client-sqs';
import pLimit from 'p-limit';
import type { ObjectName } from '../parse-source-uri.ts';
import { explainQueueError, type QueueRequest } from './explain-queue-error.ts';
import type { Queue } from './open-queue.ts';
import { readEvent } from './read-event.ts';

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
