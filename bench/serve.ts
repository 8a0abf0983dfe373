/**
 * Measures what `serve` costs while it is idle, and how long an hourly run takes that finds nothing new among
 * many objects. The processes are those of the built program, with the options of the Dockerfile.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { connect } from '../src/db/connect.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { type S3Server, startS3Server } from '../test/support/s3-server.ts';
import { buildProgram } from '../tools/package/build-program.ts';
import { DEPLOYED, type Measurement, median, spreadOf } from './measure.ts';
import { startSandbox } from './sandbox.ts';
import { ORDERS_HEADER, readServeUrl, writeShop } from './shop.ts';

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

/**
 * @param options.seconds idle time to measure in each round.
 * @returns MB and per cent of a core, before any run and after one. Each round has a new process; the first one is
 *   not counted, because it fills the compile cache.
 */
export function measureIdleServe({
  seconds,
  rounds,
}: {
  readonly seconds: number;
  readonly rounds: number;
}): Promise<readonly Measurement[]> {
  return inPlace(async (place) => {
    putObjects(place, 20);
    const fresh: Idle[] = [];
    const worked: Idle[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const child = place.start('serve', '--json');
      const url = await readServeUrl(child);
      while ((await fetch(`${url}/readyz`)).status !== 200) await sleep(200);
      if (round > 0) fresh.push(await measureIdle(child, seconds));
      await runLate(place);
      if (round > 0) worked.push(await measureIdle(child, seconds));
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    return [
      ...describeIdle('idle serve, before any run', fresh),
      ...describeIdle('idle serve, after a run', worked),
    ];
  });
}

/** @returns seconds of a run that lists all objects and finds no new one. */
export function measureUnchangedRun(objects: number, rounds: number): Promise<readonly Measurement[]> {
  return inPlace(async (place) => {
    putObjects(place, objects);
    await once(place.start('run', 'orders'), 'exit');
    place.s3.setListingLatency(50);
    const seconds: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const startedAt = performance.now();
      const [exitCode] = (await once(place.start('run', 'orders'), 'exit')) as [number];
      seconds.push((performance.now() - startedAt) / 1000);
      if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}`);
    }
    const detail = `${spreadOf(seconds)}; ${objects} objects, 50 ms a listing page, with the start of the process`;
    return [{ name: 'hourly run that finds nothing new', unit: 's', value: median(seconds), detail }];
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
  const program = await buildProgram(join(folder, 'installed'));
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
      start: (...args) =>
        spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] }),
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
    await sql`
      insert into ops.slots (job, slot, state) values ('orders', date_trunc('milliseconds', clock_timestamp()), 'due')`.execute(
      db,
    );
    const open = () => db.selectFrom('ops.slots').select('slot').where('state', '<>', 'done').execute();
    while ((await open()).length > 0) await sleep(100);
  } finally {
    await db.destroy();
  }
}

type Idle = { readonly megabytes: number; readonly percent: number };

/** What the start or a run has left is collected in this time, so it is not idle before. */
const SETTLE_SECONDS = 10;

/** Reads the resources of an idle process from Linux, over a period of time. */
async function measureIdle(child: ChildProcess, seconds: number): Promise<Idle> {
  await sleep(SETTLE_SECONDS * 1000);
  const begun = cpuSeconds(child);
  await sleep(seconds * 1000);
  const percent = ((cpuSeconds(child) - begun) / seconds) * 100;
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return { megabytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024, percent };
}

function describeIdle(name: string, rounds: readonly Idle[]): readonly Measurement[] {
  const [megabytes, percents] = [
    rounds.map((round) => round.megabytes),
    rounds.map((round) => round.percent),
  ];
  return [
    { name, unit: 'MB', value: median(megabytes), detail: `resident, ${spreadOf(megabytes, 1)}` },
    { name, unit: '% of a core', value: median(percents), detail: spreadOf(percents) },
  ];
}

const TICKS_A_SECOND = 100;

function cpuSeconds(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}
