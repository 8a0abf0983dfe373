import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { manyRows, toCsv } from '../pipeline/workshop.ts';
import { findFreePort } from '../support/free-port.ts';
import type { CliProcess } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Drill, JOB, openDrill } from './drill.ts';

// Each test is a handful of processes; a machine may be busy.
vi.setConfig({ testTimeout: 180_000 });

/** Half an hour from any slot, so that none comes while a test runs. */
const MINUTE = (new Date().getUTCMinutes() + 30) % 60;

const FLOW = `
serve: {port: 0}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {${JOB}, schedule: "${MINUTE} * * * *"}
`;

/** A machine that is busy must not lose a lease. */
const API = 'lease_seconds: 60\ntimeout_seconds: 2';

async function serve({ shop }: Drill): Promise<CliProcess & { readonly url: string }> {
  const started = shop.start('serve', '--json');
  await waitFor(() => started.stdout().includes('"listening"'));
  const { url } = JSON.parse(started.stdout().split('\n')[0] ?? '') as { url: string };
  return { ...started, url };
}

/** The schedule was looked at last so many hours ago, as if the process had been down since. */
async function lookedAt({ shop }: Drill, hoursAgo: number): Promise<void> {
  await sql`
    insert into ops.schedules (job, looked_until) values ('orders', clock_timestamp() - ${hoursAgo} * interval '1 hour')`.execute(
    shop.db,
  );
}

it('two processes that serve tell once that runs were missed, and once that the job has run since', async () => {
  const drill = await openDrill({ flow: FLOW, api: API });
  drill.shop.drop('orders.csv', toCsv(manyRows(3)));
  await lookedAt(drill, 3);
  const servers = [await serve(drill), await serve(drill)];
  await waitFor(() => drill.told().length >= 2);
  expect(drill.told()).toEqual(['opened job_missed orders', 'resolved job_missed orders']);
  expect(drill.receiver.received[0]?.json).toMatchObject({
    severity: 'error',
    summary: '2 slots of orders came due while no process ran, and were not caught up.',
    command: 'npx influencer-sync run orders',
  });
  for (const server of servers) server.kill('SIGTERM');
  for (const server of servers) expect((await server.ended).exitCode).toBe(0);
  // The last look at the end has found nothing new.
  expect(drill.told()).toHaveLength(2);
});

it('serve tells of a job that fails, counts it in /metrics, and goes on with a channel that is dead', async () => {
  const drill = await openDrill({ flow: FLOW, api: API });
  drill.receiver.answer(500);
  await lookedAt(drill, 1);
  const server = await serve(drill);
  await waitFor(() => drill.told().length >= 1);
  expect(drill.told()).toEqual(['opened job_failed orders']);
  const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
  await waitFor(async () => (await metrics()).includes('influencer_sync_problems_open'));
  await waitFor(async () =>
    (await metrics()).includes('influencer_sync_notice_deliveries{channel="ops",state="pending"} 1'),
  );
  expect(await metrics()).toContain(
    'influencer_sync_problems_open{kind="job_failed",job="orders",severity="error"} 1',
  );
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  server.kill('SIGTERM');
  expect((await server.ended).exitCode).toBe(0);
});

it('a slot that no process begins is late, until one does', async () => {
  const drill = await openDrill({ flow: FLOW });
  drill.shop.drop('orders.csv', toCsv(manyRows(3)));
  expect((await drill.shop.run()).exitCode).toBe(0);
  await sql`insert into ops.slots (job, slot, state) values ('orders', clock_timestamp() - interval '1 hour', 'due')`.execute(
    drill.shop.db,
  );
  expect((await drill.shop.run()).exitCode).toBe(0);
  // It has only just been noted.
  expect(drill.told()).toEqual([]);
  await sql`update ops.slots set created_at = created_at - interval '6 minutes'`.execute(drill.shop.db);
  for (let round = 0; round < 2; round += 1) expect((await drill.shop.run()).exitCode).toBe(0);
  expect(drill.told()).toEqual(['opened job_late orders']);
  await sql`
    update ops.slots set state = 'skipped', reason = 'the job is paused', settled_at = clock_timestamp()`.execute(
    drill.shop.db,
  );
  expect((await drill.shop.run()).exitCode).toBe(0);
  expect(drill.told()).toEqual(['opened job_late orders', 'resolved job_late orders']);
});

const PING =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what pipeline.yaml says
  'notify: {channels: {alive: {kind: ping, url: "${NOTICE_URL}/{job}?rid=1"}}}\n';

it('a dead-man’s switch hears that runs begin and how they end; one that is dead fails no run', async () => {
  const drill = await openDrill({ notify: PING });
  const { shop, receiver } = drill;
  const paths = () => receiver.received.map(({ path }) => path);
  expect((await shop.run()).exitCode).toBe(2);
  expect(paths()).toEqual(['/ops/orders/start?rid=1', '/ops/orders/2?rid=1']);
  shop.drop('orders.csv', toCsv(manyRows(2)));
  expect((await shop.run()).exitCode).toBe(0);
  expect(paths().slice(2)).toEqual(['/ops/orders/start?rid=1', '/ops/orders?rid=1']);
  expect((await shop.cli('notify', 'test')).exitCode).toBe(0);
  expect(paths().at(-1)).toBe('/ops/test/log?rid=1');
  expect((await shop.cli('plan', 'orders')).exitCode).toBe(0);
  expect(paths()).toHaveLength(5);
  shop.env.NOTICE_URL = `http://127.0.0.1:${await findFreePort()}`;
  expect((await shop.run()).exitCode).toBe(0);
});

it('serve pings as well', async () => {
  const drill = await openDrill({ flow: FLOW, notify: PING });
  drill.shop.drop('orders.csv', toCsv(manyRows(2)));
  await lookedAt(drill, 1);
  const server = await serve(drill);
  await waitFor(() => drill.receiver.received.length >= 2);
  expect(drill.receiver.received.map(({ path }) => path)).toEqual([
    '/ops/orders/start?rid=1',
    '/ops/orders?rid=1',
  ]);
  server.kill('SIGTERM');
  expect((await server.ended).exitCode).toBe(0);
});
