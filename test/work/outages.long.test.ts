import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { seededRandom } from '../../src/sandbox/random-id.ts';
import {
  countStates,
  type Ended,
  expectSums,
  look,
  manyRows,
  readRun,
  repeated,
  type Workshop,
} from '../pipeline/workshop.ts';
import { startServer } from '../support/absent-server.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import type { PostgresServer } from '../support/postgres-server.ts';
import type { CliProcess } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';
import { dropBoth, ON_THE_WAY, openSpreadShop, startWorker } from './spread-shop.ts';

/*
 * Workers and a run post while one part after the other fails: a worker, the run, Postgres, the network to
 * Postgres, the network to the service. A connection fails in the ways that networks fail: closed, or silent
 * for longer than every time limit.
 *
 * `npm run test:campaigns -- outages` causes 100 of them; WORK_OUTAGES_SEED repeats one campaign.
 */
const OUTAGES = Number(process.env.WORK_OUTAGES ?? 6);
const SEED = process.env.WORK_OUTAGES_SEED ?? '1';
const WORKERS = 3;
const QUIET = { LOG_LEVEL: 'silent' };
/** Orders in each of the two sources, so that there is work for every outage. */
const ORDERS = 100 + 30 * OUTAGES;

vi.setConfig({ testTimeout: 300_000 + OUTAGES * 60_000 });

type Part = 'worker' | 'run' | 'postgres' | 'database network' | 'service network';
const PARTS: readonly Part[] = ['postgres', 'database network', 'service network', 'worker', 'run'];

/** Maximum number of entries in doubt after the failure of a part: what its processes had on the way. */
const DOUBTS: Readonly<Record<Part, number>> = {
  worker: ON_THE_WAY,
  run: ON_THE_WAY,
  postgres: (WORKERS + 1) * ON_THE_WAY,
  'database network': (WORKERS + 1) * ON_THE_WAY,
  'service network': (WORKERS + 1) * ON_THE_WAY,
};

type Stage = {
  readonly shop: Workshop;
  readonly server: PostgresServer;
  readonly database: DatabaseProxy;
  readonly service: DatabaseProxy;
  readonly workers: CliProcess[];
  /** Restarts what has ended: workers, and the run if there is none. */
  readonly keepWorking: () => void;
  readonly run: () => CliProcess;
  /** Runs that ended. */
  readonly ended: Ended[];
};

it(`with ${OUTAGES} outages of workers, the run, Postgres and the network, each order is posted once with its amount, and no more are in doubt than were on their way`, async () => {
  const stage = await openStage();
  const { shop, server } = stage;
  const random = seededRandom(`outages ${SEED}`);
  const counts: Partial<Record<Part, number>> = {};
  for (let outage = 0; outage < OUTAGES; outage += 1) {
    const target = Math.min((await settled(server)) + 1 + Math.floor(random() * 25), 2 * ORDERS);
    await waitFor(async () => {
      stage.keepWorking();
      return (await settled(server)) >= target;
    });
    // Each part fails once before any fails again, so that few outages cover all of them.
    const part = PARTS[outage < PARTS.length ? outage : Math.floor(random() * PARTS.length)] as Part;
    counts[part] = (counts[part] ?? 0) + 1;
    await fail(stage, part, random);
  }
  await waitFor(
    async () => {
      stage.keepWorking();
      const { ready = 0, sending = 0, accepted = 0 } = await look(server.url, countStates);
      return accepted > 0 && ready + sending === 0;
    },
    // Most orders are left, and a busy machine posts 50 a second.
    { timeoutMs: 120_000 + 2 * ORDERS * 20 },
  );
  stage.ended.push(readRun(await stage.run().ended));
  // No other process is active now, so this run accounts for everything.
  let last = await shop.run();
  await waitFor(async () => {
    if (last.finished === null) last = await shop.run();
    return last.finished !== null;
  });

  const referrals = await shop.sandbox.referrals();
  expect(repeated(referrals.map(({ order_id: id }) => id))).toEqual([]);
  const { accepted = 0, in_doubt: doubts = 0, ...others } = await look(server.url, countStates);
  expect(others).toEqual({});
  expect(accepted + doubts).toBe(2 * ORDERS);
  const limit = PARTS.reduce((sum, part) => sum + (counts[part] ?? 0) * DOUBTS[part], 0);
  expect(doubts).toBeLessThanOrEqual(limit);

  const revenues = new Map(
    ['one-', 'two-'].flatMap((prefix) => manyRows(ORDERS, prefix)).map(({ id, revenue }) => [id, revenue]),
  );
  expect(
    referrals.filter(({ order_id: id, order_revenue: sent }) => Number(revenues.get(id)) !== Number(sent)),
  ).toEqual([]);
  const known = new Set(referrals.map(({ order_id: id }) => id));
  const claimed = await rowsOf(
    server,
    sql<{ order_id: string }>`select order_id from ledger.entries where state = 'accepted'`,
  );
  expect(claimed.filter(({ order_id: id }) => !known.has(id))).toEqual([]);

  expect([0, 6]).toContain(last.exitCode);
  for (const { finished } of [...stage.ended, last]) if (finished) expectSums(finished);
});

async function openStage(): Promise<Stage> {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const database = await startDatabaseProxy(server.url);
  onTestFinished(() => database.close());
  const shop = await openSpreadShop({ databaseUrl: database.url, sandbox: { latencyMs: 20 } });
  // The proxy forwards bytes, whatever their protocol.
  const service = await startDatabaseProxy(shop.sandbox.url);
  onTestFinished(() => service.close());
  shop.env.INFLUENCER_API_URL = service.url;
  expect((await shop.cli('migrate')).exitCode).toBe(0);
  dropBoth(shop, ORDERS);

  let hired = 0;
  const hire = (): CliProcess => startWorker(shop, `worker-${hired++}`, QUIET);
  const workers = Array.from({ length: WORKERS }, hire);
  await waitFor(async () => (await rowsOf(server, sql`select from ops.workers`)).length === WORKERS);
  let run = shop.start('run', 'orders', '--json');
  const ended: Ended[] = [];
  function keepWorking(): void {
    for (const [place, worker] of workers.entries()) if (worker.hasEnded()) workers[place] = hire();
    if (!run.hasEnded()) return;
    void run.ended.then((result) => ended.push(readRun(result)));
    run = shop.start('run', 'orders', '--json');
  }
  return { shop, server, database, service, workers, keepWorking, run: () => run, ended };
}

/** Makes a part fail, and repairs it. */
async function fail(stage: Stage, part: Part, random: () => number): Promise<void> {
  const { server, database, service, workers, run } = stage;
  if (part === 'worker') workers[Math.floor(random() * WORKERS)]?.kill('SIGKILL');
  else if (part === 'run') run().kill('SIGKILL');
  else if (part === 'postgres') {
    await server.kill();
    await sleep(random() * 2_000);
    await server.start();
  } else await interrupt(part === 'database network' ? database : service, random);
}

/** Cuts a network, or silences it, for a fraction of a second up to longer than any time limit. */
async function interrupt(network: DatabaseProxy, random: () => number): Promise<void> {
  const isSilent = random() < 0.5;
  if (isSilent) network.silence();
  else network.cut();
  // Longer than the limit of a request (3 s) and than a lease (4 s), or shorter.
  await sleep(random() * 8_000);
  // Bytes were lost, so no connection can continue.
  network.cut();
  network.restore();
}

/** Number of entries that are neither ready nor on the way. */
async function settled(server: PostgresServer): Promise<number> {
  const { accepted = 0, in_doubt: doubts = 0 } = await look(server.url, countStates);
  return accepted + doubts;
}

function rowsOf<Row>({ url }: PostgresServer, query: RawBuilder<Row>): Promise<readonly Row[]> {
  return look(url, async (db) => (await query.execute(db)).rows);
}
