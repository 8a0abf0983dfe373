/**
 * Reading, staging and sealing a Shopify export into a real Postgres, as a share of csv-parse alone on the same file: first a new file,
 * then the same rows again in another file with one in a hundred new. Each figure is a process of its own; wall clock, and peak memory.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'csv-parse';
import { loadConfig } from '../src/config/load-config.ts';
import { connect } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { intakeSource } from '../src/pipeline/intake-source.ts';
import type { Run } from '../src/pipeline/run.ts';
import { acquireLease } from '../src/schedule/lease.ts';
import { beginRun } from '../src/schedule/run-record.ts';
import { openSourceClients } from '../src/source/source-clients.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import type { Measurement } from './measure.ts';
import { writeShopifyExport } from './write-shopify-export.ts';

const READ_BYTES = 256 * 1024;
const ONE_IN = 100;

type Measured = { readonly seconds: number; readonly cpuSeconds: number; readonly rssMb: number };

/** @returns the shares of csv-parse alone, and peak memory in MB. */
export async function measureIntake(rows: number): Promise<readonly Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const server = await startPostgresServer();
  try {
    const [first, second] = ['first', 'second'].map((name) => join(folder, name)) as [string, string];
    for (const place of [first, second]) mkdirSync(place);
    await writeShopifyExport(join(first, 'orders.csv'), { rows });
    await writeShopifyExport(join(second, 'orders.csv'), {
      rows,
      firstOrder: 1 + Math.round(rows / 2 / ONE_IN),
    });
    const alone = measureApart('csvParse', [join(first, 'orders.csv')]);
    const fresh = measureApart('intake', [first, server.url]);
    const aloneAgain = measureApart('csvParse', [join(second, 'orders.csv')]);
    const again = measureApart('intake', [second, server.url]);
    const csvSeconds = Math.min(alone.seconds, aloneAgain.seconds);
    const count = rows.toLocaleString('en');
    return [
      share(`intake of ${count} new rows`, csvSeconds, fresh),
      share(`intake of ${count} rows, 1 % of them new`, csvSeconds, again),
      {
        name: `peak memory of an intake of ${count} rows, MB`,
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
  const server = await startPostgresServer();
  try {
    await writeShopifyExport(join(folder, 'orders.csv'), { rows });
    const { rssMb, seconds } = measureApart('intake', [folder, server.url]);
    return {
      name: `peak memory of an intake of ${rows.toLocaleString('en')} rows, MB`,
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
  async csvParse(path: string): Promise<void> {
    for await (const _ of createReadStream(path, { highWaterMark: READ_BYTES }).pipe(parse()));
  },
  async intake(folder: string, databaseUrl: string): Promise<void> {
    const db = await connect({ url: databaseUrl, embeddedFolder: '' });
    await migrate(db);
    const config = loadConfig(fileURLToPath(new URL('../config/pipeline.yaml', import.meta.url)), {});
    const [source, job] = [config.sources['shop-orders'], config.jobs['attribute-orders']];
    if (source === undefined || job === undefined) throw new Error('config/pipeline.yaml has changed');
    const owner = randomUUID();
    await acquireLease(db, {
      name: 'job:bench',
      owner,
      host: hostname(),
      pid: process.pid,
      ttlMs: 3_600_000,
    });
    const run: Run = {
      runId: await beginRun(db, { job: job.name, kind: job.kind }),
      owner,
      config,
      job,
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
    await intakeSource(run, { ...source, uri: pathToFileURL(folder).pathname });
    await db.destroy();
  },
};

function measureApart(mode: keyof typeof MODES, args: readonly string[]): Measured {
  const output = execFileSync(process.execPath, [fileURLToPath(import.meta.url), mode, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(output) as Measured;
}

async function measureHere(
  mode: keyof typeof MODES,
  [path = '', databaseUrl = '']: readonly string[],
): Promise<Measured> {
  const startedAt = performance.now();
  await MODES[mode](path, databaseUrl);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage();
  return {
    seconds,
    cpuSeconds: (user + system) / 1e6,
    rssMb: Math.round(process.resourceUsage().maxRSS / 1024),
  };
}

const [mode, ...args] = process.argv.slice(2);
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isPart = mode === 'csvParse' || mode === 'intake';
  const result = isPart ? await measureHere(mode, args) : await measureIntake(Number(mode ?? 1_000_000));
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
