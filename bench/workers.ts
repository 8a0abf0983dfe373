/**
 * Measures a run whose work is spread over workers, each a separate process with a concurrency of 4, with a
 * sandbox with latency. The result is the posted orders per second, relative to the maximum for that number
 * of requests in flight, up to the limit of the account. Also measures many small objects of a slow store.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { DEPLOYED, type Measurement, median, spreadOf } from './measure.ts';
import { startSandbox } from './sandbox.ts';
import { startCommand, writeOrders, writeShop } from './shop.ts';

const CONCURRENCY = 4;
const LATENCY_MS = 50;
/**
 * Minimum posting time for each number of workers, unless another one is given. A worker needs about half a second
 * to begin a share, so longer runs come closer to what their requests in flight allow.
 */
const SECONDS = 12;

export type WorkersCase = {
  readonly workers: readonly number[];
  /** Limit of the account. 0 means none. */
  readonly requestsPerSecond: number;
  readonly seconds?: number;
  readonly rounds: number;
};

/**
 * @returns for each number of workers: orders per second ÷ the maximum that their requests in flight, or the
 * account, allow. The detail compares them with the first number of workers.
 */
export async function measureWorkers({
  workers,
  rounds,
  ...given
}: WorkersCase): Promise<readonly Measurement[]> {
  const sandbox = await startSandbox(['--latency', String(LATENCY_MS)]);
  const measured: Measured[][] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const ofRound: Measured[] = [];
      for (const count of workers) ofRound.push(await measureOne({ sandbox, count, ...given }));
      measured.push(ofRound);
    }
  } finally {
    sandbox.stop();
  }
  return workers.map((_, index) => describeRounds(measured, index, given.requestsPerSecond));
}

/** @param index of a number of workers in each round. They are compared with the first number of the same round. */
function describeRounds(
  rounds: readonly (readonly Measured[])[],
  index: number,
  requestsPerSecond: number,
): Measurement {
  const ofCount = rounds.flatMap((round) => round[index] ?? []);
  const [{ count, bound, orders } = { count: 0, bound: 0, orders: 0 }] = ofCount;
  const shares = ofCount.map(({ rate }) => rate / bound);
  const linear = rounds.flatMap((round) => {
    const [first, one] = [round[0], round[index]];
    return first === undefined || one === undefined
      ? []
      : (one.rate * first.count) / (first.rate * one.count);
  });
  const most = (which: 'worstClockSecond' | 'worstSecond') => Math.max(...ofCount.map((one) => one[which]));
  const limit = requestsPerSecond === 0 ? '' : `, ${requestsPerSecond}/s for the account`;
  const asLinear = index === 0 ? '' : `; ${median(linear).toFixed(2)} of linear, ${spreadOf(linear)}`;
  return {
    name: `${count} ${count === 1 ? 'worker' : 'workers'} at ${CONCURRENCY}, ${LATENCY_MS} ms${limit}`,
    value: median(shares),
    detail: `${spreadOf(shares)}; ${(median(shares) * bound).toFixed(1)} orders/s of ${bound.toFixed(0)}; worst second ${most('worstClockSecond')}, of any 1,000 ms ${most('worstSecond')}; ${orders} orders${asLinear}`,
  };
}

type Measured = {
  readonly count: number;
  /** Posted orders per second. */
  readonly rate: number;
  /** What the requests in flight, or the account, allow per second. */
  readonly bound: number;
  readonly orders: number;
  readonly worstClockSecond: number;
  readonly worstSecond: number;
};

type One = Omit<WorkersCase, 'workers' | 'rounds'> & {
  readonly sandbox: { readonly url: string; readonly key: string };
  readonly count: number;
};

async function measureOne({
  sandbox,
  count,
  requestsPerSecond,
  seconds: least = SECONDS,
}: One): Promise<Measured> {
  const inFlight = (count * CONCURRENCY * 1_000) / LATENCY_MS;
  const bound = requestsPerSecond === 0 ? inFlight : Math.min(inFlight, requestsPerSecond);
  const orders = Math.round(bound * least);
  const server = await startPostgresServer();
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const db = await connect({ url: server.url, embeddedFolder: '' });
  try {
    await migrate(db);
    writeFiles(folder, orders);
    const env = {
      DATABASE_URL: server.url,
      INFLUENCER_API_URL: sandbox.url,
      INFLUENCER_API_KEY: sandbox.key,
      INFLUENCER_SYNC_CONFIG: join(folder, 'pipeline.yaml'),
      RATE: String(requestsPerSecond),
      LOG_LEVEL: 'warn',
      ...DEPLOYED,
    };
    const start = (index: number, ...args: string[]): ChildProcess =>
      startCommand(args, {
        env: { ...process.env, ...env, INFLUENCER_SYNC_DATA: join(folder, `data-${index}`) },
      });
    const hired = Array.from({ length: count }, (_, index) => start(index, 'work'));
    while ((await countWorkers(db)) < count) await sleep(100);
    const [exitCode] = (await once(start(count, 'run', 'orders'), 'exit')) as [number];
    if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}`);
    for (const worker of hired) worker.kill('SIGTERM');
    await Promise.all(hired.map((worker) => once(worker, 'exit')));
    const seconds = await secondsOf(db, 'post');
    const processed = (await readReferrals(sandbox)).slice(-orders);
    return {
      count,
      bound,
      orders,
      rate: orders / seconds,
      worstClockSecond: worstClockSecond(processed),
      worstSecond: worstSecond(processed),
    };
  } finally {
    await db.destroy();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

function writeFiles(folder: string, orders: number): void {
  const sources = ['one', 'two'];
  for (const name of sources)
    writeOrders(join(folder, name), { name, count: Math.ceil(orders / sources.length) });
  writeShop(
    folder,
    `api: {url: "\${INFLUENCER_API_URL}", key: "\${INFLUENCER_API_KEY}", concurrency: ${CONCURRENCY}, requests_per_second: "\${RATE}"}
database: {url: "\${DATABASE_URL}"}
work: {engine: pg-boss}
sources:
  one: {uri: ./one/, layout: generic, order_platform: shopify, time_zone: UTC}
  two: {uri: ./two/, layout: generic, order_platform: woocommerce, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: [one, two], brand_id: 4819, codes: ./codes.csv}
`,
  );
}

async function countWorkers(db: Database): Promise<number> {
  return (await sql`select from ops.workers`.execute(db)).rows.length;
}

async function secondsOf(db: Database, step: string): Promise<number> {
  const { rows } = await sql<{ seconds: string }>`
    select sum(seconds) as seconds from ops.run_steps where step = ${step}`.execute(db);
  return Number(rows[0]?.seconds);
}

/**
 * @returns the highest number of orders that the sandbox processed within any second, by its own log.
 * @param processed times in Unix milliseconds, in ascending order.
 */
function worstSecond(processed: readonly number[]): number {
  let most = 0;
  let first = 0;
  for (const [index, at] of processed.entries()) {
    while (at - (processed[first] ?? at) >= 1_000) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

/** @returns as `worstSecond`, only for seconds that begin with one of the clock. */
function worstClockSecond(processed: readonly number[]): number {
  const seconds = Map.groupBy(processed, (at) => Math.floor(at / 1_000));
  return Math.max(...[...seconds.values()].map(({ length }) => length));
}

/** Times at which the sandbox processed orders, in Unix milliseconds. */
async function readReferrals({ url }: { readonly url: string }): Promise<readonly number[]> {
  const log = await (await fetch(`${url}/_sandbox/log/referrals`)).text();
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Date.parse((JSON.parse(line) as { readonly at: string }).at));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [workers = '1,2,4', rate = '0', least = SECONDS, rounds = 1] = process.argv.slice(2);
  const given = {
    workers: workers.split(',').map(Number),
    requestsPerSecond: Number(rate),
    seconds: Number(least),
    rounds: Number(rounds),
  };
  process.stdout.write(`${JSON.stringify(await measureWorkers(given), null, 2)}\n`);
}
