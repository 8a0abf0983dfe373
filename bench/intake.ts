/**
 * Measures reading, staging and sealing a Shopify export in a real Postgres, relative to csv-parse alone on
 * the same file: first a new file, then another file with the same rows and one new row in a hundred. Each
 * figure comes from a process of its own: wall-clock time and peak memory.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { attributeOrders } from '../jobs/attribute-orders/index.ts';
import { type AttributeOrdersSettings, isAttributeOrders } from '../jobs/attribute-orders/settings.ts';
import { createOrderIntake } from '../jobs/attribute-orders/take-orders.ts';
import { loadConfig } from '../jobs/index.ts';
import { connect } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { intakeSource } from '../src/pipeline/intake-source.ts';
import type { Run } from '../src/pipeline/run.ts';
import { acquireLease } from '../src/schedule/lease.ts';
import { beginRun } from '../src/schedule/run-record.ts';
import { openSourceClients } from '../src/source/source-clients.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import {
  DEPLOYED,
  type Measured,
  type Measurement,
  measureApart,
  measureHere,
  parseAlone,
} from './measure.ts';
import { writeShopifyExport } from './write-shopify-export.ts';

const ONE_IN = 100;

/** Starts a server whose database has its schema, as before any run except the first. */
async function startDatabase() {
  const server = await startPostgresServer();
  const db = await connect({ url: server.url, embeddedFolder: '' });
  await migrate(db);
  await db.destroy();
  return server;
}

/** @returns the ratios to csv-parse alone, and peak memory in MB. */
export async function measureIntake(rows: number): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const server = await startDatabase();
  try {
    const [first, second] = ['first', 'second'].map((name) => join(folder, name)) as [string, string];
    for (const place of [first, second]) mkdirSync(place);
    await writeShopifyExport(join(first, 'orders.csv'), { rows });
    await writeShopifyExport(join(second, 'orders.csv'), {
      rows,
      firstOrder: 1 + Math.round(rows / 2 / ONE_IN),
    });
    const alone = measureApart(import.meta.url, ['csvParse', join(first, 'orders.csv')]);
    const fresh = measureApart(import.meta.url, ['intake', first, server.url], DEPLOYED);
    const aloneAgain = measureApart(import.meta.url, ['csvParse', join(second, 'orders.csv')]);
    const again = measureApart(import.meta.url, ['intake', second, server.url], DEPLOYED);
    const csvSeconds = Math.min(alone.seconds, aloneAgain.seconds);
    const count = rows.toLocaleString('en');
    return [
      share(`intake of ${count} new rows`, csvSeconds, fresh),
      share(`intake of ${count} rows, 1 % of them new`, csvSeconds, again),
      {
        name: `peak memory of an intake of ${count} rows`,
        unit: 'MB',
        value: Math.max(fresh.rssMb, again.rssMb),
        detail: `csv-parse alone ${alone.rssMb} MB`,
      },
    ];
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

/** @returns peak memory of an intake of new rows, in MB. */
export async function measureMemory(rows: number): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const server = await startDatabase();
  try {
    await writeShopifyExport(join(folder, 'orders.csv'), { rows });
    const { rssMb, seconds } = measureApart(import.meta.url, ['intake', folder, server.url], DEPLOYED);
    return {
      name: `peak memory of an intake of ${rows.toLocaleString('en')} rows`,
      unit: 'MB',
      value: rssMb,
      detail: `${seconds.toFixed(0)} s`,
    };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

function share(name: string, csvSeconds: number, measured: Measured): Measurement {
  const detail = `${measured.seconds.toFixed(1)} s against ${csvSeconds.toFixed(1)} s; ${measured.cpuSeconds.toFixed(1)} s of CPU in this process`;
  return { name, value: csvSeconds / measured.seconds, detail };
}

const MODES = {
  csvParse: parseAlone,
  async intake(folder: string, databaseUrl: string): Promise<void> {
    const db = await connect({ url: databaseUrl, embeddedFolder: '' });
    const config = loadConfig(fileURLToPath(new URL('../config/pipeline.yaml', import.meta.url)), {});
    const [source, job] = [config.sources['shop-orders'], config.jobs['attribute-orders']];
    if (source === undefined || job === undefined || !isAttributeOrders(job))
      throw new Error('config/pipeline.yaml has changed');
    const owner = randomUUID();
    await acquireLease(db, {
      name: 'job:bench',
      owner,
      host: hostname(),
      pid: process.pid,
      ttlMs: 3_600_000,
    });
    const run: Run<AttributeOrdersSettings> = {
      runId: await beginRun(db, { job: job.name, kind: job.kind }),
      owner,
      config,
      job,
      nouns: attributeOrders.nouns,
      db,
      options: { limit: null, file: null, allowEmpty: false },
      progress: {
        begin() {},
        advance() {},
        note: (message) => process.stderr.write(`${message}\n`),
        end() {},
      },
      draining: new AbortController().signal,
      isLeaseHeld: () => true,
      sourceClients: openSourceClients(),
      client: null,
    };
    const exports = { ...source, uri: pathToFileURL(folder).pathname };
    await intakeSource(run, exports, await createOrderIntake(run));
    await db.destroy();
  },
};

const [mode, place = '', databaseUrl = ''] = process.argv.slice(2);
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isPart = mode === 'csvParse' || mode === 'intake';
  const result = isPart
    ? await measureHere(() => MODES[mode](place, databaseUrl))
    : await measureIntake(Number(mode ?? 1_000_000));
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
