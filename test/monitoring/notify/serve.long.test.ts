import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { leasesAreOver, manyRows, toCsv } from '../../runs/workshop.ts';
import { findFreePort } from '../../support/free-port.ts';
import type { CliProcess } from '../../support/run-cli.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Drill, JOB, openDrill } from './drill.ts';

/** Minute of the schedule, half an hour from now, so that no slot comes due while a test runs. */
const MINUTE = (new Date().getUTCMinutes() + 30) % 60;

const FLOW = `
serve: {port: 0}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {${JOB}, schedule: "${MINUTE} * * * *"}
`;

/** Long enough that no lease expires on a busy machine. */
const API = 'lease_seconds: 60\ntimeout_seconds: 2';

async function serve({ shop }: Drill): Promise<CliProcess & { readonly url: string }> {
  const started = shop.start('serve', '--json');
  await waitFor(() => started.stdout().includes('"listening"'));
  const { url } = JSON.parse(started.stdout().split('\n')[0] ?? '') as { url: string };
  return { ...started, url };
}

const runsOf = ({ shop }: Drill) => shop.db.selectFrom('ops.runs').select(['run_id', 'status']).execute();

const slotsOf = ({ shop }: Drill) => shop.db.selectFrom('ops.slots').select('state').execute();

/** Sets the last poll of the schedule to some hours ago, as if no process had run since. */
async function lookedAt({ shop }: Drill, hoursAgo: number, job = 'orders'): Promise<void> {
  await sql`
    insert into ops.schedules (job, looked_until) values (${job}, clock_timestamp() - ${hoursAgo} * interval '1 hour')`.execute(
    shop.db,
  );
}

it('two serve processes report missed slots once, and their resolution once', async () => {
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
  // The last observation, at shutdown, has found nothing new.
  expect(drill.told()).toHaveLength(2);
});

it('serve reports a failed job, counts it in /metrics and keeps running with a failing channel', async () => {
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

it('a slot that no process starts is reported as late until a process runs it', async () => {
  const drill = await openDrill({
    flow: FLOW.replace('schedule:', 'overlap: queue, schedule:'),
    api: 'lease_seconds: 12\ntimeout_seconds: 10',
  });
  const { shop } = drill;
  shop.drop('orders.csv', toCsv(manyRows(3)));
  await lookedAt(drill, 1);
  // An operator runs the job by hand and the service does not answer, so `serve` records the slot but cannot
  // start it.
  await shop.sandbox.setFaults([{ kind: 'stall_before', operation: 'account_hello' }]);
  const byHand = shop.start('run', 'orders');
  await waitFor(async () => (await runsOf(drill)).length === 1);
  const server = await serve(drill);
  await waitFor(async () => (await slotsOf(drill)).length === 1);
  expect(drill.told()).toEqual([]);
  server.kill('SIGKILL');
  byHand.kill('SIGKILL');
  await Promise.all([server.ended, byHand.ended]);
  await shop.sandbox.setFaults(null);
  // The clock of the database cannot be moved past the five minutes that a slot has, so move the slot.
  await sql`
    update ops.slots set created_at = created_at - interval '6 minutes', not_before = not_before - interval '6 minutes'`.execute(
    shop.db,
  );
  await leasesAreOver(shop);
  for (let round = 0; round < 2; round += 1) expect((await shop.run()).exitCode).toBe(0);
  expect(drill.told()).toEqual(['opened job_late orders']);
  const other = await serve(drill);
  await waitFor(() => drill.told().length >= 2);
  expect(drill.told()).toEqual(['opened job_late orders', 'resolved job_late orders']);
  expect(await slotsOf(drill)).toMatchObject([{ state: 'done' }]);
  other.kill('SIGTERM');
  expect((await other.ended).exitCode).toBe(0);
});

it('a hanging run is ended and reported as stalled until a run succeeds', async () => {
  const job = `{kind: mirror-account, schedule: "${MINUTE} * * * *", stall_minutes: 0.05}`;
  const flow = `serve: {port: 0, grace_seconds: 7}\nsources: {}\njobs:\n  account: ${job}\n`;
  const drill = await openDrill({ flow, api: 'lease_seconds: 60\ntimeout_seconds: 6' });
  const { shop } = drill;
  await lookedAt(drill, 1, 'account');
  await shop.sandbox.setFaults([{ kind: 'stall_before', operation: 'search_brands' }]);
  const server = await serve(drill);
  await waitFor(() => drill.told().length >= 1);
  expect(drill.told()).toEqual(['opened job_stalled account']);
  expect(drill.receiver.received[0]?.json.summary).toMatch(
    /^Run 1 of account failed with exit code 1: The run made no progress for 0\.05 minutes \(stall_minutes\)/,
  );
  await shop.sandbox.setFaults(null);
  expect((await shop.cli('run', 'account')).exitCode).toBe(0);
  expect(drill.told()).toEqual(['opened job_stalled account', 'resolved job_stalled account']);
  server.kill('SIGTERM');
  expect((await server.ended).exitCode).toBe(0);
});

it('another process resends a notice, with the same id, if the sender was killed', async () => {
  const drill = await openDrill({ flow: FLOW, api: API });
  const { shop, receiver } = drill;
  await lookedAt(drill, 1);
  receiver.answer(null);
  const servers = [await serve(drill), await serve(drill)];
  await waitFor(() => receiver.received.length === 1);
  // Either process may have claimed the delivery, and gets no answer. Kill both.
  for (const server of servers) server.kill('SIGKILL');
  await Promise.all(servers.map(({ ended }) => ended));
  receiver.answer(200);
  const third = await serve(drill);
  // The lease of a delivery lasts one minute. The clock of the database cannot be moved, so move the lease.
  await sql`update ops.notice_deliveries set leased_until = leased_until - interval '1 minute'`.execute(
    shop.db,
  );
  await waitFor(() => receiver.received.length >= 2);
  third.kill('SIGTERM');
  expect((await third.ended).exitCode).toBe(0);
  expect(drill.told()).toEqual(['opened job_failed orders', 'opened job_failed orders']);
  // It was sent again, and a receiver can tell by its id that it is the same notice.
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

it('a channel that answers after six seconds gets a notice of a command once', async () => {
  const { shop, receiver, told } = await openDrill();
  receiver.slowDown(6_000);
  for (let round = 0; round < 2; round += 1) expect((await shop.run()).exitCode).toBe(2);
  expect(told()).toEqual(['opened job_failed orders']);
  const history = await shop.cli('notify', 'history');
  expect(history.stdout).toMatch(/ops sent/);
});

const PING =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what pipeline.yaml says
  'notify: {channels: {alive: {kind: ping, url: "${NOTICE_URL}/{job}?rid=1"}}}\n';

it('a ping channel receives the start and result of each run, and an unreachable one fails no run', async () => {
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

it('serve sends pings, too', async () => {
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
