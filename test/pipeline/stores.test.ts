import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { manyRows, openWorkshop, repeated, toCsv, type Workshop } from './workshop.ts';

// Each test is a handful of processes; a machine may be busy.
vi.setConfig({ testTimeout: 180_000 });

const BUCKET = 'acme-exports';
const OBJECTS = 45;

async function openS3Workshop(settings = ''): Promise<{ shop: Workshop; s3: S3Server }> {
  const s3 = await startS3Server();
  onTestFinished(() => s3.close());
  const flow = `
sources:
  shop: {uri: "s3://${BUCKET}/orders/", layout: generic, order_platform: shopify${settings}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`;
  return { s3, shop: await openWorkshop({ flow, env: s3.env }) };
}

function putObjects(s3: S3Server, count = OBJECTS): void {
  for (let index = 1; index <= count; index += 1)
    s3.put(BUCKET, `orders/${String(index).padStart(3, '0')}.csv`, toCsv(manyRows(1, `o${index}-`)));
}

describe('one unreadable object among many', () => {
  it.each([
    [403, 'AccessDenied'],
    [500, 'InternalError'],
  ])('(%i %s) is held as unavailable, the others are posted, and it is tried again', async (status, code) => {
    const { shop, s3 } = await openS3Workshop();
    putObjects(s3);
    const key = 'orders/007.csv';
    s3.fail({ operation: 'GetObject', key, kind: 'error', status, code, times: 1_000 });
    const first = await shop.run();
    expect(first, first.stderr).toMatchObject({
      exitCode: 3,
      finished: { status: 'issues', counts: { files: OBJECTS - 1, entries: { accepted: OBJECTS - 1 } } },
    });
    const { stdout } = await shop.cli('status');
    expect(stdout).toContain('007.csv cannot be read now.');
    expect(stdout).toContain(code);

    expect(await shop.run()).toMatchObject({ exitCode: 3 });
    s3.heal();
    expect(await shop.run()).toMatchObject({
      exitCode: 0,
      finished: { status: 'ok', counts: { files: 1, entries: { accepted: 1 } } },
    });
    expect(repeated(await shop.truth())).toEqual([]);
  });

  it('is the source’s failure when most are unreadable, which is told after few requests, with the reason', async () => {
    const { shop, s3 } = await openS3Workshop();
    putObjects(s3);
    s3.fail({ operation: 'GetObject', kind: 'error', status: 403, code: 'AccessDenied', times: 1_000 });
    const { exitCode, stderr, finished } = await shop.run();
    expect(exitCode).toBe(2);
    expect(finished).toBeNull();
    expect(stderr).toContain('23 of 45 files failed');
    expect(stderr).toContain('s3:GetObject');
    expect(s3.requests.filter(({ operation }) => operation === 'GetObject')).toHaveLength(23);
    expect(await shop.truth()).toEqual([]);
  });

  it('is the source’s failure when it is the only one that a person asked for', async () => {
    const { shop, s3 } = await openS3Workshop();
    putObjects(s3, 3);
    const key = 'orders/002.csv';
    s3.fail({ operation: 'GetObject', key, kind: 'error', status: 403, code: 'AccessDenied', times: 1_000 });
    expect(await shop.run('--file', '002')).toMatchObject({ exitCode: 2 });
  });
});

describe('an unreadable file in a folder', () => {
  // Rights do not bind the superuser.
  it.skipIf(process.getuid?.() === 0)('is held as unavailable, and the others are posted', async () => {
    const shop = await openWorkshop();
    for (const name of ['a', 'b', 'c']) shop.drop(`${name}.csv`, toCsv(manyRows(1, name)));
    const path = join(shop.folder, 'exports', 'b.csv');
    chmodSync(path, 0o000);
    expect(await shop.run()).toMatchObject({ exitCode: 3, finished: { counts: { files: 2 } } });
    chmodSync(path, 0o600);
    expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { counts: { files: 1 } } });
  });
});

describe('a store whose objects have no ETag', () => {
  it('has an object that is replaced read again, and the others not', async () => {
    const { shop, s3 } = await openS3Workshop();
    const traits = { etag: '', hasChecksum: false, modified: new Date('2026-04-10T11:11:26Z') };
    s3.put(BUCKET, 'orders/a.csv', toCsv(manyRows(1, 'a')), traits);
    s3.put(BUCKET, 'orders/latest.csv', toCsv(manyRows(1, 'b')), traits);
    expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { counts: { files: 2 } } });
    s3.put(BUCKET, 'orders/latest.csv', toCsv(manyRows(1, 'c')), {
      ...traits,
      modified: new Date('2026-04-10T12:11:26Z'),
    });
    expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { counts: { files: 1 } } });
    expect(await shop.truth()).toEqual(['a1', 'b1', 'c1']);
    expect((await shop.cli('doctor')).stdout).toContain('The store names no ETag for 2 of 2 files.');
  });
});

describe('two stores in one configuration', () => {
  it('are each read from their own endpoint', async () => {
    const [one, other] = [await startS3Server(), await startS3Server({ region: 'eu-west-3' })];
    onTestFinished(async () => {
      await one.close();
      await other.close();
    });
    const flow = `
sources:
  here: {uri: "s3://${BUCKET}/orders/", layout: generic, order_platform: shopify}
  there: {uri: "s3://${BUCKET}/orders/", layout: generic, order_platform: etsy, endpoint: "${other.url}", region: eu-west-3}
jobs:
  orders: {kind: attribute-orders, source: [here, there], brand_id: 4819, codes: ./codes.csv}
`;
    const shop = await openWorkshop({ flow, env: one.env });
    one.put(BUCKET, 'orders/a.csv', toCsv(manyRows(1, 'a')));
    other.put(BUCKET, 'orders/a.csv', toCsv(manyRows(1, 'b')));
    const { exitCode, stderr } = await shop.run();
    expect(exitCode, stderr).toBe(0);
    expect(await shop.truth()).toEqual(['a1', 'b1']);
  });
});
