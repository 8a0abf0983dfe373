import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { countStates, manyRows, openWorkshop, readRun, repeated, toCsv } from '../pipeline/workshop.ts';
import { type CliProcess, startCli } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';

/** More of them are a campaign: `npm run test:campaigns -- work`. */
const KILLS = Number(process.env.WORK_KILLS ?? 3);
const WORKERS = 3;
const CONCURRENCY = 4;
/** Of each of two sources, so that there is work for every kill. */
const ORDERS = 100 + 60 * KILLS;
/** Requests that a process may have on their way: those on the wire, and half as many being claimed or recorded. */
const ON_THE_WAY = CONCURRENCY * 1.5;

it(`with ${KILLS} kills of workers and of the run that they work for, each order is posted once, and no more are in doubt than were on their way`, async () => {
  const shop = await openWorkshop({
    api: `concurrency: ${CONCURRENCY}\nlease_seconds: 3\ntimeout_seconds: 2.5`,
    sandbox: { latencyMs: 20 },
    flow: `
work: {engine: pg-boss}
sources:
  one: {uri: ./exports/one/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  two: {uri: ./exports/two/, layout: generic, order_platform: woocommerce, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: [one, two], brand_id: 4819, codes: ./codes.csv}
`,
  });
  for (const source of ['one', 'two']) {
    mkdirSync(join(shop.folder, 'exports', source));
    shop.drop(`${source}/orders.csv`, toCsv(manyRows(ORDERS, `${source}-`)));
  }
  const random = seeded(20_261_123);
  let hired = 0;
  /** Each with a data folder of its own, as on a machine of its own. */
  const hire = (): CliProcess =>
    startCli(['work'], {
      cwd: shop.folder,
      env: { ...shop.env, LOG_LEVEL: 'silent', INFLUENCER_SYNC_DATA: join(shop.folder, `worker-${hired++}`) },
    });
  const alive = async () => Number((await sql`select from ops.workers`.execute(shop.db)).rows.length);
  const workers = Array.from({ length: WORKERS }, hire);
  await waitFor(async () => (await alive()) === WORKERS);

  let run = shop.start('run', 'orders', '--json');
  let isRunning = true;
  void run.ended.then(() => {
    isRunning = false;
  });
  /** A run may have to wait until the lease of the one before it is over. */
  async function keepRunning(): Promise<void> {
    if (isRunning) return;
    run = shop.start('run', 'orders', '--json');
    isRunning = true;
    void run.ended.then(() => {
      isRunning = false;
    });
  }
  let kills = 0;
  while (kills < KILLS) {
    const target = (await shop.posted()).length + 1 + Math.floor(random() * 25);
    await waitFor(async () => {
      await keepRunning();
      return (await shop.posted()).length >= Math.min(target, 2 * ORDERS);
    });
    const victim = Math.floor(random() * (WORKERS + 1));
    if (victim === WORKERS) {
      run.kill('SIGKILL');
      await run.ended;
    } else {
      workers[victim]?.kill('SIGKILL');
      workers[victim] = hire();
    }
    kills += 1;
  }
  const { exitCode } = readRun(await run.ended);
  // What is left, by whoever is alive.
  let last = { exitCode };
  await waitFor(async () => {
    const { ready = 0, sending = 0 } = await countStates(shop.db);
    if (ready + sending === 0) return true;
    last = await shop.run();
    return false;
  });
  const posted = await shop.posted();
  const { accepted = 0, in_doubt: doubts = 0 } = await countStates(shop.db);
  expect(repeated(posted)).toEqual([]);
  expect(accepted + doubts).toBe(2 * ORDERS);
  expect(doubts).toBeLessThanOrEqual(kills * ON_THE_WAY);
  expect(posted.length).toBeGreaterThanOrEqual(accepted);
  expect([0, 6]).toContain(last.exitCode);
  const known = new Set(posted);
  const { rows } = await sql<{ order_id: string }>`
    select order_id from ledger.entries where state = 'accepted'`.execute(shop.db);
  expect(rows.filter(({ order_id: orderId }) => !known.has(orderId))).toEqual([]);
});

/** Numbers between 0 and 1, the same each time (a linear congruential generator). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
