import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { countStates, manyRows, openWorkshop, repeated, toCsv, type Workshop } from '../runs/workshop.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import type { CliProcess } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';

/** Half an hour away from any slot, so that none is due while a test runs. */
const MINUTE = (new Date().getUTCMinutes() + 30) % 60;

const FLOW = `
serve: {port: 0, grace_seconds: 20}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, schedule: "${MINUTE} * * * *"}
`;
/** api.concurrency is 4, and half as many more entries may be claimed. */
const IN_FLIGHT_AT_MOST = 6;

const API = 'lease_seconds: 3\ntimeout_seconds: 2';

/** Records that the schedule was last checked this many hours ago, as if the process had been down since. */
async function lookedAt(shop: Workshop, hoursAgo: number, job = 'orders'): Promise<void> {
  await sql`
    insert into ops.schedules (job, looked_until) values (${job}, clock_timestamp() - ${hoursAgo} * interval '1 hour')
    on conflict (job) do update set looked_until = excluded.looked_until`.execute(shop.db);
}

async function slotsOf(
  shop: Workshop,
): Promise<readonly { slot: Date; state: string; attempts: number; reason: string | null }[]> {
  return shop.db
    .selectFrom('ops.slots')
    .select(['slot', 'state', 'attempts', 'reason'])
    .orderBy('slot')
    .execute();
}

/** Starts `serve` and returns its URL. */
async function serve(shop: Workshop): Promise<CliProcess & { readonly url: string }> {
  const started = shop.start('serve', '--json');
  await waitFor(() => started.stdout().includes('"listening"'));
  const { url } = JSON.parse(started.stdout().split('\n')[0] ?? '') as { url: string };
  return { ...started, url };
}

async function get(url: string): Promise<{ status: number; body: string }> {
  const answer = await fetch(url);
  return { status: answer.status, body: await answer.text() };
}

describe('serve', () => {
  it('runs the latest slot that came due while it was down, marks the others as missed, and exits with 0', async () => {
    const env = { INFLUENCER_SYNC_ADDRESS_FILE: 'address' };
    const shop = await openWorkshop({ flow: FLOW, api: API, env });
    shop.drop('orders.csv', toCsv(manyRows(30)));
    await lookedAt(shop, 3);
    const server = await serve(shop);
    // For the health check of the image.
    expect(readFileSync(join(shop.folder, 'address'), 'utf8')).toBe(server.url);
    await waitFor(async () => (await slotsOf(shop)).at(-1)?.state === 'done');
    const slots = await slotsOf(shop);
    expect(slots.map(({ state }) => state)).toEqual(['missed', 'missed', 'done']);
    expect(await countStates(shop.db)).toEqual({ accepted: 30 });
    expect((await get(`${server.url}/healthz`)).status).toBe(200);
    expect(JSON.parse((await get(`${server.url}/readyz`)).body)).toMatchObject({ ready: true });
    const { body } = await get(`${server.url}/metrics`);
    expect(body).toContain('influencer_sync_runs_total{job="orders",status="ok"} 1');
    expect(body).toContain('influencer_sync_rows_total{job="orders",outcome="read"} 30');
    expect(body).toContain('influencer_sync_slots{job="orders",state="missed"} 2');
    expect(body).toMatch(
      /^influencer_sync_request_duration_seconds_count\{.*new_influencer_referral.*2xx.*\} 30$/m,
    );
    expect(body).toMatch(/^influencer_sync_last_success_timestamp_seconds\{job="orders"\} \d+/m);
    expect(body).toMatch(/^influencer_sync_requests_in_flight 0$/m);

    const status = await shop.cli('status');
    expect(status.stdout).toMatch(/orders +\d+ \* \* \* \* +2\d{3}-.+ +2\d{3}-.+ +done/);
    expect(status.stdout).toContain('orders: 2 slots missed in the last 7 days.');
    const runs = await shop.cli('runs');
    expect(runs.stdout).toMatch(/ orders missed: no process ran at its time/);
    server.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ exitCode: 0, signal: null });
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('finishes its requests in flight on SIGTERM and exits with 0, and the next process continues the slot', async () => {
    const shop = await openWorkshop({ flow: FLOW, api: API, sandbox: { latencyMs: 40 } });
    shop.drop('orders.csv', toCsv(manyRows(120)));
    await lookedAt(shop, 1);
    const first = await serve(shop);
    await waitFor(async () => (await shop.posted()).length >= 5);
    first.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ exitCode: 0, signal: null });
    const states = await countStates(shop.db);
    expect(Object.keys(states).sort()).toEqual(['accepted', 'ready']);
    expect(states.accepted).toBe((await shop.posted()).length);
    expect(await slotsOf(shop)).toMatchObject([
      { state: 'due', attempts: 1, reason: 'The run was told to stop.' },
    ]);

    const second = await serve(shop);
    await waitFor(async () => (await slotsOf(shop)).at(-1)?.state === 'done', { timeoutMs: 60_000 });
    expect(await slotsOf(shop)).toMatchObject([{ state: 'done', attempts: 2 }]);
    expect(await countStates(shop.db)).toEqual({ accepted: 120 });
    expect(repeated(await shop.posted())).toEqual([]);
    second.kill('SIGINT');
    expect((await second.ended).exitCode).toBe(0);
  });

  it('stops at once on a second signal, with doubts only for requests in flight, and the next process continues the slot', async () => {
    const shop = await openWorkshop({ flow: FLOW, api: API });
    shop.drop('orders.csv', toCsv(manyRows(40)));
    await lookedAt(shop, 1);
    await shop.sandbox.setFaults([{ kind: 'stall_after', operation: 'new_influencer_referral', after: 3 }]);
    const first = await serve(shop);
    await waitFor(async () => (await shop.posted()).length >= 5);
    first.kill('SIGTERM');
    await waitFor(() => first.stderr().includes('stopping'));
    first.kill('SIGTERM');
    expect((await first.ended).exitCode).toBe(130);
    await shop.sandbox.setFaults(null);
    const second = await serve(shop);
    await waitFor(async () => (await slotsOf(shop)).at(-1)?.state === 'done', { timeoutMs: 60_000 });
    const { accepted = 0, in_doubt: doubts = 0, ...others } = await countStates(shop.db);
    expect(others).toEqual({});
    expect(accepted + doubts).toBe(40);
    expect(doubts).toBeGreaterThan(0);
    expect(doubts).toBeLessThanOrEqual(IN_FLIGHT_AT_MOST);
    expect(repeated(await shop.posted())).toEqual([]);
    second.kill('SIGTERM');
    await second.ended;
  });

  it('starts without a database, reports that it is not ready, and recovers from each outage', async () => {
    const shop = await openWorkshop({ flow: FLOW, api: API });
    const wire = await startDatabaseProxy(shop.databaseUrl);
    onTestFinished(() => wire.close());
    shop.env.DATABASE_URL = wire.url;
    shop.drop('orders.csv', toCsv(manyRows(10)));
    await lookedAt(shop, 1);
    wire.cut();
    const server = await serve(shop);
    await waitFor(async () => (await get(`${server.url}/readyz`)).body.includes('"code"'));
    const answer = await get(`${server.url}/readyz`);
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({ ready: false, checks: { database: { ok: false } } });
    expect((await get(`${server.url}/healthz`)).status).toBe(200);
    expect((await get(`${server.url}/metrics`)).body).toContain('influencer_sync_database_up 0');

    wire.restore();
    await waitFor(async () => (await get(`${server.url}/readyz`)).status === 200);
    await waitFor(async () => (await slotsOf(shop)).at(-1)?.state === 'done');
    wire.cut();
    await waitFor(async () => (await get(`${server.url}/readyz`)).status === 503);
    wire.restore();
    await waitFor(async () => (await get(`${server.url}/readyz`)).status === 200);
    expect(await slotsOf(shop)).toMatchObject([{ state: 'done', attempts: 1 }]);
    expect(repeated(await shop.posted())).toEqual([]);
    server.kill('SIGTERM');
    expect((await server.ended).exitCode).toBe(0);
  });

  it('ends a run without progress, records the reason and settles its slot as failed, with doubts only for requests in flight', async () => {
    const shop = await openWorkshop({
      // Six seconds: longer than any step except the one in which the service hangs, and shorter than the
      // request timeout.
      flow: FLOW.replace('schedule:', 'stall_minutes: 0.1, schedule:'),
      api: 'lease_seconds: 12\ntimeout_seconds: 10',
      sandbox: { latencyMs: 5 },
    });
    shop.drop('orders.csv', toCsv(manyRows(40)));
    await lookedAt(shop, 1);
    await shop.sandbox.setFaults([{ kind: 'stall_after', operation: 'new_influencer_referral', after: 3 }]);
    const server = await serve(shop);
    await waitFor(async () => (await slotsOf(shop)).at(-1)?.state === 'failed', { timeoutMs: 60_000 });
    const reason = 'The run made no progress for 0.1 minutes (stall_minutes) in step post and was ended.';
    expect(await slotsOf(shop)).toMatchObject([{ state: 'failed', reason }]);
    const runs = await shop.db.selectFrom('ops.runs').select(['status', 'problem']).execute();
    expect(runs).toEqual([{ status: 'failed', problem: reason }]);
    const { accepted = 0, in_doubt: doubts = 0, ready = 0 } = await countStates(shop.db);
    expect(accepted + doubts + ready).toBe(40);
    expect(ready).toBeGreaterThan(0);
    expect(doubts).toBeLessThanOrEqual(IN_FLIGHT_AT_MOST);
    server.kill('SIGTERM');
    expect((await server.ended).exitCode).toBe(0);
  });

  it('receives signed events if a secret is configured', async () => {
    const shop = await openWorkshop({
      flow: `${FLOW}webhooks: {port: 0, secret: a-secret}\n`,
      api: API,
      // Where it cannot be written; the health check fails then, and nothing else.
      env: { INFLUENCER_SYNC_ADDRESS_FILE: 'nowhere/address' },
    });
    const server = await serve(shop);
    const { events } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { events: string };
    const body = '{"webhook_type":"new_max_bid","deal_id":"DEALMIA"}';
    const signature = createHmac('sha256', 'a-secret').update(body).digest('hex');
    await waitFor(async () => (await get(`${server.url}/readyz`)).status === 200);
    const answer = await fetch(events, {
      method: 'POST',
      body,
      headers: { 'x-service-signature': signature },
    });
    expect(answer.status).toBe(200);
    expect(await shop.db.selectFrom('ops.webhook_events').select('kind').execute()).toEqual([
      { kind: 'new_max_bid' },
    ]);
    server.kill('SIGTERM');
    expect((await server.ended).exitCode).toBe(0);
  });

  it('exits with 2 if it has nothing to do or its port is in use', async () => {
    const shop = await openWorkshop({ flow: FLOW.replace(/, schedule: "[^"]+"/, ''), api: API });
    const idle = await shop.cli('serve');
    expect(idle.exitCode).toBe(2);
    expect(idle.stderr).toContain('Give a job a schedule');
    shop.write(
      'pipeline.yaml',
      `${readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8')}webhooks: {port: 0, secret: a-secret}\n`,
    );
    const taken = await shop.cli('serve', '--port', new URL(shop.sandbox.url).port);
    expect(taken.exitCode).toBe(2);
    expect(taken.stderr).toContain('EADDRINUSE');
  });
});
