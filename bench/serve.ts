/**
 * Measures what `serve` costs while it is idle, and how long an hourly run takes that finds nothing new among
 * many objects. The processes are those of the command, with the options of the Dockerfile.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { connect } from '../src/db/connect.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { type S3Server, startS3Server } from '../test/support/s3-server.ts';
import { DEPLOYED, type Measurement } from './measure.ts';
import { startSandbox } from './sandbox.ts';
import { ORDERS_HEADER, readServeUrl, startCommand, writeShop } from './shop.ts';

const CONFIG = `
api: {url: "\${INFLUENCER_API_URL}", key: "\${INFLUENCER_API_KEY}", requests_per_second: 0}
database: {url: "\${DATABASE_URL}"}
serve: {port: 0}
sources:
  shop: {uri: s3://exports/orders/, layout: generic, order_platform: shopify, time_zone: UTC, force_path_style: true}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, schedule: "5 4 1 1 *"}
`;

type Place = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly s3: S3Server;
  start(...args: string[]): ChildProcess;
};

/** @param seconds idle time to measure. @returns MB and per cent of a core, before any run and after one. */
export function measureIdleServe(seconds: number): Promise<readonly Measurement[]> {
  return inPlace(async (place) => {
    putObjects(place, 20);
    const child = place.start('serve', '--json');
    const url = await readServeUrl(child);
    while ((await fetch(`${url}/readyz`)).status !== 200) await sleep(200);
    const fresh = await measureProcess(child, { seconds, name: 'idle serve, before any run' });
    await runLate(place);
    const worked = await measureProcess(child, { seconds, name: 'idle serve, after a run' });
    child.kill('SIGTERM');
    await once(child, 'exit');
    return [...fresh, ...worked];
  });
}

/** @returns seconds of a run that lists all objects and finds no new one. */
export function measureUnchangedRun(objects: number): Promise<readonly Measurement[]> {
  return inPlace(async (place) => {
    putObjects(place, objects);
    await once(place.start('run', 'orders'), 'exit');
    place.s3.setListingLatency(50);
    const startedAt = performance.now();
    const [exitCode] = (await once(place.start('run', 'orders'), 'exit')) as [number];
    const seconds = (performance.now() - startedAt) / 1000;
    if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}`);
    const detail = `${objects} objects, 50 ms a listing page, with the start of the process`;
    return [{ name: 'hourly run that finds nothing new', unit: 's', value: seconds, detail }];
  });
}

async function inPlace(
  measure: (place: Place) => Promise<readonly Measurement[]>,
): Promise<readonly Measurement[]> {
  const server = await startPostgresServer();
  const sandbox = await startSandbox([]);
  const s3 = await startS3Server();
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  writeShop(folder, CONFIG);
  const env = {
    ...process.env,
    ...s3.env,
    DATABASE_URL: server.url,
    INFLUENCER_API_URL: sandbox.url,
    INFLUENCER_API_KEY: sandbox.key,
    INFLUENCER_SYNC_CONFIG: join(folder, 'pipeline.yaml'),
    ...DEPLOYED,
    LOG_LEVEL: 'warn',
  };
  try {
    return await measure({
      folder,
      databaseUrl: server.url,
      s3,
      start: (...args) => startCommand(args, { env, stdio: ['ignore', 'pipe', 'inherit'] }),
    });
  } finally {
    sandbox.stop();
    await s3.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

function putObjects({ s3 }: Place, count: number): void {
  for (let index = 0; index < count; index += 1)
    s3.put(
      'exports',
      `orders/${index}.csv`,
      `${ORDERS_HEADER}\n${index},10.00,EUR,,2026-04-10T11:11:26Z,paid\n`,
    );
}

/** Adds a due slot, and waits until it was run. */
async function runLate({ databaseUrl }: Place): Promise<void> {
  const db = await connect({ url: databaseUrl, embeddedFolder: '', maxConnections: 1 });
  try {
    await sql`insert into ops.slots (job, slot, state) values ('orders', date_trunc('minute', clock_timestamp()), 'due')`.execute(
      db,
    );
    const states = () => db.selectFrom('ops.slots').select('state').execute();
    while ((await states())[0]?.state !== 'done') await sleep(100);
  } finally {
    await db.destroy();
  }
}

/** Reads the resources of an idle process from Linux, over a period of time. */
async function measureProcess(
  child: ChildProcess,
  { seconds, name }: { readonly seconds: number; readonly name: string },
): Promise<readonly Measurement[]> {
  const begun = cpuSeconds(child);
  await sleep(seconds * 1000);
  const share = ((cpuSeconds(child) - begun) / seconds) * 100;
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const megabytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  return [
    { name, unit: 'MB', value: megabytes, detail: 'resident' },
    { name, unit: '% of a core', value: share, detail: `over ${seconds} s` },
  ];
}

const TICKS_A_SECOND = 100;

function cpuSeconds(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}
