import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import { openQueue } from '../../src/store/queue/open-queue.ts';
import { readQueueState, takeEvents } from '../../src/store/queue/take-events.ts';
import { openExample } from '../examples/open-example.ts';
import { putFolder, type S3Server, startS3Server } from '../support/s3-server.ts';
import { makeTestFolder } from '../support/setup.ts';
import { s3Event, startSqsServer } from '../support/sqs-server.ts';

type Statement = { readonly Sid: string; readonly Action: string | readonly string[] };

/** IAM action that each operation needs, according to the reference of actions for S3. */
const ACTIONS: Readonly<Record<string, string>> = {
  ListObjectsV2: 's3:ListBucket',
  GetObject: 's3:GetObject',
  HeadObject: 's3:GetObject',
  PutObject: 's3:PutObject',
  DeleteObject: 's3:DeleteObject',
  ReceiveMessage: 'sqs:ReceiveMessage',
  DeleteMessageBatch: 'sqs:DeleteMessage',
  GetQueueAttributes: 'sqs:GetQueueAttributes',
};

const path = new URL('../../deploy/aws/s3-policy.json', import.meta.url);
const { Statement: statements } = JSON.parse(readFileSync(path, 'utf8')) as { Statement: Statement[] };

function actionsOf(...sids: readonly string[]): readonly string[] {
  return statements
    .filter(({ Sid: sid }) => sids.includes(sid))
    .flatMap(({ Action: action }) => action)
    .toSorted();
}

function actionsNeeded({ requests }: S3Server): readonly string[] {
  return actionsFor(requests.map(({ operation }) => operation));
}

function actionsFor(operations: readonly string[]): readonly string[] {
  return [...new Set(operations.map((operation) => ACTIONS[operation] ?? operation))].toSorted();
}

async function startStore(): Promise<S3Server> {
  const s3 = await startS3Server();
  onTestFinished(() => s3.close());
  return s3;
}

it('the S3 policy allows jobs exactly the requests that they send to a store of exports', async () => {
  const s3 = await startStore();
  const folder = new URL('../../examples/two-shops-on-s3/exports', import.meta.url).pathname;
  putFolder(s3, { bucket: 'acme-exports', folder });
  const example = await openExample('two-shops-on-s3', s3.env);
  for (const job of ['attribute-orders', 'identify-customers'])
    expect(await example.run(job)).toMatchObject({ exit_code: 0 });
  expect(actionsNeeded(s3)).toEqual(actionsOf('ListExports', 'ReadExports'));
});

it('the S3 policy allows exactly the requests that the mark needs', async () => {
  const s3 = await startStore();
  s3.put('acme-ledger', 'mark/other', 'x');
  for (const [name, value] of Object.entries(s3.env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const place = { endpoint: s3.url, region: null, profile: null, forcePathStyle: true };
  const store = openFileStore({ uri: 's3://acme-ledger/mark/', ...place });
  const local = join(makeTestFolder(), 'journal');
  writeFileSync(local, 'x');
  await store.write('one', 'x');
  await store.upload('two', local);
  await store.download('two', local);
  expect(await store.list()).toHaveLength(3);
  await store.remove('one');
  store.close();
  expect(actionsNeeded(s3)).toEqual(actionsOf('ListMark', 'KeepMark'));
});

it('the S3 policy allows exactly the requests that a queue of events needs', async () => {
  const sqs = await startSqsServer();
  sqs.send(s3Event('ObjectCreated:Put', 'acme-exports', 'orders/one.csv'));
  for (const [name, value] of Object.entries(sqs.env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const queue = await openQueue({ url: sqs.queue, region: null, profile: null });
  onTestFinished(() => queue.close());
  await takeEvents(queue, { record: async () => {}, signal: new AbortController().signal });
  await readQueueState(queue);
  expect(actionsFor(sqs.requests)).toEqual(actionsOf('TakeEvents'));
});
