import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { DEPLOYED, type Measurement, spreadOf } from './measure.ts';
import { startSandbox } from './sandbox.ts';
import { hourlyConfig, runCommand, writeShop } from './shop.ts';
import { writeShopifyExport } from './write-shopify-export.ts';

type FirstRun = { readonly seconds: number; readonly steps: string };

/**
 * Measures the first run of a job over a Shopify export: its orders are read, attributed and reported. Each
 * has a code, but none of them has an owner, so nothing is posted. Each round has a new server.
 *
 * @param orders each has two rows.
 * @returns the median of the rounds, with the steps of that run.
 */
export async function measureFirstRun(orders: number, rounds: number): Promise<Measurement> {
  const runs: FirstRun[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await runFirst(orders));
  runs.sort((a, b) => a.seconds - b.seconds);
  const middle = runs[Math.floor(rounds / 2)];
  if (middle === undefined) throw new Error('no round was run');
  return {
    name: `first run of ${orders.toLocaleString('en')} orders`,
    unit: 's',
    value: middle.seconds,
    detail: `${spreadOf(
      runs.map(({ seconds }) => seconds),
      1,
    )}; ${middle.steps}`,
  };
}

async function runFirst(orders: number): Promise<FirstRun> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const server = await startPostgresServer();
  const sandbox = await startSandbox([]);
  const db = await connect({ url: server.url, embeddedFolder: '', maxConnections: 1 });
  try {
    await migrate(db);
    writeShop(folder, hourlyConfig().replace('layout: generic', 'layout: shopify-orders'));
    mkdirSync(join(folder, 'exports'));
    await writeShopifyExport(join(folder, 'exports', 'orders.csv'), { rows: 2 * orders });
    const env = { API_URL: sandbox.url, API_KEY: sandbox.key, DATABASE_URL: server.url, ...DEPLOYED };
    const startedAt = performance.now();
    await runCommand(['run', 'hourly'], { folder, env });
    const seconds = (performance.now() - startedAt) / 1000;
    return { seconds, steps: await describeSteps(db) };
  } finally {
    await db.destroy();
    sandbox.stop();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** The steps of the only run with their seconds. */
async function describeSteps(db: Database): Promise<string> {
  const { rows } = await sql<{ label: string; seconds: number }>`
    select label, seconds::float8 as seconds from ops.run_steps order by position`.execute(db);
  return rows.map(({ label, seconds }) => `${label} ${seconds.toFixed(1)} s`).join(', ');
}
