/** Starts a shop whose run is spread over workers, for the screenshot of the page that shows them. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { startSandbox } from '../../bench/sandbox.ts';
import { readServeUrl, startCommand, writeOrders, writeShop } from '../../bench/shop.ts';
import { connect } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { startPostgresServer } from '../support/postgres-server.ts';
import { waitFor } from '../support/wait-for.ts';

const WORKERS = 3;
const CONFIG = `
api: {url: "\${API_URL}", key: "\${API_KEY}", concurrency: 4, requests_per_second: 0}
database: {url: "\${DATABASE_URL}"}
work: {engine: pg-boss}
sources: {web-shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}}
jobs: {attribute-orders: {kind: attribute-orders, source: web-shop, brand_id: 4819, codes: ./codes.csv}}
`;

/** @returns the address of its console, once the workers post, and how to stop everything. */
export async function startSpreadShop(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = await startPostgresServer();
  const sandbox = await startSandbox(['--latency', '200']);
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-workers-'));
  const db = await connect({ url: server.url, embeddedFolder: '', maxConnections: 1 });
  const processes: ChildProcess[] = [];
  async function stop(): Promise<void> {
    for (const child of processes) child.kill('SIGKILL');
    await Promise.all(processes.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
    await db.destroy();
    sandbox.stop();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
  try {
    await migrate(db);
    writeShop(folder, CONFIG);
    writeOrders(join(folder, 'exports'), { name: 'orders', count: 5_000 });
    const env = {
      DATABASE_URL: server.url,
      API_URL: sandbox.url,
      API_KEY: sandbox.key,
      LOG_LEVEL: 'silent',
      INFLUENCER_SYNC_CONFIG: join(folder, 'pipeline.yaml'),
    };
    const start = (name: string, ...args: string[]): ChildProcess => {
      const child = startCommand(args, {
        env: { ...process.env, ...env, INFLUENCER_SYNC_DATA: join(folder, name) },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      processes.push(child);
      return child;
    };
    for (let index = 0; index < WORKERS; index += 1) start(`worker-${index}`, 'work').stdout?.resume();
    await waitFor(async () => (await sql`select from ops.workers`.execute(db)).rows.length === WORKERS);
    // The picture names no machine of ours.
    await sql`
      update ops.workers w set host = 'worker-' || n.number
      from (select worker_id, row_number() over (order by pid) as number from ops.workers) n
      where n.worker_id = w.worker_id`.execute(db);
    start('run', 'run', 'attribute-orders').stdout?.resume();
    await waitFor(
      async () =>
        (await sql`select from ops.work_units where state = 'open' and done > 100`.execute(db)).rows.length >
        0,
    );
    const console = start('console', 'console', '--port', '0', '--json');
    return { url: (await readServeUrl(console)).replace(/\/$/, ''), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
