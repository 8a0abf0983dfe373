import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { seededRandom } from '../../../src/sandbox/random-id.ts';
import { startServer } from '../../support/absent-server.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../support/database-proxy.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import type { CliProcess } from '../../support/run-cli.ts';
import { waitFor } from '../../support/wait-for.ts';
import { countStates, expectSums, look, manyRows, repeated, type Workshop } from '../workshop.ts';
import { dropBoth, ON_THE_WAY, openSpreadShop, startWorker, TWO_SOURCES } from './spread-shop.ts';

/*
 * Workers post what two `serve` processes distribute, while one part after the other fails: a worker, the
 * process that runs the job, Postgres, the network to Postgres, the network to the service. A network fails in
 * the ways that networks do: connections are closed, silent for longer than every time limit, or delayed, so
 * that requests arrive after their sender has given them up.
 *
 * `npm run test:campaigns -- outages` causes 100 of them over 20,000 orders; WORK_OUTAGES_SEED chooses another
 * campaign.
 */
const OUTAGES = Number(process.env.WORK_OUTAGES ?? 6);
const SEED = process.env.WORK_OUTAGES_SEED ?? '1';
const WORKERS = 3;
const QUIET = { LOG_LEVEL: 'silent' };
/** Maximum number of orders between two outages: few in a test, so that it is quick. */
const BETWEEN = OUTAGES < 100 ? 25 : 200;
/** Orders in each of the two sources, so that there is work for every outage. */
const ORDERS = 100 + Math.ceil(BETWEEN / 2) * OUTAGES;

vi.setConfig({ testTimeout: 300_000 + OUTAGES * 60_000 });

type Part = 'worker' | 'scheduler' | 'postgres' | 'database network' | 'service network';
const PARTS: readonly Part[] = ['postgres', 'database network', 'service network', 'worker', 'scheduler'];

/** Maximum number of entries in doubt after the failure of a part: what its processes had on the way. */
const DOUBTS: Readonly<Record<Part, number>> = {
  worker: ON_THE_WAY,
  scheduler: ON_THE_WAY,
  postgres: (WORKERS + 1) * ON_THE_WAY,
  'database network': (WORKERS + 1) * ON_THE_WAY,
  'service network': (WORKERS + 1) * ON_THE_WAY,
};

/** Slots of a whole day are due, so that there is always one to run; one that fails is run again. */
const FLOW = TWO_SOURCES.replace('engine: pg-boss', 'engine: pg-boss, serve_works: false').replace(
  'brand_id',
  'schedule: "* * * * *", catch_up: all, overlap: queue, brand_id',
);

/** A run as `expectSums` wants it. */
type Counted = Parameters<typeof expectSums>[0];

type Stage = {
  readonly shop: Workshop;
  readonly server: PostgresServer;
  readonly database: DatabaseProxy;
  readonly service: DatabaseProxy;
  readonly workers: CliProcess[];
  readonly schedulers: CliProcess[];
  /** Restarts processes that have ended. */
  readonly keepWorking: () => void;
};

it(`with ${OUTAGES} outages of workers, the scheduler, Postgres and the network, each order is posted once with its amount, and no more are in doubt than were on their way`, async () => {
  const stage = await openStage();
  const { shop, server } = stage;
  const random = seededRandom(`outages ${SEED}`);
  const counts: Partial<Record<Part, number>> = {};
  for (let outage = 0; outage < OUTAGES; outage += 1) {
    const target = Math.min((await settled(server)) + 1 + Math.floor(random() * BETWEEN), 2 * ORDERS);
    await waitFor(async () => {
      stage.keepWorking();
      return (await settled(server)) >= target;
    });
    // Each part fails once before any fails again, so that few outages cover all of them.
    const part = PARTS[outage < PARTS.length ? outage : Math.floor(random() * PARTS.length)] as Part;
    counts[part] = (counts[part] ?? 0) + 1;
    if (OUTAGES >= 100) process.stderr.write(`outage ${outage + 1} of ${OUTAGES}: ${part}\n`);
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
  for (const process of stage.schedulers) process.kill('SIGTERM');
  for (const { ended } of stage.schedulers) await ended;
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
  const runs = await rowsOf(
    server,
    sql<{ status: string; counts: Counted['counts'] | null }>`select status, counts from ops.runs`,
  );
  expect(runs.filter(({ status }) => status === 'running')).toEqual([]);
  const complete = runs.filter(({ status }) => status === 'ok' || status === 'issues');
  expect(complete).not.toEqual([]);
  for (const { counts } of complete) expectSums({ counts: counts as Counted['counts'] });
});

async function openStage(): Promise<Stage> {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const database = await startDatabaseProxy(server.url);
  onTestFinished(() => database.close());
  const shop = await openSpreadShop({ databaseUrl: database.url, sandbox: { latencyMs: 20 }, flow: FLOW });
  // The proxy forwards bytes, whatever their protocol.
  const service = await startDatabaseProxy(shop.sandbox.url);
  onTestFinished(() => service.close());
  shop.env.INFLUENCER_API_URL = service.url;
  expect((await shop.cli('migrate')).exitCode).toBe(0);
  dropBoth(shop, ORDERS);
  await rowsOf(
    server,
    sql`insert into ops.schedules (job, looked_until) values ('orders', clock_timestamp() - interval '1 day')`,
  );

  let hired = 0;
  const hire = (): CliProcess => startWorker(shop, `worker-${hired++}`, QUIET);
  const serve = (): CliProcess => shop.start('serve', '--port', '0', '--json');
  const workers = Array.from({ length: WORKERS }, hire);
  await waitFor(async () => (await rowsOf(server, sql`select from ops.workers`)).length === WORKERS);
  const schedulers = Array.from({ length: 2 }, serve);
  function keepWorking(): void {
    for (const [place, worker] of workers.entries()) if (worker.hasEnded()) workers[place] = hire();
    for (const [place, process] of schedulers.entries()) if (process.hasEnded()) schedulers[place] = serve();
  }
  return { shop, server, database, service, workers, schedulers, keepWorking };
}

/** Makes a part fail, and repairs it. */
async function fail(stage: Stage, part: Part, random: () => number): Promise<void> {
  const { server, database, service, workers } = stage;
  if (part === 'worker') workers[Math.floor(random() * WORKERS)]?.kill('SIGKILL');
  else if (part === 'scheduler') (await findRunning(stage)).kill('SIGKILL');
  else if (part === 'postgres') {
    await server.kill();
    await sleep(random() * 2_000);
    await server.start();
  } else await interrupt(part === 'database network' ? database : service, random);
}

/** Finds the process that runs the job. */
async function findRunning({ server, schedulers, keepWorking }: Stage): Promise<CliProcess> {
  let found: CliProcess | undefined;
  await waitFor(async () => {
    keepWorking();
    const [lease] = await rowsOf(
      server,
      sql<{ pid: number }>`select pid from ops.leases where name = 'job:orders'`,
    );
    found = schedulers.find((process) => process.pid === lease?.pid && !process.hasEnded());
    return found !== undefined;
  });
  return found as CliProcess;
}

const FAULTS = ['cut', 'silence', 'delay'] as const;

/** Makes a network fail for a fraction of a second up to longer than any time limit. */
async function interrupt(network: DatabaseProxy, random: () => number): Promise<void> {
  const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? 'cut';
  network[fault]();
  // Longer than the limit of a request (3 s) and than a lease (4 s), or shorter.
  await sleep(random() * 8_000);
  // Bytes were lost, so no connection can continue, unless they were only delayed.
  if (fault !== 'delay') network.cut();
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
