import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { type Measurement, median } from './measure.ts';
import { commandLine, hourlyConfig, writeShop } from './shop.ts';

/**
 * Measures the seconds from the start of the process to the end of `--help`, and of `runs` with a database
 * without runs. Omits the first time of each, which fills the compile cache.
 */
export async function measureStart(times: number): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const server = await startPostgresServer();
  try {
    const db = await connect({ url: server.url, embeddedFolder: '' });
    await migrate(db);
    await db.destroy();
    writeShop(folder, hourlyConfig());
    const env = {
      INFLUENCER_SYNC_CONFIG: join(folder, 'pipeline.yaml'),
      DATABASE_URL: server.url,
      // `runs` sends no request.
      API_URL: 'http://127.0.0.1:9',
      API_KEY: 'unused',
    };
    return [startOf('--help', { times, env: {} }), startOf('runs', { times, env })];
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

function startOf(
  command: string,
  { times, env }: { readonly times: number; readonly env: Readonly<Record<string, string>> },
): Measurement {
  const seconds = Array.from({ length: times + 1 }, () => {
    const startedAt = performance.now();
    const { status } = spawnSync(process.execPath, commandLine([command]), {
      stdio: 'ignore',
      env: { ...process.env, ...env },
    });
    if (status !== 0) throw new Error(`${command} ended with ${status}`);
    return (performance.now() - startedAt) / 1000;
  }).slice(1);
  return {
    name: `start of ${command}`,
    unit: 's',
    value: median(seconds),
    detail: `median of ${times}, ${Math.max(...seconds).toFixed(2)} s at most`,
  };
}
