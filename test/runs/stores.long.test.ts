import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { manyRows, openWorkshop, repeated, toCsv, type Workshop } from './workshop.ts';

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

describe('an unreadable object', () => {
  it('among many is held as unavailable and retried, and the others are posted', async () => {
    const [status, code] = [403, 'AccessDenied'];
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
    expect(stdout).toContain('007.csv (source shop) cannot be read now.');
    expect(stdout).toContain(code);

    expect(await shop.run()).toMatchObject({ exitCode: 3 });
    s3.heal();
    expect(await shop.run()).toMatchObject({
      exitCode: 0,
      finished: { status: 'ok', counts: { files: 1, entries: { accepted: 1 } } },
    });
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('is a failure of the source if most are unreadable, reported after few requests and with the reason', async () => {
    const { shop, s3 } = await openS3Workshop();
    putObjects(s3);
    s3.fail({ operation: 'GetObject', kind: 'error', status: 403, code: 'AccessDenied', times: 1_000 });
    const { exitCode, stderr, finished } = await shop.run();
    expect(exitCode).toBe(2);
    expect(finished).toBeNull();
    expect(stderr).toContain('23 of 45 files failed');
    expect(stderr).toContain('s3:GetObject');
    expect(s3.requests.filter(({ operation }) => operation === 'GetObject')).toHaveLength(23);
    expect(await shop.posted()).toEqual([]);
  });
});

describe('an unreadable file in a folder', () => {
  // File permissions do not restrict root.
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
  it('has only replaced objects read again', async () => {
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
    expect(await shop.posted()).toEqual(['a1', 'b1', 'c1']);
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
    other.put(BUCKET, 'orders/a.csv', toCsv([{ id: 'b1', revenue: '7.00' }]));
    const { exitCode, stderr } = await shop.run();
    expect(exitCode, stderr).toBe(0);
    expect(await shop.posted()).toEqual(['a1', 'b1']);
  });
});

describe('objects between exports that are not exports', () => {
  it('are skipped, and `files` states why', async () => {
    const { shop, s3 } = await openS3Workshop();
    for (const key of [
      '_SUCCESS',
      'manifest.json',
      '.DS_Store',
      '2026/',
      '2026_$folder$',
      '2026/.part',
      '_committed_17',
    ])
      s3.put(BUCKET, `orders/${key}`, key === 'manifest.json' ? '{"entries": []}' : '');
    s3.put(BUCKET, 'orders/2026/a.csv', toCsv(manyRows(2, 'a')));
    const { exitCode, finished } = await shop.run();
    expect({ exitCode, finished }).toMatchObject({
      exitCode: 0,
      finished: { status: 'ok', counts: { files: 1, orders: 2 } },
    });
    const { stdout } = await shop.cli('files');
    expect(stdout).toContain('shop: 8 files (7 skipped, 1 read)');
    expect(stdout).toContain('_SUCCESS: it is an empty marker');
    expect(stdout).toContain('manifest.json: exclude has "manifest.json"');
    expect(stdout).toMatch(/read +a\.csv 2 rows/);
  });
});

const FLOW = (source: string) => `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify${source}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`;

async function openHeld(): Promise<Workshop> {
  const shop = await openWorkshop({ flow: FLOW('') });
  shop.drop('orders.csv', toCsv(manyRows(1)));
  shop.drop('bad.csv', 'nothing,of,this\n1,2,3\n');
  expect(await shop.run()).toMatchObject({ exitCode: 3 });
  return shop;
}

describe('a hold', () => {
  it('ends when the source no longer covers the name, and is renewed when it does again', async () => {
    const shop = await openHeld();
    const config = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    shop.write('pipeline.yaml', config.replace('layout: generic', 'layout: generic, exclude: ["bad*"]'));
    expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { status: 'ok' } });
    expect((await shop.cli('status')).stdout).not.toContain('Held files');
    shop.write('pipeline.yaml', config);
    expect(await shop.run()).toMatchObject({ exitCode: 3 });
    mkdirSync(join(shop.folder, 'elsewhere'));
    copyFileSync(join(shop.folder, 'exports', 'orders.csv'), join(shop.folder, 'elsewhere', 'orders.csv'));
    shop.write('pipeline.yaml', config.replace('./exports/', './elsewhere/'));
    expect(await shop.run()).toMatchObject({ exitCode: 0 });
  });

  it('ends when the version that was read before is restored', async () => {
    const shop = await openHeld();
    shop.drop('orders.csv', 'nothing,of,that\n1,2,3\n');
    rmSync(join(shop.folder, 'exports', 'bad.csv'));
    shop.drop('bad.csv', toCsv(manyRows(1, 'b')));
    expect(await shop.run()).toMatchObject({ exitCode: 3 });
    shop.drop('orders.csv', toCsv(manyRows(1)));
    expect(await shop.run()).toMatchObject({ exitCode: 0 });
  });

  it('is ended by an operator with a stored reason, and a deleted file stays missing until then', async () => {
    const shop = await openHeld();
    rmSync(join(shop.folder, 'exports', 'bad.csv'));
    expect(await shop.run()).toMatchObject({ exitCode: 3 });
    expect((await shop.cli('files')).stdout).toContain('bad.csv: it no longer exists, and was held');
    expect(await shop.cli('files', 'release', 'bad.csv')).toMatchObject({ exitCode: 2 });
    const unknown = await shop.cli('files', 'release', 'good.csv', '--reason', 'x');
    expect(unknown).toMatchObject({ exitCode: 2 });
    expect(unknown.stderr).toContain('No held file is called "good.csv"');
    const released = await shop.cli('files', 'release', 'bad.csv', '--reason', 'a test of the shop');
    expect(released, released.stderr).toMatchObject({ exitCode: 0 });
    expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { status: 'ok' } });
    // The file stays released when it is restored unchanged; another version of it is read.
    shop.drop('bad.csv', 'nothing,of,this\n1,2,3\n');
    expect(await shop.run()).toMatchObject({ exitCode: 0 });
    expect((await shop.cli('files')).stdout).toContain('a test of the shop');
    shop.drop('bad.csv', toCsv(manyRows(1, 'new')));
    expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { counts: { files: 1 } } });
  });
});

describe('`files reread`', () => {
  it('applies a corrected layout to orders that are not posted, and posts nothing twice', async () => {
    const shop = await openWorkshop({ flow: FLOW('').replace('generic', 'mine') });
    mkdirSync(join(shop.folder, 'layouts'));
    const layout = readFileSync(new URL('../../config/layouts/generic.yaml', import.meta.url), 'utf8');
    shop.write('layouts/mine.yaml', layout);
    shop.drop(
      'orders.csv',
      `${toCsv(manyRows(3)).replace('status\n', 'status,net\n').replaceAll('paid\n', 'paid,0.50\n')}`,
    );
    expect(await shop.run('--limit', '1')).toMatchObject({ exitCode: 0, finished: { counts: { files: 1 } } });

    shop.write('layouts/mine.yaml', layout.replace('total: [order_revenue]', 'total: [net]'));
    expect((await shop.run('--limit', '1')).finished).toMatchObject({ counts: { files: 0 } });
    const asked = await shop.cli('files', 'reread', '--layout', 'mine');
    expect(asked, asked.stderr).toMatchObject({ exitCode: 0 });
    expect(asked.stdout).toContain('The next run reads 1 file again');
    expect((await shop.cli('files')).stdout).toContain('as you requested');
    const again = await shop.run();
    expect(again.finished, again.stderr).toMatchObject({ counts: { files: 1, orders: 3 } });
    const amounts = (await shop.sandbox.referrals()).map(({ order_revenue }) => Number(order_revenue));
    expect(amounts.toSorted((a, b) => a - b)).toEqual([0.5, 1.01, 2.02]);
    expect(repeated(await shop.posted())).toEqual([]);
    expect((await shop.run()).finished).toMatchObject({ counts: { files: 0 } });
  });

  it('keeps what was read before in effect if the reading fails', async () => {
    const shop = await openWorkshop({ flow: FLOW('').replace('generic', 'mine') });
    mkdirSync(join(shop.folder, 'layouts'));
    const layout = readFileSync(new URL('../../config/layouts/generic.yaml', import.meta.url), 'utf8');
    shop.write('layouts/mine.yaml', layout);
    shop.drop('orders.csv', toCsv(manyRows(3)));
    expect(await shop.run('--limit', '1')).toMatchObject({ exitCode: 0 });
    shop.write('layouts/mine.yaml', layout.replace('total: [order_revenue]', 'total: [not_there]'));
    expect(await shop.cli('files', 'reread', 'orders.csv')).toMatchObject({ exitCode: 0 });
    expect(await shop.run('--limit', '1')).toMatchObject({
      exitCode: 3,
      finished: { counts: { orders: 3 } },
    });
    shop.write('layouts/mine.yaml', layout);
    expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { counts: { files: 1, orders: 3 } } });
    expect(repeated(await shop.posted())).toEqual([]);
    expect(await shop.posted()).toHaveLength(3);
  });
});
