import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { jobKinds, loadConfig } from '../../jobs/index.ts';
import { openLineage } from '../../src/cli/open/open-lineage.ts';
import type { ViewLineage } from '../../src/observe/lineage/view-lineage.ts';
import { startReceiver } from '../notify/receivers.ts';
import { openWorkshop, toCsv } from '../pipeline/workshop.ts';
import { replaceEnvironment } from '../support/environment.ts';
import { findFreePort } from '../support/free-port.ts';
import { makeTestFolder, setup } from '../support/setup.ts';
import { LINEAGE_FILE } from '../support/view-lineage.ts';
import { type RunEvent, runEvent } from './lineage-schema.ts';

const ADDRESS = 'jane.doe@customer.example';
const API_KEY = 'the-key-of-the-receiver';

const LINEAGE = JSON.parse(readFileSync(LINEAGE_FILE, 'utf8')) as Record<string, ViewLineage>;

/** Views that no job kind feeds: every run feeds the first ones, commands the others. */
const OF_RUNS = ['bi.runs', 'bi.run_amounts', 'bi.run_health'];
const OF_COMMANDS = ['bi.statements', 'bi.statement_deals', 'bi.statement_lines'];

it('a run sends START and COMPLETE or FAIL with its inputs and outputs, and without orders, personal data and secrets', async () => {
  const receiver = await startReceiver();
  const shop = await openWorkshop({
    env: {
      OPENLINEAGE_URL: `${receiver.url}/`,
      OPENLINEAGE_API_KEY: API_KEY,
      OPENLINEAGE_NAMESPACE: 'shop-eu',
    },
  });
  const events = (): readonly RunEvent[] => receiver.received.map(({ json }) => runEvent.parse(json));
  shop.drop('export-of-jane.doe.csv', toCsv([{ id: 'order-of-jane' }, { id: ADDRESS }]));
  // The row without a valid id needs an operator, but the run is complete.
  expect((await shop.run()).exitCode).toBe(3);

  const [start, complete, ...more] = events();
  if (start === undefined || complete === undefined) throw new Error('two events were expected');
  expect(more).toEqual([]);
  expect([start.eventType, complete.eventType]).toEqual(['START', 'COMPLETE']);
  expect(receiver.received.map(({ path }) => path)).toEqual(['/api/v1/lineage', '/api/v1/lineage']);
  expect(receiver.received[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`);
  expect(complete.run.runId).toBe(start.run.runId);
  expect(complete.run.facets.tags.tags).toMatchObject([{ key: 'run_id', value: '1' }]);
  expect(complete.job).toMatchObject({ namespace: 'shop-eu', name: 'orders' });
  expect(complete.inputs).toEqual([
    { namespace: 'file', name: join(shop.folder, 'exports') },
    { namespace: 'file', name: join(shop.folder, 'codes.csv') },
  ]);

  const { hostname, port, pathname } = new URL(shop.databaseUrl);
  const namespace = `postgres://${hostname}:${port || '5432'}`;
  const nameOf = (relation: string): string => `${pathname.slice(1)}.${relation}`;
  expect(complete.outputs.map(({ name }) => name)).toContain(nameOf('ledger.entries'));
  expect(start.outputs.every(({ facets }) => facets === undefined)).toBe(true);
  const view = complete.outputs.find(({ name }) => name === nameOf('bi.orders_attributed'));
  expect(view?.namespace).toBe(namespace);
  expect(view?.facets?.columnLineage.fields.order_name).toEqual({
    inputFields: [
      {
        namespace,
        name: nameOf('intake.orders'),
        field: 'order_name',
        transformations: [{ type: 'DIRECT', subtype: 'IDENTITY' }],
      },
    ],
  });

  receiver.received.length = 0;
  shop.env.INFLUENCER_API_KEY = 'not-the-key-of-the-account';
  expect((await shop.run()).exitCode).not.toBe(0);
  expect(events().map(({ eventType }) => eventType)).toEqual(['START', 'FAIL']);
  expect(events()[1]?.run.facets.errorMessage?.message).toMatch(/^The run failed: [a-z_]+$/);

  const sent = JSON.stringify(receiver.received.map(({ body }) => body));
  const { password } = new URL(shop.databaseUrl);
  const secrets = [shop.sandbox.key, shop.env.INFLUENCER_API_KEY, API_KEY, password];
  for (const never of [ADDRESS, 'jane.doe', 'order-of-jane', 'MIA10', ...secrets])
    if (never !== '') expect(sent).not.toContain(never);

  receiver.received.length = 0;
  await shop.cli('plan', 'orders');
  shop.env.OPENLINEAGE_DISABLED = 'true';
  await shop.run();
  expect(receiver.received).toEqual([]);
});

it('a backfill sends its inputs: exports, codes, and the terms and exchange rates used for returns', async () => {
  const receiver = await startReceiver();
  const shop = await openWorkshop({
    env: { OPENLINEAGE_URL: receiver.url },
    flow: `statements: {terms: ./terms.csv, reporting_currency: EUR, fx: ./fx.csv, time_zone: UTC}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, start_date: '2026-06-01'}
`,
  });
  shop.write('terms.csv', 'code,commission_percent\nMIA10,10\n');
  shop.write('fx.csv', 'date,currency,rate\n2026-04-01,USD,0.9\n');
  shop.drop('export.csv', toCsv([{ id: 'o1' }]));
  const backfill = (...more: string[]) =>
    shop.cli('backfill', 'orders', '--from', '2026-04-01', '--to', '2026-04-30', ...more);
  expect((await backfill('--plan')).exitCode).toBe(0);
  expect(receiver.received).toEqual([]);
  const key = shop.env.INFLUENCER_API_KEY ?? '';
  shop.env.INFLUENCER_API_KEY = 'another-key';
  expect((await backfill('--yes')).exitCode).toBe(4);
  shop.env.INFLUENCER_API_KEY = key;
  expect((await backfill('--yes')).exitCode).toBe(0);
  expect(await shop.posted()).toEqual(['o1']);

  const events = receiver.received.map(({ json }) => runEvent.parse(json));
  expect(events.map(({ eventType }) => eventType)).toEqual(['START', 'FAIL', 'START', 'COMPLETE']);
  for (const { job, inputs } of events) {
    expect(job).toMatchObject({ name: 'backfill:orders', facets: { jobType: { jobType: 'backfill' } } });
    expect(inputs).toEqual(
      ['exports', 'codes.csv', 'terms.csv', 'fx.csv'].map((name) => ({
        namespace: 'file',
        name: join(shop.folder, name),
      })),
    );
  }
  expect(events[1]?.run.facets.errorMessage?.message).toBe('The run failed: key_refused');
  expect(events[3]?.outputs.some(({ name }) => name.endsWith('.bi.returns_monthly'))).toBe(true);
});

it('an interrupted backfill sends ABORT', async () => {
  const receiver = await startReceiver();
  const { lineage, job } = await openAt(receiver.url, {});
  const as = { job: 'backfill:orders', kind: 'backfill' };
  lineage.runBegun(job, '1', as)({ status: 'interrupted', problem: 'exit_code_130' });
  await lineage.end();
  const events = receiver.received.map(({ json }) => runEvent.parse(json));
  expect(events.map(({ eventType, job: { name } }) => `${eventType} ${name}`)).toEqual([
    'START backfill:orders',
    'ABORT backfill:orders',
  ]);
});

it.each(['refuses', 'redirects', 'never answers'])(
  'a receiver that %s fails no run, delays it by two seconds at most, and causes one warning without its address',
  async (how) => {
    const silent = createServer((_, reply) => {
      if (how === 'redirects') reply.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    });
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const port = how === 'refuses' ? await findFreePort() : (silent.address() as AddressInfo).port;
    const warnings: string[] = [];
    const { lineage, job } = await openAt(`http://127.0.0.1:${port}/secret`, {
      warn: (line) => warnings.push(line),
    });
    const begunAt = performance.now();
    for (const runId of ['1', '2']) lineage.runBegun(job, runId)({ status: 'ok', problem: null });
    expect(performance.now() - begunAt).toBeLessThan(500);
    await lineage.end();
    // Two seconds, plus the delay of a busy machine.
    expect(performance.now() - begunAt).toBeLessThan(3_000);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/does not accept events: (no answer|HTTP 302)\. Runs continue/);
    expect(warnings[0]).not.toMatch(/secret|127\.0\.0\.1/);
  },
);

it('a run posts its orders even if the receiver is unreachable', async () => {
  const shop = await openWorkshop({ env: { OPENLINEAGE_URL: `http://127.0.0.1:${await findFreePort()}` } });
  shop.drop('export.csv', toCsv([{ id: 'o1' }]));
  const { exitCode, stderr } = await shop.run();
  expect(exitCode).toBe(0);
  expect(await shop.posted()).toEqual(['o1']);
  expect(stderr.match(/The receiver of lineage/g)).toHaveLength(1);
});

it.each([
  ['s3://exports/shop/orders/', 's3://exports', 'shop/orders'],
  ['s3://exports/shop/2026-*.csv.gz', 's3://exports', 'shop'],
  ['s3://exports', 's3://exports', '/'],
  ['s3://exports/*.csv', 's3://exports', '/'],
  ['/srv/exports/', 'file', '/srv/exports'],
  ['/srv/exports/**/orders-*.csv', 'file', '/srv/exports'],
])('the files of %s are the dataset %s %s', async (uri, namespace, name) => {
  const receiver = await startReceiver();
  const { lineage, job } = await openAt(receiver.url, { uri });
  lineage.runBegun(job, '1');
  await lineage.end();
  const event = runEvent.parse(receiver.received[0]?.json);
  expect(event.inputs[0]).toEqual({ namespace, name });
  expect(event.outputs[0]?.namespace).toBe('file');
});

it('every bi view is fed by a job kind, by all runs or by commands, and every view that a job kind names exists', () => {
  const fed = jobKinds.flatMap(({ fills }) => fills.filter((name) => name.startsWith('bi.')));
  expect([...new Set([...fed, ...OF_RUNS, ...OF_COMMANDS])].toSorted()).toEqual(Object.keys(LINEAGE));
});

it('sql/lineage.json covers every bi column and names only columns that the view depends on', async () => {
  const { db } = await setup();
  const { rows } = await sql<{ view: string; column: string }>`
    select distinct format('%s.%s', view_schema, view_name) as view,
      format('%s.%s.%s', table_schema, table_name, column_name) as column
    from information_schema.view_column_usage where view_schema = 'bi'`.execute(db);
  const depends = new Set(rows.map(({ view, column }) => `${view} ${column}`));
  const described = Object.entries(LINEAGE).flatMap(([view, { columns, rows: deciding }]) =>
    [...Object.values(columns).flatMap(({ from }) => from), ...deciding].map((column) => `${view} ${column}`),
  );
  expect(described.filter((one) => !depends.has(one))).toEqual([]);
  const { rows: all } = await sql<{ name: string }>`
    select format('%s.%s.%s', table_schema, table_name, column_name) as name
    from information_schema.columns where table_schema = 'bi'`.execute(db);
  const columns = Object.entries(LINEAGE).flatMap(([view, { columns: of }]) =>
    Object.keys(of).map((column) => `${view}.${column}`),
  );
  expect(columns.toSorted()).toEqual(all.map(({ name }) => name).toSorted());
});

/** Opens lineage as a command does, with the embedded database and one job. */
async function openAt(
  url: string,
  { uri = './exports/', warn = () => {} }: { readonly uri?: string; readonly warn?: (line: string) => void },
) {
  const path = join(makeTestFolder(), 'pipeline.yaml');
  const source = `{uri: "${uri}", layout: generic, order_platform: shopify, time_zone: UTC}`;
  writeFileSync(
    path,
    `openlineage: {url: "${url}"}\nsources: {shop: ${source}}\njobs:\n  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}\n`,
  );
  writeFileSync(path.replace('pipeline.yaml', 'codes.csv'), 'code,brand_id,influencer_handle,deal_id\n');
  const config = loadConfig(path, {});
  const restore = replaceEnvironment({});
  const lineage = await openLineage(config, { warn }).finally(restore);
  const job = config.jobs.orders;
  if (lineage === null || job === undefined) throw new Error('nothing is opened');
  return { lineage, job };
}
