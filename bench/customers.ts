/**
 * Measures a Shopify export of customers from the file to accepted batches, with a real Postgres and the
 * sandbox, relative to csv-parse alone on the same file. Each figure comes from a process of its own:
 * wall-clock time and peak memory.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findJob, loadConfig } from '../jobs/index.ts';
import { connect } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { runJob } from '../src/runs/run-job.ts';
import { createClient } from '../src/service/client.ts';
import { openSourceClients } from '../src/store/source-clients.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import {
  DEPLOYED,
  describePairs,
  type Measured,
  type Measurement,
  measureApart,
  measureHere,
  pairOfSeconds,
  parseAlone,
} from './measure.ts';
import { startSandbox } from './sandbox.ts';
import { writeCustomersExport } from './write-customers-export.ts';

/**
 * Number of measurements of each variant, taken in turn. If the machine is slow for a while, it is slow for
 * both variants, and the median ignores outliers.
 */
const ROUNDS = 5;

/** @returns the ratio to csv-parse alone for a new file, and peak memory in MB. */
export async function measureCustomers(rows: number): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const file = join(folder, 'exports', 'customers.csv');
  try {
    mkdirSync(join(folder, 'exports'));
    await writeCustomersExport(file, rows);
    writeFileSync(join(folder, 'pipeline.yaml'), CONFIG);
    const pairs: { readonly alone: Measured; readonly run: Measured }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const alone = measureApart(import.meta.url, ['csvParse', file]);
      pairs.push({ alone, run: await measureRun(folder) });
    }
    const count = rows.toLocaleString('en');
    return [
      describePairs(
        `${count} customers from file to accepted batch`,
        pairs.map(({ alone, run }) => pairOfSeconds(run.seconds, alone.seconds)),
        ['s', 's'],
      ),
      {
        name: `peak memory of ${count} customers`,
        unit: 'MB',
        value: Math.max(...pairs.map(({ run }) => run.rssMb)),
        detail: `csv-parse alone ${Math.max(...pairs.map(({ alone }) => alone.rssMb))} MB`,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Measures a run that reads the file for the first time, with its own server and sandbox. */
async function measureRun(folder: string): Promise<Measured> {
  const server = await startPostgresServer();
  const sandbox = await startSandbox(['--key', 'bench']);
  try {
    const db = await connect({ url: server.url, embeddedFolder: '' });
    await migrate(db);
    await db.destroy();
    return measureApart(import.meta.url, ['identify', folder, server.url, sandbox.url], DEPLOYED);
  } finally {
    sandbox.stop();
    await server.stop();
  }
}

/**
 * Number of concurrent calls. High enough that the sandbox, which answers at once, never waits for the next
 * call.
 */
const CONCURRENCY = 16;

const CONFIG = `
api: {url: "\${URL}", key: bench, concurrency: ${CONCURRENCY}, requests_per_second: 0}
database: {url: "\${DATABASE_URL}"}
customers: {hash_key: 0123456789abcdef0123456789abcdef}
sources: {shop: {uri: ./exports/, layout: shopify-customers}}
jobs: {customers: {kind: identify-customers, source: shop, brand_id: 4819}}
`;

const MODES = {
  csvParse: parseAlone,
  async identify(folder: string, databaseUrl: string, apiUrl: string): Promise<void> {
    const env = { DATABASE_URL: databaseUrl, URL: apiUrl };
    const config = loadConfig(join(folder, 'pipeline.yaml'), env);
    const db = await connect({ url: databaseUrl, embeddedFolder: '' });
    const client = createClient({
      url: apiUrl,
      key: 'bench',
      connections: CONCURRENCY,
      timeoutMs: 30_000,
      connectTimeoutMs: 5_000,
    });
    const { exitCode } = await runJob({
      ...findJob(config, 'customers'),
      config,
      db,
      client,
      sourceClients: openSourceClients(),
      options: { limit: null, file: null, allowEmpty: false },
      progress: { begin() {}, advance() {}, note: (text) => process.stderr.write(`${text}\n`), end() {} },
      draining: new AbortController().signal,
    });
    if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}`);
    await client.close();
    await db.destroy();
  },
};

const [mode, place = '', databaseUrl = '', apiUrl = ''] = process.argv.slice(2);
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isPart = mode === 'csvParse' || mode === 'identify';
  const result = isPart
    ? await measureHere(() => MODES[mode](place, databaseUrl, apiUrl))
    : await measureCustomers(Number(mode ?? 1_000_000));
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
