/**
 * Measures the time from the start of an hourly run to the answer of an order while a backfill is active in
 * another process. The result is a multiple of the same time without a backfill. Both send as fast as the
 * limit of the account allows.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { type Measurement, median } from './measure.ts';
import { startSandbox } from './sandbox.ts';
import { startCommand, writeOrders, writeShop } from './shop.ts';

const REQUESTS_PER_SECOND = 20;

export type LatencyCase = {
  /** Orders that the backfill has to post. More than it can post during the measurement. */
  readonly history: number;
  /** Orders of one hourly run. */
  readonly orders: number;
  readonly rounds: number;
};

export async function measureBackfillLatency(given: LatencyCase): Promise<Measurement> {
  const server = await startPostgresServer();
  const sandbox = await startSandbox(['--latency', '50']);
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const db = await connect({ url: server.url, embeddedFolder: '' });
  const shop = { folder, db, env: { ...sandbox, database: server.url } };
  try {
    await migrate(db);
    writeHistory(folder, given.history);
    // Reads the history first, so that only the small files of the measured runs are read in both cases.
    await hourlyLatency(shop, { ...given, round: 0 });
    const without: number[] = [];
    for (let round = 1; round <= given.rounds; round += 1)
      without.push(await hourlyLatency(shop, { ...given, round }));
    const backfill = start(shop, [
      'backfill',
      'orders',
      '--from',
      '2023-01-01',
      '--to',
      '2024-12-31',
      '--yes',
    ]);
    await waitFor(async () => (await countPosted(db)) > (given.rounds + 1) * given.orders + 5);
    const beside: number[] = [];
    for (let round = 1; round <= given.rounds; round += 1)
      beside.push(await hourlyLatency(shop, { ...given, round: given.rounds + round }));
    const isStillAtWork = backfill.exitCode === null;
    backfill.kill('SIGKILL');
    if (!isStillAtWork) throw new Error('the backfill ended before the measurement: give it more history');
    return {
      name: 'hourly orders beside a backfill ÷ without one',
      value: median(beside) / median(without),
      detail: `${median(beside).toFixed(2)} s against ${median(without).toFixed(2)} s an order, ${given.orders} orders a run, ${REQUESTS_PER_SECOND} requests a second`,
    };
  } finally {
    await db.destroy();
    await server.stop();
    sandbox.stop();
    rmSync(folder, { recursive: true });
  }
}

type Shop = {
  readonly folder: string;
  readonly db: Database;
  readonly env: { readonly url: string; readonly key: string; readonly database: string };
};

/** Writes a job whose own period begins in 2025, and older orders. */
function writeHistory(folder: string, count: number): void {
  writeShop(
    folder,
    `api: {url: "\${API_URL}", key: "\${API_KEY}", requests_per_second: ${REQUESTS_PER_SECOND}, concurrency: 8}
database: {url: "\${DATABASE_URL}"}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, start_date: '2025-01-01'}
`,
  );
  writeOrders(join(folder, 'exports'), { name: 'history', count, placedAt: '2023-05-05T10:00:00Z' });
}

function start({ folder, env }: Shop, args: readonly string[]): ChildProcess {
  return startCommand([...args, '--json'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      API_URL: env.url,
      API_KEY: env.key,
      DATABASE_URL: env.database,
      INFLUENCER_SYNC_CONFIG: 'pipeline.yaml',
    },
  });
}

/**
 * Performs one hourly run over a new file. @returns the average time from its start to the answer of an
 * order, in seconds.
 */
async function hourlyLatency(
  shop: Shop,
  { orders, round }: LatencyCase & { round: number },
): Promise<number> {
  const placedAt = '2025-05-05T10:00:00Z';
  writeOrders(join(shop.folder, 'exports'), { name: `hour-${round}`, count: orders, placedAt });
  const run = start(shop, ['run', 'orders']);
  const exitCode = await new Promise((resolve) => run.once('close', resolve));
  if (exitCode !== 0) throw new Error(`the run ended with ${String(exitCode)}`);
  const { rows } = await sql<{ seconds: string; orders: string }>`
    select avg(extract(epoch from a.answered_at - r.started_at)) as seconds, count(*) as orders
    from ops.runs r join ledger.attempts t on t.run_id = r.run_id join ledger.answers a using (entry_id, attempt)
    where r.run_id = (select max(run_id) from ops.runs where job = 'orders') and a.kind = 'accepted'`.execute(
    shop.db,
  );
  if (Number(rows[0]?.orders) !== orders)
    throw new Error(`${rows[0]?.orders} of ${orders} orders were posted`);
  return Number(rows[0]?.seconds);
}

async function countPosted(db: Database): Promise<number> {
  const { rows } = await sql<{
    posted: string;
  }>`select count(*) as posted from ledger.entries where state = 'accepted'`.execute(db);
  return Number(rows[0]?.posted);
}
