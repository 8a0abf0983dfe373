import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openQueue, type Queue } from '../../../src/store/queue/open-queue.ts';
import { takeEvents } from '../../../src/store/queue/take-events.ts';
import { grownSince, openWorkshop, tableSizes, toCsv, type Workshop } from '../../runs/workshop.ts';
import { type S3Server, startS3Server } from '../../support/s3-server.ts';
import {
  bridgedEvent,
  bySns,
  type SqsServer,
  s3Event,
  startSqsServer,
  TEST_EVENT,
} from '../../support/sqs-server.ts';

const BUCKET = 'acme-exports';

const FLOW = `
sources:
  shop: {uri: "s3://${BUCKET}/orders/", events: {queue: "\${QUEUE}"}, layout: generic, order_platform: shopify, time_zone: UTC, force_path_style: true}
  other: {uri: "s3://${BUCKET}/other/", events: {queue: "\${QUEUE}", list_every_hours: 48}, layout: generic, order_platform: woocommerce, time_zone: UTC, force_path_style: true}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
  others: {kind: attribute-orders, source: other, brand_id: 4819, codes: ./codes.csv}
`;

type Shop = {
  readonly shop: Workshop;
  readonly s3: S3Server;
  readonly sqs: SqsServer;
  /** Writes a file with one order below `orders/` or another prefix, and does not announce it. */
  readonly drop: (id: string, options?: { readonly prefix?: string; readonly content?: string }) => string;
  /** Announces objects below `orders/` by their keys. */
  readonly announce: (...keys: readonly string[]) => void;
  /**
   * Runs a job.
   * @returns the files that it read, by their ids, and how often it listed the prefix of a source.
   */
  readonly read: (
    job?: string,
    ...args: string[]
  ) => Promise<{ readonly files: string[]; readonly listings: number; readonly exitCode: number | null }>;
};

async function openShop(): Promise<Shop> {
  const s3 = await startS3Server({ region: 'eu-west-1' });
  onTestFinished(() => s3.close());
  const sqs = await startSqsServer();
  const shop = await openWorkshop({ flow: FLOW, env: { ...s3.env, ...sqs.env, QUEUE: sqs.queue } });
  return {
    shop,
    s3,
    sqs,
    drop(id, { prefix = 'orders', content = toCsv([{ id }]) } = {}) {
      s3.put(BUCKET, `${prefix}/${id}.csv`, content);
      return `${prefix}/${id}.csv`;
    },
    announce: (...keys) => sqs.send(...keys.map((key) => s3Event('ObjectCreated:Put', BUCKET, key))),
    async read(job = 'orders', ...args) {
      const before = listingsOf(s3);
      const known = await sealedFiles(shop);
      const { exitCode } = await shop.cli('run', job, '--json', ...args);
      const files = (await sealedFiles(shop)).filter((name) => !known.includes(name));
      return { exitCode, files, listings: listingsOf(s3) - before };
    },
  };
}

/** Opens a shop whose sources were listed once, with a file each. */
async function openListedShop(): Promise<Shop> {
  const opened = await openShop();
  opened.drop('o0');
  opened.drop('p0', { prefix: 'other' });
  await opened.read();
  await opened.read('others');
  return opened;
}

async function sealedFiles({ db }: Workshop): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select substring(uri from '([^/]+)[.]csv$') as name from intake.source_files where state = 'sealed' order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** Number of listings of a source’s whole prefix; a look-up of one object is not one. */
function listingsOf({ requests }: S3Server): number {
  return requests.filter(({ operation, prefix }) => operation === 'ListObjectsV2' && prefix.endsWith('/'))
    .length;
}

async function announcedFiles({ db }: Workshop): Promise<readonly string[]> {
  const { rows } = await sql<{ file: string }>`
    select read_for || ' ' || substring(uri from '[^/]+/[^/]+$') as file from intake.announced_files order by 1`.execute(
    db,
  );
  return rows.map(({ file }) => file);
}

describe('a source with a queue of events', () => {
  it('is listed by the first run; later runs read what the queue announces and list nothing', async () => {
    const { drop, announce, read, sqs, shop } = await openShop();
    drop('o1');
    sqs.send(TEST_EVENT);
    expect(await read()).toEqual({ exitCode: 0, files: ['o1'], listings: 1 });
    await sql`
      insert into intake.announced_files (source, read_for, uri, announced_at)
      values ('shop', 'orders', ${`s3://${BUCKET}/orders/removed.csv`}, '2026-04-11T03:04Z')`.execute(
      shop.db,
    );
    expect((await shop.cli('status')).stdout).toMatch(
      /^Queues of S3 events\n.*\n *shop +1 +2026-04-11 03:04 +20\d\d-/m,
    );
    expect(await read()).toEqual({ exitCode: 0, files: [], listings: 0 });
    announce(drop('o3 with + and ä'), drop('o2'));
    expect(await read()).toEqual({ exitCode: 0, files: ['o2', 'o3 with + and ä'], listings: 0 });
    expect(sqs.left()).toEqual([]);
    expect(await announcedFiles(shop)).toEqual([]);
  });

  it('reads a file whose event was lost when all names are listed again', async () => {
    const { drop, read, shop } = await openListedShop();
    drop('lost');
    expect(await read()).toMatchObject({ files: [], listings: 0 });
    const { stdout } = await shop.cli('files', '--source', 'shop');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'lost.csv: a run reads it once the queue of the source announces it, or when it lists all names again',
    );
    await sql`update intake.listings set listed_at = now() - interval '25 hours'`.execute(shop.db);
    expect(await read('others')).toMatchObject({ listings: 0 });
    expect(await read()).toMatchObject({ files: ['lost'], listings: 1 });
    expect(await read()).toMatchObject({ files: [], listings: 0 });
  });

  it('uses each event once, whatever the order, and ignores removed objects and those of no source', async () => {
    const { drop, announce, read, sqs } = await openListedShop();
    const [one, two] = [drop('o1'), drop('o2')];
    announce(one, one, 'orders/removed.csv', 'orders/_SUCCESS', 'invoices/o9.csv');
    sqs.send(
      s3Event('ObjectCreated:Put', 'other-bucket', one),
      s3Event('ObjectRemoved:Delete', BUCKET, one),
      bySns(s3Event('ObjectCreated:Copy', BUCKET, two)),
      bridgedEvent('Object Created', BUCKET, two),
    );
    expect(await read()).toEqual({ exitCode: 0, files: ['o1', 'o2'], listings: 0 });
    expect(sqs.left()).toEqual([]);
    announce(one, two);
    expect(await read()).toEqual({ exitCode: 0, files: [], listings: 0 });
  });

  it('stores what a shared queue announces for each source and purpose before it deletes the message', async () => {
    const { shop, drop, announce, read, sqs } = await openListedShop();
    await sql`insert into intake.listings (source, read_for, names_hash, listed_at) values ('shop', 'customers', '', now())`.execute(
      shop.db,
    );
    announce(drop('o1'), drop('p1', { prefix: 'other' }));
    expect(await read()).toMatchObject({ files: ['o1'], listings: 0 });
    expect(sqs.left()).toEqual([]);
    expect(await announcedFiles(shop)).toEqual(['customers orders/o1.csv', 'orders other/p1.csv']);
    expect(await read('others')).toMatchObject({ files: ['p1'], listings: 0 });
    expect(await announcedFiles(shop)).toEqual(['customers orders/o1.csv']);
  });

  it('keeps an announcement until its file was dealt with, however often a run fails', async () => {
    const { shop, s3, sqs, drop, announce, read } = await openListedShop();
    announce(drop('o1'));
    s3.fail({ operation: 'GetObject', kind: 'error', status: 403, code: 'AccessDenied', times: 9 });
    expect((await read()).exitCode).not.toBe(0);
    expect(sqs.left()).toEqual([]);
    s3.fail({ operation: 'ListObjectsV2', kind: 'error', status: 403, code: 'AccessDenied' });
    expect((await read()).exitCode).not.toBe(0);
    expect(await announcedFiles(shop)).toEqual(['orders orders/o1.csv']);
    s3.heal();
    expect(await read()).toMatchObject({ exitCode: 0, files: ['o1'], listings: 0 });
  });

  it('finds a held file again without another event, and reads its correction', async () => {
    const { drop, announce, read } = await openListedShop();
    announce(drop('o1', { content: 'not,an,export\n1,2,3\n' }));
    expect(await read()).toMatchObject({ exitCode: 3, files: [] });
    drop('o1');
    expect(await read()).toMatchObject({ exitCode: 0, files: ['o1'], listings: 0 });
  });

  it('leaves messages that are not events of S3 to the dead-letter queue, and says so', async () => {
    const { shop, sqs, drop, announce, read } = await openListedShop();
    sqs.send('{"task": "resize"}', 'hello');
    announce(drop('o1'));
    const { stderr } = await shop.cli('run', 'orders');
    expect(stderr).toContain('2 messages in the queue of source shop announced no object of S3');
    expect(sqs.left().toSorted()).toEqual(['hello', '{"task": "resize"}']);
    sqs.showHidden();
    expect(await read()).toMatchObject({ exitCode: 0, listings: 0 });
  });

  it('is listed by a run that cannot read the queue, which says why', async () => {
    const { shop, sqs, drop, announce, read } = await openListedShop();
    drop('o1');
    sqs.fail({ operation: 'ReceiveMessage', status: 403, code: 'AccessDeniedException' });
    expect(await read()).toEqual({ exitCode: 0, files: ['o1'], listings: 1 });
    const { stdout } = await shop.cli('doctor');
    expect(stdout).toContain('all names are listed every 24 hours');
    sqs.heal();
    sqs.fail({ operation: 'DeleteMessageBatch', status: 403, code: 'AccessDeniedException' });
    announce(drop('o2'));
    const { stderr } = await shop.cli('run', 'orders');
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      'These credentials may not use the queue of events (AccessDeniedException). All names were listed instead. Grant sqs:DeleteMessage',
    );
    expect(await sealedFiles(shop)).toContain('o2');
    shop.env.QUEUE = sqs.queue.replace('exports', 'missing');
    expect(await read()).toMatchObject({ exitCode: 0, listings: 1 });
    const looked = await shop.cli('doctor');
    expect(looked.stdout).toContain('There is no such queue of events.');
  });

  it('is listed again if its queue or its names change', async () => {
    const { shop, drop, read } = await openListedShop();
    drop('o1');
    shop.env.QUEUE = `${shop.env.QUEUE}?2`;
    expect(await read()).toMatchObject({ files: ['o1'], listings: 1 });
  });

  it('loses no message to a plan, which lists the names and leaves no dead rows', async () => {
    const { shop, sqs, drop, announce, read } = await openListedShop();
    announce(drop('o1'));
    const before = await tableSizes(shop.db);
    const { exitCode, stdout } = await shop.cli('plan', 'orders', '--json');
    expect({ exitCode, orders: /"orders":(\d+)/.exec(stdout)?.[1] }).toEqual({ exitCode: 0, orders: '2' });
    expect(await grownSince(shop.db, before)).toEqual([]);
    expect(sqs.left()).toHaveLength(1);
    expect(await read()).toMatchObject({ files: ['o1'] });
  });

  it('is not refused for having no new file, but for having none at all', async () => {
    const { shop, read, s3 } = await openShop();
    s3.put(BUCKET, 'orders/_SUCCESS', '');
    const { exitCode, stderr } = await shop.cli('run', 'orders');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Source shop has no files.');
    expect((await read('orders', '--allow-empty')).exitCode).toBe(0);
    expect((await read()).exitCode).toBe(0);
  });

  it('is warned of by doctor if its queue has no dead-letter queue', async () => {
    const { shop, sqs } = await openListedShop();
    sqs.setDeadLetters(false);
    sqs.send('hello');
    const { stdout } = await shop.cli('doctor');
    expect(stdout).toContain('1 message waits; the queue has no dead-letter queue.');
    expect(sqs.left()).toEqual(['hello']);
    expect(sqs.requests.at(-1)).toBe('GetQueueAttributes');
  });
});

async function openHere({ queue: url, env }: SqsServer): Promise<Queue> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const queue = await openQueue({ url, region: null, profile: null });
  onTestFinished(() => queue.close());
  return queue;
}

describe('takeEvents', () => {
  it('deletes no message whose announcement was not stored', async () => {
    const sqs = await startSqsServer();
    sqs.send(s3Event('ObjectCreated:Put', BUCKET, 'orders/o1.csv'));
    const queue = await openHere(sqs);
    const { signal } = new AbortController();
    const record = () => Promise.reject(new Error('the database is gone'));
    await expect(takeEvents(queue, { record, signal })).rejects.toThrow('the database is gone');
    expect(sqs.left()).toHaveLength(1);
    sqs.showHidden();
    const taken = await takeEvents(queue, { record: async () => {}, signal });
    expect(taken).toEqual({ messages: 1, notUnderstood: 0, isEmpty: true });
    expect(sqs.left()).toEqual([]);
  });

  it('reads a backlog of thousands of messages in one go', async () => {
    const sqs = await startSqsServer();
    const keys = Array.from({ length: 2_000 }, (_, index) => `orders/${index}.csv`);
    sqs.send(...keys.map((key) => s3Event('ObjectCreated:Put', BUCKET, key)));
    const queue = await openHere(sqs);
    const recorded = new Set<string>();
    await takeEvents(queue, {
      record: async (objects) => {
        for (const { key } of objects) recorded.add(key);
      },
      signal: new AbortController().signal,
    });
    expect(recorded.size).toBe(2_000);
    expect(sqs.left()).toEqual([]);
  });
});
