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
import { intakeSource } from '../src/intake/read/intake-source.ts';
import { acquireLease } from '../src/ops/lease.ts';
import type { Run } from '../src/ops/run.ts';
import { beginRun } from '../src/ops/run-record.ts';
import { openSourceClients } from '../src/store/source-clients.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import {
  DEPLOYED,
  describePairs,
  type Measured,
  type Measurement,
  measureApart,
  measureHere,
  median,
  pairOfSeconds,
  parseAlone,
  spreadOf,
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

/** @returns the ratios to csv-parse alone, and peak memory in MB. Each round has a new server. */
export async function measureIntake(rows: number, rounds: number): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  try {
    const [first, second] = ['first', 'second'].map((name) => join(folder, name)) as [string, string];
    for (const place of [first, second]) mkdirSync(place);
    await writeShopifyExport(join(first, 'orders.csv'), { rows });
    await writeShopifyExport(join(second, 'orders.csv'), {
      rows,
      firstOrder: 1 + Math.round(rows / 2 / ONE_IN),
    });
    const fresh: Compared[] = [];
    const again: Compared[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const server = await startDatabase();
      try {
        fresh.push(compare(first, server.url));
        again.push(compare(second, server.url));
      } finally {
        await server.stop();
      }
    }
    const count = rows.toLocaleString('en');
    const all = [...fresh, ...again];
    return [
      share(`intake of ${count} new rows`, fresh),
      share(`intake of ${count} rows, 1 % of them new`, again),
      {
        name: `peak memory of an intake of ${count} rows`,
        unit: 'MB',
        value: Math.max(...all.map(({ ours }) => ours.rssMb)),
        detail: `csv-parse alone ${Math.max(...all.map(({ alone }) => alone.rssMb))} MB`,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Compared = { readonly ours: Measured; readonly alone: Measured };

function compare(folder: string, databaseUrl: string): Compared {
  return {
    alone: measureApart(import.meta.url, ['csvParse', join(folder, 'orders.csv')]),
    ours: measureApart(import.meta.url, ['intake', folder, databaseUrl], DEPLOYED),
  };
}

function share(name: string, compared: readonly Compared[]): Measurement {
  const pairs = compared.map(({ ours, alone }) => pairOfSeconds(ours.seconds, alone.seconds));
  return describePairs(name, pairs, ['s', 's']);
}

/** @returns peak memory of an intake of new rows, in MB. Each round has a new server. */
export async function measureMemory(rows: number, rounds: number): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  try {
    await writeShopifyExport(join(folder, 'orders.csv'), { rows });
    const measured: Measured[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const server = await startDatabase();
      try {
        measured.push(measureApart(import.meta.url, ['intake', folder, server.url], DEPLOYED));
      } finally {
        await server.stop();
      }
    }
    const peaks = measured.map(({ rssMb }) => rssMb);
    return {
      name: `peak memory of an intake of ${rows.toLocaleString('en')} rows`,
      unit: 'MB',
      value: median(peaks),
      detail: `${spreadOf(peaks, 0)}; ${median(measured.map(({ seconds }) => seconds)).toFixed(1)} s`,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
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
    : await measureIntake(Number(mode ?? 1_000_000), Number(place || 1));
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
