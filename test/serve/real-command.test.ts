import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { countStates, manyRows, openWorkshop, repeated, toCsv, type Workshop } from '../pipeline/workshop.ts';
import type { CliProcess } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';

// Each test is a handful of processes; a machine may be busy.
vi.setConfig({ testTimeout: 180_000 });

const FLOW = `
serve: {port: 0, grace_seconds: 20}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, schedule: "5 * * * *"}
`;
const API = 'lease_seconds: 3\ntimeout_seconds: 2';

/** The schedule was looked at last so many hours ago, as if the process had been down since. */
async function lookedAt(shop: Workshop, hoursAgo: number, job = 'orders'): Promise<void> {
  await sql`
    insert into ops.schedules (job, looked_until) values (${job}, clock_timestamp() - ${hoursAgo} * interval '1 hour')
    on conflict (job) do update set looked_until = excluded.looked_until`.execute(shop.db);
}

async function slotsOf(shop: Workshop): Promise<readonly { slot: Date; state: string; attempts: number; reason: string | null }[]> {
  return shop.db.selectFrom('ops.slots').select(['slot', 'state', 'attempts', 'reason']).orderBy('slot').execute();
}

/** Starts it, and says where it listens. */
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
  it('runs the latest slot that came while it was down, writes off the others as missed, and ends in order', async () => {
    const shop = await openWorkshop({ flow: FLOW, api: API });
    shop.drop('orders.csv', toCsv(manyRows(30)));
    await lookedAt(shop, 3);
    const server = await serve(shop);
    await waitFor(async () => (await slotsOf(shop)).at(-1)?.state === 'done');
    const slots = await slotsOf(shop);
    expect(slots.map(({ state }) => state)).toEqual(['missed', 'missed', 'done']);
    expect(await countStates(shop.db)).toEqual({ accepted: 30 });
    expect((await get(`${server.url}/healthz`)).status).toBe(200);
    expect(JSON.parse((await get(`${server.url}/readyz`)).body)).toMatchObject({ ready: true });
    const { body } = await get(`${server.url}/metrics`);
    expect(body).toContain('influencer_sync_runs_total{job="orders",status="ok"} 1');
    server.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ exitCode: 0, signal: null });
    expect(repeated(await shop.truth())).toEqual([]);
  });
});
