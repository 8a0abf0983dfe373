import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { seededRandom } from '../../../../src/sandbox/random-id.ts';
import { startWorker } from '../../../runs/workers/spread-shop.ts';
import { repeated, type Workshop } from '../../../runs/workshop.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../../support/database-proxy.ts';
import type { CliProcess } from '../../../support/run-cli.ts';
import { waitFor } from '../../../support/wait-for.ts';
import {
  type BackfillEnded,
  backfill,
  credited,
  ended,
  endState,
  eventOf,
  HISTORY_FLOW,
  openHistory,
  settleDoubts,
  toHistory,
  twoYears,
  wholeState,
} from './history.ts';

/*
 * Two years are backfilled, one after the other, while processes are killed at random moments, and connections to
 * the database and to the service break, with answers lost on the way. Whatever happened, the next process ends by
 * itself, and ledger, reports and service agree.
 *
 * `npm run test:campaigns -- backfill-kills` tries 40 seeds, a third of them with workers; BACKFILL_SEED chooses the first.
 */
const IS_CAMPAIGN = process.env.BACKFILL_SEEDS !== undefined;
const SEEDS = Number(process.env.BACKFILL_SEEDS ?? 1);
const FIRST_SEED = Number(process.env.BACKFILL_SEED ?? 1);
/** Interruptions of each of the two backfills. */
const INTERRUPTIONS = IS_CAMPAIGN ? 5 : 3;
const CONCURRENCY = 8;
/** The requests in flight of a process, and half as many entries that are being claimed or recorded. */
const ON_THE_WAY = CONCURRENCY * 1.5;
const ORDERS = twoYears(240);
const YEARS = ['2023', '2024'];
const SHARE = ['--rate', '60', '--concurrency', String(CONCURRENCY)];
const QUIET = { LOG_LEVEL: 'silent' };
const WORKERS = 2;

type Stage = {
  readonly shop: Workshop;
  readonly database: DatabaseProxy;
  readonly service: DatabaseProxy;
  /** Loses this many of the next answers, with their connections. */
  readonly lose: (from: 'database' | 'service', answers: number) => void;
  readonly random: () => number;
  /** Empty if the backfill posts its orders itself. */
  readonly workers: CliProcess[];
};

/** What an interruption does to a process that executes a backfill. */
const interruptions: Readonly<Record<string, (stage: Stage, process: CliProcess) => Promise<void>>> = {
  kill: async (_, process) => process.kill('SIGKILL'),
  stop: async (_, process) => process.kill('SIGTERM'),
  'kill a worker': async ({ shop, workers, random }, process) => {
    const place = Math.floor(random() * workers.length);
    (workers[place] ?? process).kill('SIGKILL');
    if (workers.length > 0) workers[place] = startWorker(shop, `worker-${random()}`, QUIET);
  },
  'pause and kill': async ({ shop }, process) => {
    await shop.cli('backfill', 'pause');
    process.kill('SIGKILL');
  },
  'pause and resume': async ({ shop, random }) => {
    await shop.cli('backfill', 'pause');
    await sleep(random() * 1_000);
    await shop.cli('backfill', 'resume', ...SHARE);
  },
  'cut the database': ({ database, random }) => breakDown(database, 'cut', random),
  'silence the database': ({ database, random }) => breakDown(database, 'silence', random),
  'delay the database': ({ database, random }) => breakDown(database, 'delay', random),
  'lose answers of the database': async ({ lose, random }) => lose('database', 1 + Math.floor(random() * 3)),
  'cut the service': ({ service, random }) => breakDown(service, 'cut', random),
  'silence the service': ({ service, random }) => breakDown(service, 'silence', random),
  'lose answers of the service': async ({ lose, random }) => lose('service', 1 + Math.floor(random() * 5)),
};

/** Makes a network fail for up to longer than a request or a lease lasts. */
async function breakDown(
  network: DatabaseProxy,
  fault: 'cut' | 'silence' | 'delay',
  random: () => number,
): Promise<void> {
  network[fault]();
  await sleep(random() * 5_000);
  // Bytes were lost, so no connection can continue, unless they were only delayed.
  if (fault !== 'delay') network.cut();
  network.restore();
}

for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1)
  it(`interrupted ${2 * INTERRUPTIONS} times, two backfills post each order once, and all sums agree (seed ${seed})`, async () => {
    const stage = await openStage(seed);
    const { shop } = stage;
    const done: string[] = [];
    let doubts = 0;
    for (const year of YEARS) {
      const told = await interrupt(stage, year);
      await letEnd(stage, year);
      const shown = await progressOf(shop, year);
      expect(shown, told.join(', ')).toMatchObject({ state: 'done', to_post: 0, held: 0, rejected: 0 });
      expect(shown.planned).toBe(ofYear(year).length);
      expect(Number(shown.accepted) + Number(shown.in_doubt)).toBe(shown.planned);
      expect(Number(shown.in_doubt)).toBeLessThanOrEqual((INTERRUPTIONS + 1) * ON_THE_WAY * (1 + WORKERS));
      await expectAgreement(stage, year, shown);
      doubts += Number(shown.in_doubt);
      done.push(...told);
    }
    if (IS_CAMPAIGN) process.stderr.write(`seed ${seed}: ${done.join(', ')}; ${doubts} doubts\n`);

    // A person settles the doubts; the job's runs send again what never arrived.
    await settleDoubts(shop);
    const { exitCode, stderr, finished } = await shop.run();
    expect(exitCode, stderr).toBe(0);
    const cancelled = ORDERS.filter(({ status }) => status === 'cancelled').length;
    expect(finished?.counts.excluded).toEqual({
      cancelled,
      before_start: ORDERS.length - credited(ORDERS).length - cancelled,
    });
    expect(await endState(shop)).toEqual(wholeState(ORDERS));
    expect(await shop.posted()).toEqual(
      credited(ORDERS)
        .map(({ id }) => id)
        .sort(),
    );
    for (const year of YEARS) await expectAgreement(stage, year, await progressOf(shop, year));
  });

async function openStage(seed: number): Promise<Stage> {
  const random = seededRandom(`backfills ${seed}`);
  const isSpread = IS_CAMPAIGN && random() < 0.3;
  const shop = await openHistory({
    api: `concurrency: ${CONCURRENCY}\nlease_seconds: 3\ntimeout_seconds: 2.5`,
    sandbox: { latencyMs: 40 },
    flow: `${isSpread ? 'work: {engine: pg-boss}\n' : ''}${HISTORY_FLOW}`,
  });
  for (const year of YEARS)
    shop.drop(`${year}.csv`, toHistory(ORDERS.filter(({ placedAt }) => placedAt.startsWith(year))));
  const toLose = { database: 0, service: 0 };
  const through = async (from: 'database' | 'service', url: string): Promise<DatabaseProxy> => {
    // It forwards bytes, whatever their protocol.
    const proxy = await startDatabaseProxy(url, {
      onAnswer: () => {
        if (toLose[from] === 0) return 'forward';
        toLose[from] -= 1;
        return 'drop';
      },
    });
    onTestFinished(() => proxy.close());
    return proxy;
  };
  const database = await through('database', shop.databaseUrl);
  const service = await through('service', shop.sandbox.url);
  shop.env.DATABASE_URL = database.url;
  shop.env.INFLUENCER_API_URL = service.url;
  const workers = Array.from({ length: isSpread ? WORKERS : 0 }, (_, index) =>
    startWorker(shop, `worker-${index}`, QUIET),
  );
  const lose: Stage['lose'] = (from, answers) => {
    toLose[from] = answers;
  };
  return { shop, database, service, lose, random, workers };
}

/** Executes the backfill of a year and interrupts it. @returns what was done to it. */
async function interrupt(stage: Stage, year: string): Promise<readonly string[]> {
  const { random } = stage;
  const told: string[] = [];
  let process: CliProcess | null = null;
  while (told.length < INTERRUPTIONS) {
    if (process === null || process.hasEnded()) {
      if (process !== null) await expectNoBug(process);
      process = await start(stage, year);
    }
    await comeToAMoment(stage, process);
    const names = Object.keys(interruptions);
    const name = names[Math.floor(random() * names.length)] ?? 'kill';
    told.push(name);
    await interruptions[name]?.(stage, process);
  }
  if (process !== null && random() < 0.5) process.kill('SIGKILL');
  if (process !== null) await expectNoBug(process);
  return told;
}

/** Plans and executes in one step, in two, or continues what is there. */
async function start({ shop, random }: Stage, year: string): Promise<CliProcess> {
  const { rows } = await sql<{ state: string }>`
    select state from ops.backfills where from_day = ${`${year}-01-01`}::date and state in ('planned', 'running', 'paused')`.execute(
    shop.db,
  );
  const way = random();
  if (rows.length > 0 && way < 0.6) return shop.start('backfill', 'resume', '--yes', ...SHARE, '--json');
  const isUnfinished = rows.some(({ state }) => state !== 'planned');
  const plan = !isUnfinished && way < 0.7 ? ['--plan'] : ['--yes'];
  return shop.start('backfill', 'orders', ...periodOf(year), ...plan, ...SHARE, '--json');
}

/** Waits for a random time, or until a random number of orders more have been posted. */
async function comeToAMoment({ shop, random }: Stage, process: CliProcess): Promise<void> {
  if (random() < 0.4) return sleep(random() * 2_500);
  const target = (await shop.posted()).length + 1 + Math.floor(random() * 30);
  await waitFor(async () => process.hasEnded() || (await shop.posted()).length >= target);
}

/** Waits until a process ends by itself or by its signal, in one of the ways that the manual describes. */
async function expectNoBug(process: CliProcess): Promise<BackfillEnded> {
  const result = await ended(process);
  expect(
    result.events.filter(({ code }) => code === 'crash'),
    result.stderr,
  ).toEqual([]);
  // 130: it was stopped. 1: the database or the service was unreachable. 5: the lease of a killed one.
  if (result.signal === null) expect([0, 1, 3, 5, 6, 130], result.stderr).toContain(result.exitCode);
  return result;
}

/** Lets the next process end without an interruption, once the lease of a killed one has expired. */
async function letEnd({ shop, lose }: Stage, year: string): Promise<void> {
  lose('database', 0);
  lose('service', 0);
  for (;;) {
    const process = shop.start('backfill', 'orders', ...periodOf(year), '--yes', ...SHARE, '--json');
    const result = await expectNoBug(process);
    if (result.exitCode === 5) continue;
    expect([0, 6], result.stderr).toContain(result.exitCode);
    // Without this event, an interrupted process had already finished the backfill, and nothing is left to plan.
    const finished = eventOf(result, 'backfill_finished');
    if (finished !== undefined) expect(finished.end).toBe('done');
    return;
  }
}

const periodOf = (year: string) => ['--from', `${year}-01-01`, '--to', `${year}-12-31`];

const ofYear = (year: string) => credited(ORDERS).filter(({ placedAt }) => placedAt.startsWith(year));

/** Reads what `backfill status` says about the one backfill of a year that was approved. */
async function progressOf(shop: Workshop, year: string): Promise<Record<string, unknown>> {
  const { rows } = await sql<{ id: string }>`
    select backfill_id as id from ops.backfills
    where from_day = ${`${year}-01-01`}::date and approved_at is not null`.execute(shop.db);
  expect(rows).toHaveLength(1);
  return eventOf(await backfill(shop, 'status', String(rows[0]?.id)), 'backfill') ?? {};
}

type Sums = Readonly<Record<string, { readonly orders: number; readonly cents: number }>>;

function addUp(orders: readonly { currency?: string | undefined; revenue?: unknown }[]): Sums {
  const sums: Record<string, { orders: number; cents: number }> = {};
  for (const { currency = 'EUR', revenue } of orders) {
    const { orders: count, cents } = sums[currency] ?? { orders: 0, cents: 0 };
    sums[currency] = { orders: count + 1, cents: cents + Math.round(Number(revenue) * 100) };
  }
  return sums;
}

/** Compares ledger, progress, reports and service: orders and amounts in each currency. */
async function expectAgreement({ shop }: Stage, year: string, shown: Record<string, unknown>): Promise<void> {
  const expected = new Map(ofYear(year).map((order) => [order.id, order]));
  const processed = (await shop.sandbox.referrals()).filter(({ order_id: id }) => expected.has(id));
  expect(repeated(processed.map(({ order_id: id }) => id))).toEqual([]);
  const misstated = processed.filter(
    ({ order_id: id, order_revenue: sent }) => Number(expected.get(id)?.revenue) !== Number(sent),
  );
  expect(misstated).toEqual([]);
  const { rows: entries } = await sql<{ id: string; state: string; revenue: string; currency: string }>`
    select order_id as id, state, amount::text as revenue, currency from ledger.entries`.execute(shop.db);
  const own = entries.filter(({ id }) => expected.has(id));
  const accepted = own.filter(({ state }) => state === 'accepted');
  const known = new Set(accepted.map(({ id }) => id));
  const sums = addUp(accepted);
  const inService = processed.filter(({ order_id: id }) => known.has(id));
  expect(
    addUp(
      inService.map(({ order_id: id, order_revenue }) => ({ ...expected.get(id), revenue: order_revenue })),
    ),
  ).toEqual(sums);
  // What the service processed is accepted or in doubt, and nothing else.
  const open = new Set(own.filter(({ state }) => state === 'in_doubt').map(({ id }) => id));
  expect(processed.filter(({ order_id: id }) => !known.has(id) && !open.has(id))).toEqual([]);
  const amounts = shown.amounts as readonly { currency: string; accepted: string }[];
  expect(shown.accepted).toBe(accepted.length);
  expect(
    Object.fromEntries(
      amounts.map(({ currency, accepted }) => [currency, Math.round(Number(accepted) * 100)]),
    ),
  ).toEqual(Object.fromEntries(Object.entries(sums).map(([currency, { cents }]) => [currency, cents])));
  const { rows: reported } = await sql<{ currency: string; orders: number; cents: number }>`
    select currency, sum(accepted_orders)::float8 as orders, (100 * sum(accepted_amount))::float8 as cents
    from bi.attribution_funnel_daily where to_char(day_utc, 'YYYY') = ${year}
    group by currency having sum(accepted_orders) > 0`.execute(shop.db);
  expect(
    Object.fromEntries(reported.map(({ currency, orders, cents }) => [currency, { orders, cents }])),
  ).toEqual(sums);
}
