/**
 * What it costs an hourly run to be watched: notices, checks of its file, telemetry by OTLP, and all of
 * them. Each is compared in pairs of runs, one with it and one without, in alternating order. A run is a process
 * of its own, as cron starts it, so that it also loads what it needs.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { FILE_CHECK_NAMES } from '../src/core/checks/expectations.ts';
import { connect } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { DEPLOYED, type Measurement, median, spreadOf } from './measure.ts';
import { type ServerProcess, startSandbox, startServer } from './sandbox.ts';
import { startCommand, writeOrders, writeShop } from './shop.ts';

const PRINT_USAGE = new URL('print-usage.ts', import.meta.url).href;
const REQUESTS_PER_SECOND = 20;
const NOTIFY = `notify: {channels: {ops: {kind: slack, url: "\${NOTICE_URL}"}}}\n`;

export type WatchingCase = {
  /** New orders of one hourly run. */
  readonly orders: number;
  /** Pairs of runs for each figure. */
  readonly pairs: number;
};

/** What a run is watched by. */
type Watch = { readonly notices: boolean; readonly checks: boolean; readonly env: Record<string, string> };

const BARE: Watch = { notices: false, checks: false, env: {} };

type Place = { readonly folder: string; readonly env: Record<string, string>; runs: number };

type Took = { readonly seconds: number; readonly cpuSeconds: number };

/** @returns for each way of watching: seconds of a run with it ÷ without it. */
export async function measureWatching({ orders, pairs }: WatchingCase): Promise<readonly Measurement[]> {
  const server = await startPostgresServer();
  const sandbox = await startSandbox(['--latency', '50']);
  const collector = await startServer(new URL('empty-collector.ts', import.meta.url), []);
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  try {
    const db = await connect({ url: server.url, embeddedFolder: '' });
    await migrate(db);
    await db.destroy();
    writeShop(folder, CONFIGS);
    const place = { folder, env: environmentOf(server.url, sandbox, collector), runs: 0 };
    const telemetry = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const watches: readonly (readonly [name: string, watch: Watch])[] = [
      ['notices', { ...BARE, notices: true }],
      ['checks', { ...BARE, checks: true }],
      ['telemetry', { ...BARE, env: telemetry }],
      ['all three', { notices: true, checks: true, env: telemetry }],
    ];
    for (const [, watch] of watches) await run(place, watch, orders);
    const measured: Measurement[] = [];
    for (const [name, watch] of watches)
      measured.push(toMeasurement(name, await runPairs(place, watch, { orders, pairs })));
    return measured;
  } finally {
    collector.stop();
    sandbox.stop();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

type Pair = { readonly watched: Took; readonly bare: Took };

async function runPairs(
  place: Place,
  watch: Watch,
  { orders, pairs }: WatchingCase,
): Promise<readonly Pair[]> {
  const taken: Pair[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    // The order alternates, so that a machine that becomes slower or faster favours neither.
    const isFirst = pair % 2 === 0;
    const first = await run(place, isFirst ? watch : BARE, orders);
    const second = await run(place, isFirst ? BARE : watch, orders);
    taken.push(isFirst ? { watched: first, bare: second } : { watched: second, bare: first });
  }
  return taken;
}

function toMeasurement(name: string, pairs: readonly Pair[]): Measurement {
  const ratios = pairs.map(({ watched, bare }) => watched.seconds / bare.seconds);
  const more = median(pairs.map(({ watched, bare }) => watched.seconds - bare.seconds));
  const moreCpu = median(pairs.map(({ watched, bare }) => watched.cpuSeconds - bare.cpuSeconds));
  const bare = median(pairs.map(({ bare: { seconds } }) => seconds));
  const bareCpu = median(pairs.map(({ bare: { cpuSeconds } }) => cpuSeconds));
  return {
    name: `an hourly run with ${name} ÷ without`,
    value: median(ratios),
    detail: `${spreadOf(ratios)}; ${more.toFixed(2)} s more than ${bare.toFixed(2)} s, and ${moreCpu.toFixed(2)} s more CPU of its process than ${bareCpu.toFixed(2)} s`,
  };
}

function environmentOf(
  database: string,
  sandbox: ServerProcess,
  collector: ServerProcess,
): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    API_URL: sandbox.url,
    API_KEY: sandbox.key,
    DATABASE_URL: database,
    NOTICE_URL: collector.url,
    ...DEPLOYED,
    NODE_OPTIONS: `${DEPLOYED.NODE_OPTIONS} --import ${PRINT_USAGE}`,
  };
}

const UNCHECKED = [
  ...FILE_CHECK_NAMES.filter((check) => check !== 'header').map((check) => `${check}: off`),
  'header: {new: accept, gone: accept, renamed: accept, reordered: accept}',
].join(', ');

/** One configuration for each combination of notices and checks. All of them name the same job and source. */
const CONFIGS = Object.fromEntries(
  [true, false].flatMap((notices) =>
    [true, false].map((checks) => [
      configName({ notices, checks }),
      `api: {url: "\${API_URL}", key: "\${API_KEY}", requests_per_second: ${REQUESTS_PER_SECOND}}
database: {url: "\${DATABASE_URL}"}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC, expect: {${checks ? '' : UNCHECKED}}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
${notices ? NOTIFY : ''}`,
    ]),
  ),
);

function configName({ notices, checks }: Pick<Watch, 'notices' | 'checks'>): string {
  return `${notices ? 'notices' : 'silent'}-${checks ? 'checked' : 'unchecked'}.yaml`;
}

/** One hourly run over a new file. */
async function run(place: Place, watch: Watch, orders: number): Promise<Took> {
  place.runs += 1;
  const name = `hour-${String(place.runs).padStart(4, '0')}`;
  writeOrders(join(place.folder, 'exports'), { name, count: orders });
  const startedAt = performance.now();
  const child = startCommand(['run', 'orders', '--config', configName(watch)], {
    cwd: place.folder,
    env: { ...place.env, ...watch.env },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const { stderr } = child;
  const usagePipe = child.stdio[3];
  if (stderr === null || !(usagePipe instanceof Readable)) throw new Error('the process has no pipes');
  const [usage, told, [exitCode]] = await Promise.all([
    text(usagePipe),
    text(stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}: ${told}`);
  return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds: Number(usage) };
}
