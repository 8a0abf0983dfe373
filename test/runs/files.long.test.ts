import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startRawServer } from '../service/raw-server.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { HEADER, manyRows, openWorkshop, readRun, repeated, toCsv, type Workshop } from './workshop.ts';

const BUCKET = 'acme-exports';

const S3_FLOW = `
sources:
  shop: {uri: "s3://${BUCKET}/orders/", layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam, force_path_style: true}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`;

async function openS3Workshop(flow = S3_FLOW): Promise<{ shop: Workshop; s3: S3Server }> {
  const s3 = await startS3Server();
  onTestFinished(() => s3.close());
  return { s3, shop: await openWorkshop({ flow, env: s3.env }) };
}

async function filesOf(
  shop: Workshop,
): Promise<{ state: string; code: string | null; transient: boolean }[]> {
  const { rows } = await sql<{ state: string; code: string | null; transient: boolean }>`
    select state, hold_code as code, hold_is_transient as transient from intake.source_files order by source_file_id`.execute(
    shop.db,
  );
  return rows;
}

describe('a file that no source reads', () => {
  it('is named by each run, which needs correction if the file fits a source, until uri or exclude names it', async () => {
    const flow = S3_FLOW.replace('orders/"', 'orders/shop-*.csv"');
    const { shop, s3 } = await openS3Workshop(flow);
    s3.put(BUCKET, 'orders/shop-1.csv', toCsv([{ id: 'o1' }]));
    s3.put(BUCKET, 'orders/winkel-2.csv', toCsv([{ id: 'o2' }]));
    s3.put(BUCKET, 'orders/stock.csv', 'Sku,Left\n1,2\n');
    s3.put(BUCKET, 'orders/older/shop-0.csv', toCsv([{ id: 'o0' }]));
    const first = await shop.cli('run', 'orders');
    expect(first.exitCode).toBe(3);
    expect(first.stderr).toContain(
      'No source reads winkel-2.csv, although it has the columns of this source',
    );
    expect(first.stderr).toContain('No source reads stock.csv, in the same folder');
    expect(first.stderr).not.toContain('shop-0.csv');
    expect((await shop.cli('doctor')).stdout).toContain('No source reads winkel-2.csv');
    // A year has a folder; similar names are opened first; and what is not looked into may be an export.
    s3.put(BUCKET, 'orders/2026/shop-3.csv', toCsv([{ id: 'o3' }]));
    s3.put(BUCKET, 'orders/shop-4.zip', 'PK');
    s3.put(BUCKET, 'orders/MyShop_5.csv', toCsv([{ id: 'o5' }]));
    for (let at = 0; at < 20; at += 1) s3.put(BUCKET, `orders/a${at}.csv`, 'Sku,Left\n1,2\n');
    const said = (await shop.cli('status')).stdout.replaceAll(/\s+/g, ' ');
    expect(said).toContain('No source reads MyShop_5.csv, shop-3.csv, winkel-2.csv, although they have');
    expect(said).toMatch(/reads shop-4\.zip, a[^:]*, and these 6 were not looked into/);
    const added = ['2026/shop-3.csv', 'shop-4.zip', 'MyShop_5.csv'];
    for (let at = 0; at < 20; at += 1) added.push(`a${at}.csv`);
    for (const name of added) s3.objects(BUCKET).delete(`orders/${name}`);
    const path = join(shop.folder, 'pipeline.yaml');
    writeFileSync(path, readFileSync(path, 'utf8').replace('shop-*', '{shop,winkel}-*'));
    expect(await shop.run()).toMatchObject({ exitCode: 0 });
    expect(await shop.posted()).toEqual(['o1', 'o2']);
    // What cannot be read now may be an export, too.
    s3.put(BUCKET, 'orders/late.csv', toCsv([{ id: 'o6' }]));
    const denied = { kind: 'error', status: 403, code: 'AccessDenied', times: 100 } as const;
    s3.fail({ operation: 'GetObject', key: 'orders/late.csv', ...denied });
    const unreadable = await shop.cli('run', 'orders');
    expect(unreadable.exitCode).toBe(3);
    expect(unreadable.stderr).toContain('No source reads late.csv, and it was not looked into');
  });
});

describe('a table beside the orders that no source reads', () => {
  async function openBeside(layout = 'generic'): Promise<Workshop> {
    const shop = await openWorkshop({
      flow: `
sources:
  shop: {uri: "./exports/orders*.csv", layout: ${layout}, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`,
    });
    shop.drop('orders.csv', toCsv([{ id: 'R-1001' }, { id: 'R-1002' }]));
    return shop;
  }

  it.each([
    ['has the id of orders by its name in the layout', 'tabelle.csv', 'Order-ID,Betrag\nR-9,5.00\n'],
    ['is named after refunds', 'refunds.csv', 'Ref,Amount\nx,5.00\n'],
    ['is named after cancellations', 'cancellations-2026.csv', 'Ref\nx\n'],
  ])('needs a decision if it %s', async (_what, name, content) => {
    const shop = await openBeside();
    shop.drop(name, content);
    const run = await shop.cli('run', 'orders');
    expect(run.exitCode).toBe(3);
    expect(run.stderr).toContain(`No source reads ${name}, although it may be about orders of this source`);
    expect(await shop.posted()).toEqual(['R-1001', 'R-1002']);
  });

  it('needs a decision if its cells are ids of known orders, and run, plan, status and doctor say so', async () => {
    const shop = await openBeside();
    expect(await shop.run()).toMatchObject({ exitCode: 0 });
    shop.drop('tabelle.csv', 'Vorgang,Betrag\nR-1001,5.00\n,\n');
    const said = 'No source reads tabelle.csv, although it may be about orders of this source';
    for (const command of ['run', 'plan']) {
      const { exitCode, stderr } = await shop.cli(command, 'orders');
      expect({ command, exitCode }).toEqual({ command, exitCode: 3 });
      expect(stderr).toContain(said);
    }
    for (const command of ['status', 'doctor'])
      expect((await shop.cli(command)).stdout.replaceAll(/\s+/g, ' ')).toContain(said);
  });

  it.each([
    ['products', 'Id,Name,Price\n1,Lipstick,12.00\n2,Cream,20.00\n'],
    ['payouts', 'Payout,Amount\nP-7001,812.30\n'],
  ])('is only named if it has %s', async (name, content) => {
    const shop = await openBeside();
    shop.drop(`${name}.csv`, content);
    const run = await shop.cli('run', 'orders');
    expect(run.exitCode).toBe(0);
    expect(run.stderr).toContain(`No source reads ${name}.csv, in the same folder.`);
  });
});

describe('an untrustworthy file', () => {
  it('that is a truncated gzip is held and not counted, and is read after its correction', async () => {
    const shop = await openWorkshop();
    const whole = gzipSync(toCsv(manyRows(5_000)));
    shop.drop('orders.csv.gz', whole.subarray(0, whole.length - 200));
    const held = await shop.run('--limit', '2');
    expect(held).toMatchObject({
      exitCode: 3,
      finished: { status: 'issues', counts: { files: 0, rows: 0, orders: 0 } },
    });
    expect(await shop.posted()).toEqual([]);
    // The file has not changed: it is not read again, but it is still reported.
    expect(await shop.run()).toMatchObject({ exitCode: 3 });
    shop.drop('orders.csv.gz', whole);
    expect(await shop.run('--limit', '2')).toMatchObject({
      exitCode: 0,
      finished: { status: 'ok', counts: { files: 1, rows: 5_000, orders: 5_000, entries: { accepted: 2 } } },
    });
  });

  it('with the header of another layout is held, and the message names that layout', async () => {
    const shop = await openWorkshop();
    copyFileSync(
      new URL('../fixtures/orders/shopify-orders.csv', import.meta.url),
      join(shop.folder, 'exports', 'orders.csv'),
    );
    const { exitCode, stdout } = await shop.cli('run', 'orders');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('shopify-orders');
    expect((await filesOf(shop))[0]?.state).toBe('held');
    expect(await shop.posted()).toEqual([]);
  });

  it('with an unclosed quote is held as a whole, including the rows before the quote', async () => {
    const shop = await openWorkshop();
    shop.drop(
      'orders.csv',
      `${toCsv(manyRows(10))}o11,"10.00,EUR,MIA10,2026-04-10T11:11:26Z,paid\n${'o12,1\n'.repeat(300_000)}`,
    );
    const { exitCode, finished } = await shop.run();
    expect(exitCode).toBe(3);
    expect(finished?.counts.entries.accepted).toBe(0);
    expect((await filesOf(shop)).map(({ state }) => state)).toEqual(['held']);
    expect(await shop.posted()).toEqual([]);
  });

  it('that is empty or has only a header causes no crash, and the other files are read', async () => {
    const shop = await openWorkshop();
    shop.drop('1-empty.csv', '');
    shop.drop('2-header.csv', `${HEADER}\n`);
    shop.drop('3-orders.csv', toCsv(manyRows(2)));
    const { finished, stderr, stdout } = await shop.run();
    expect(stdout + stderr).not.toContain('This is a bug');
    expect(finished).toMatchObject({ counts: { rows: 2, orders: 2, entries: { accepted: 2 } } });
    const [empty, header, orders] = await filesOf(shop);
    expect(empty?.state).toBe('held');
    expect(header?.state).toBe('sealed');
    expect(orders?.state).toBe('sealed');
  });

  it('stays reported after its deletion until a file of the same name is read, even one with a header only', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv(manyRows(1)));
    shop.drop('bad.csv', 'nothing,of,this\n1,2,3\n');
    expect(await shop.run()).toMatchObject({ exitCode: 3 });
    rmSync(join(shop.folder, 'exports', 'bad.csv'));
    expect(await shop.run()).toMatchObject({ exitCode: 3 });
    shop.drop('bad.csv', `${HEADER}\n`);
    expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { status: 'ok' } });
  });

  it('with mostly bad rows is held, because it is probably the wrong file', async () => {
    const shop = await openWorkshop();
    shop.drop(
      'orders.csv',
      toCsv(manyRows(100).map((row, index) => (index < 60 ? { ...row, revenue: 'x' } : row))),
    );
    expect(await shop.run()).toMatchObject({
      exitCode: 3,
      finished: { counts: { orders: 0, entries: { accepted: 0 } } },
    });
    expect((await filesOf(shop))[0]).toMatchObject({ state: 'held', transient: false });
  });
});

describe('the configured encoding of a source', () => {
  it.each([
    ['utf-16le', true],
    ['utf-16be', true],
    ['windows-1252', false],
  ] as const)('%s is decoded without loss', async (encoding, addBOM) => {
    const shop = await openWorkshop({
      flow: `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam, encoding: ${encoding}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`,
    });
    const text =
      'order_id,order_name,order_revenue,currency,discount_codes\nZoë-1,Größe “12” €,12.50,EUR,MIA10\n';
    shop.drop('orders.csv', iconv.encode(text, encoding, { addBOM }));
    expect(await shop.run()).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 1 } } },
    });
    expect(await shop.posted()).toEqual(['Zoë-1']);
    expect((await shop.cli('explain', 'order', 'Zoë-1')).stdout).toContain('Größe “12” €');
  });

  it('is checked: a file with another encoding is held with a message about encodings', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', iconv.encode(toCsv([{ id: 'Zoë-1' }]), 'windows-1252'));
    const { exitCode, stdout } = await shop.cli('run', 'orders');
    expect(exitCode).toBe(3);
    expect(stdout).toMatch(/encoding/i);
    expect(await shop.posted()).toEqual([]);
  });
});

describe('exports in S3', () => {
  it('can have any key, also one that is not valid in a URL', async () => {
    const { shop, s3 } = await openS3Workshop();
    s3.put(BUCKET, 'orders/sale 50%.csv', toCsv([{ id: 'o1' }]));
    const result = await shop.run();
    expect(result, result.stderr).toMatchObject({ exitCode: 0 });
    expect((await shop.cli('doctor')).stdout).toContain('sale 50%.csv');
    expect(await shop.posted()).toEqual(['o1']);
  });

  it('are read with the configuration that ships with the project', async () => {
    const { shop, s3 } = await openS3Workshop();
    // The environment sets the address of S3, as for a gateway; the configuration is the shipped one.
    const config = join(shop.folder, 'config');
    mkdirSync(join(config, 'layouts'), { recursive: true });
    for (const name of ['pipeline.yaml', 'codes.csv'])
      copyFileSync(new URL(`../../config/${name}`, import.meta.url), join(config, name));
    const header =
      'Name,Financial Status,Currency,Subtotal,Total,Discount Code,Created at,Id,Cancelled at,Payment Method,Refunded Amount,Source\n';
    s3.put(
      BUCKET,
      'orders/2026-04.csv',
      `${header}#1,paid,EUR,10.00,12.00,NOBODYS,2026-04-10 11:11:26 +0200,5000001,,,0.00,web\n`,
    );
    s3.put(BUCKET, 'customers/2026-04.csv', 'Email\n');
    const ended = readRun(
      await shop.cli('run', 'attribute-orders', '--json', '--config', join(config, 'pipeline.yaml')),
    );
    expect(ended.finished, ended.stderr).toMatchObject({
      job: 'attribute-orders',
      counts: { files: 1, rows: 1, orders: 1, unattributed: 1 },
    });
    expect(s3.requests.filter(({ key }) => key.startsWith('customers/'))).toEqual([]);
  });

  it('are all found among a thousand objects, and unchanged ones are not read again', async () => {
    const { shop, s3 } = await openS3Workshop();
    // Reading a file takes longer than listing it, so most objects are markers. The last page of the listing
    // also contains exports.
    const objects = 55;
    for (let index = 1; index <= objects * 20; index += 1) {
      const name = `orders/${String(index).padStart(5, '0')}`;
      if (index % 20 === 7) s3.put(BUCKET, `${name}.csv`, toCsv([{ id: `o${index}`, code: '' }]));
      else s3.put(BUCKET, `${name}/_SUCCESS`, 'done');
    }
    const gets = () => s3.requests.filter(({ operation }) => operation === 'GetObject').length;
    expect((await shop.run()).finished).toMatchObject({
      counts: { files: objects, orders: objects, organic: objects },
    });
    expect(gets()).toBe(objects);
    expect(
      s3.requests.filter(({ operation }) => operation === 'ListObjectsV2').length,
    ).toBeGreaterThanOrEqual(2);
    s3.put(BUCKET, 'orders/00007.csv', toCsv([{ id: 'o7', code: 'MIA10' }]));
    expect((await shop.run()).finished).toMatchObject({
      counts: { files: 1, orders: objects, organic: objects - 1, entries: { accepted: 1 } },
    });
    expect(gets()).toBe(objects + 1);
  });

  it('are held for now when replaced during a read, and the next run reads them whole', async () => {
    const { shop, s3 } = await openS3Workshop();
    const [before, after] = [manyRows(6_000), manyRows(6_000).map((row) => ({ ...row, revenue: '5.00' }))];
    s3.put(BUCKET, 'orders/a.csv', toCsv(before));
    s3.fail({
      operation: 'GetObject',
      kind: 'meanwhile',
      afterBytes: 150_000,
      act: () => void s3.put(BUCKET, 'orders/a.csv', toCsv(after)),
      thenCut: true,
    });
    const first = await shop.run('--limit', '1');
    expect(first.exitCode).toBe(3);
    expect(first.finished).toMatchObject({ counts: { files: 0, orders: 0, entries: { accepted: 0 } } });
    expect((await filesOf(shop))[0]).toMatchObject({ state: 'held', transient: true });
    expect(await shop.posted()).toEqual([]);

    const second = await shop.run('--limit', '1');
    expect(second.finished).toMatchObject({ counts: { files: 1, rows: 6_000, entries: { accepted: 1 } } });
    expect((await shop.sandbox.referrals()).map(({ order_revenue }) => String(order_revenue))).toEqual(['5']);
    // A file that was deleted cannot be read, but it must not make every later run fail.
    expect((await shop.run('--limit', '1')).exitCode).toBe(0);
  });

  it('are resumed when their connection is cut, without changed or lost orders', async () => {
    const { shop, s3 } = await openS3Workshop();
    s3.put(BUCKET, 'orders/a.csv', toCsv(manyRows(6_000)));
    s3.fail({ operation: 'GetObject', kind: 'cut', afterBytes: 150_000, times: 2 });
    expect((await shop.run('--limit', '1')).finished).toMatchObject({
      counts: { files: 1, rows: 6_000, orders: 6_000, rejected_rows: 0 },
    });
    expect(s3.requests.filter(({ range }) => range !== null).length).toBeGreaterThan(0);
  });

  it('that are unreachable make the run exit with 1 or 2 and name the bucket', async () => {
    const { shop, s3 } = await openS3Workshop();
    await s3.close();
    const { exitCode, stderr } = await shop.run();
    expect([1, 2]).toContain(exitCode);
    expect(stderr).not.toContain('This is a bug');
    expect(stderr).toContain(BUCKET);
  });
});

describe('a folder', () => {
  it('keeps the orders of a removed file, and the other files are read', async () => {
    const shop = await openWorkshop();
    shop.drop('1.csv', toCsv(manyRows(3, 'a')));
    shop.drop('2.csv', toCsv(manyRows(3, 'b')));
    await shop.run('--limit', '1');
    rmSync(join(shop.folder, 'exports', '1.csv'));
    expect((await shop.run()).finished).toMatchObject({
      counts: { orders: 6, entries: { accepted: 5, already: 1 } },
    });
    expect(repeated(await shop.posted())).toEqual([]);
  });
});

it('status comes at once beside a store that does not answer, names it, and finds what is beside other files', async () => {
  const store = await startRawServer({});
  const shop = await openWorkshop({
    flow: `
sources:
  away: {uri: 's3://exports/orders-*.csv', endpoint: '${store.url}', layout: generic, order_platform: shopify, time_zone: UTC}
  shop: {uri: './exports/orders-*.csv', layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: [away, shop], brand_id: 4819, codes: ./codes.csv, revenue: total}
`,
    env: { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-central-1' },
  });
  shop.drop('sales.csv', toCsv([{ id: '1' }]));
  await shop.cli('migrate');
  // The process ends, too, while the store still holds its connection.
  const { stdout, exitCode } = await shop.start('status').ended;
  expect(exitCode).toBe(0);
  expect(stdout.replace(/\s+/g, ' ')).toMatch(
    /orders: has not run yet.*No source reads sales\.csv, although it has the columns.*s3:\/\/exports\/orders-\*\.csv did not answer in time\./,
  );
  const told = await shop.cli('status', '--json');
  expect(told.stdout).toContain('"unanswered":["away"]');
}, 40_000);
