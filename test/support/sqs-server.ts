import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A message in the queue. */
type Stored = { readonly id: string; readonly body: string; handle: string | null; receives: number };

export type SqsServer = {
  /** URL of the only queue. */
  readonly queue: string;
  /** Variables for the standard chain: region and credentials. */
  readonly env: Readonly<Record<string, string>>;
  /** The requested operations. */
  readonly requests: readonly string[];
  /** Adds messages, as S3 would. */
  readonly send: (...bodies: readonly string[]) => void;
  /** Bodies of the messages that were not deleted, hidden or not. */
  readonly left: () => readonly string[];
  /** Makes received messages visible again, as if their visibility timeout had passed. */
  readonly showHidden: () => void;
  /** Answers the next requests of an operation with an error, until `heal`. */
  readonly fail: (fault: {
    readonly operation: string;
    readonly status: number;
    readonly code: string;
  }) => void;
  readonly heal: () => void;
  readonly setDeadLetters: (has: boolean) => void;
};

const ACCESS_KEY_ID = 'TESTACCESSKEY';
const REGION = 'eu-west-1';
const PATH = '/123456789012/exports';

/**
 * Implements the part of SQS that reading a queue needs, with its protocol (AWS JSON 1.0): ReceiveMessage
 * with a visibility timeout, DeleteMessageBatch, GetQueueAttributes. Returns messages in a random order, as
 * SQS may. Does not wait for messages. Checks the key, region and service of the signature, but not the
 * signature itself. It is closed when the test ends.
 */
export async function startSqsServer(): Promise<SqsServer> {
  const messages = new Map<string, Stored>();
  const requests: string[] = [];
  const faults: { readonly operation: string; readonly status: number; readonly code: string }[] = [];
  let hasDeadLetters = true;

  function receive(count: number): readonly object[] {
    const visible = [...messages.values()].filter(({ handle }) => handle === null);
    visible.sort(() => Math.random() - 0.5);
    return visible.slice(0, count).map((message) => {
      message.handle = randomUUID();
      message.receives += 1;
      const { id, body, handle } = message;
      return { MessageId: id, ReceiptHandle: handle, MD5OfBody: md5(body), Body: body };
    });
  }

  function remove(entries: readonly { readonly Id: string; readonly ReceiptHandle: string }[]): object {
    for (const { ReceiptHandle } of entries)
      for (const { id, handle } of messages.values()) if (handle === ReceiptHandle) messages.delete(id);
    return { Successful: entries.map(({ Id }) => ({ Id })), Failed: [] };
  }

  function perform(operation: string, body: Readonly<Record<string, unknown>>): object | null {
    if (operation === 'ReceiveMessage') return { Messages: receive(Number(body.MaxNumberOfMessages)) };
    if (operation === 'DeleteMessageBatch') return remove(body.Entries as Parameters<typeof remove>[0]);
    if (operation !== 'GetQueueAttributes') return null;
    const policy = JSON.stringify({
      maxReceiveCount: 5,
      deadLetterTargetArn: 'arn:aws:sqs:eu-west-1:1:dead',
    });
    const waiting = [...messages.values()].filter(({ handle }) => handle === null).length;
    return {
      Attributes: {
        ApproximateNumberOfMessages: String(waiting),
        ...(hasDeadLetters ? { RedrivePolicy: policy } : {}),
      },
    };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, accessKeyId, region, service] =
      /Credential=([^/]+)\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request/.exec(request.headers.authorization ?? '') ??
      [];
    const body = JSON.parse((await request.toArray()).join('')) as Record<string, unknown>;
    const operation = String(request.headers['x-amz-target']).replace('AmazonSQS.', '');
    requests.push(operation);
    const send = (status: number, content: object): void => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(content));
    };
    const refuse = (code: string, status = 400): void =>
      send(status, { __type: `com.amazonaws.sqs#${code}`, message: code });
    const fault = faults.find((candidate) => candidate.operation === operation);
    if (fault !== undefined) return refuse(fault.code, fault.status);
    if (accessKeyId !== ACCESS_KEY_ID) return refuse('InvalidClientTokenId', 403);
    if (region !== REGION || service !== 'sqs') return refuse('SignatureDoesNotMatch', 403);
    if (!String(body.QueueUrl).endsWith(PATH)) return refuse('QueueDoesNotExist');
    const answered = perform(operation, body);
    if (answered === null) refuse('InvalidAction');
    else send(200, answered);
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    queue: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    env: {
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY: 'test-secret-access-key',
    },
    requests,
    send: (...bodies) => {
      for (const body of bodies) {
        const id = randomUUID();
        messages.set(id, { id, body, handle: null, receives: 0 });
      }
    },
    left: () => [...messages.values()].map(({ body }) => body),
    showHidden: () => {
      for (const message of messages.values()) message.handle = null;
    },
    fail: (fault) => void faults.push(fault),
    heal: () => void faults.splice(0),
    setDeadLetters: (has) => {
      hasDeadLetters = has;
    },
  };
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

/** Formats a key as S3 does in notifications. */
function encodeKey(key: string): string {
  return encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+');
}

/** A notification of S3 about objects, with the fields that S3 sends and made-up values. */
export function s3Event(eventName: string, bucket: string, ...keys: readonly string[]): string {
  return JSON.stringify({
    Records: keys.map((key) => ({
      eventVersion: '2.5',
      eventSource: 'aws:s3',
      awsRegion: REGION,
      eventTime: '2026-11-23T10:00:00.000Z',
      eventName,
      s3: {
        s3SchemaVersion: '1.0',
        configurationId: 'exports',
        bucket: { name: bucket, arn: `arn:aws:s3:::${bucket}` },
        object: {
          key: encodeKey(key),
          size: 61,
          eTag: '5d41402abc4b2a76b9719d911017c592',
          sequencer: '0055AED6',
        },
      },
    })),
  });
}

/** The same object as EventBridge announces it. */
export function bridgedEvent(type: string, bucket: string, key: string): string {
  return JSON.stringify({
    version: '0',
    'detail-type': type,
    source: 'aws.s3',
    time: '2026-11-23T10:00:00Z',
    region: REGION,
    detail: { version: '0', bucket: { name: bucket }, object: { key, size: 61, sequencer: '0055AED6' } },
  });
}

/** A notification of SNS with another message inside. */
export function bySns(message: string): string {
  return JSON.stringify({
    Type: 'Notification',
    MessageId: randomUUID(),
    TopicArn: 'arn:aws:sns:eu-west-1:123456789012:exports',
    Subject: 'Amazon S3 Notification',
    Message: message,
  });
}

/** What S3 sends when notifications are configured. */
export const TEST_EVENT = JSON.stringify({
  Service: 'Amazon S3',
  Event: 's3:TestEvent',
  Time: '2026-11-23T10:00:00.000Z',
  Bucket: 'acme-exports',
});
