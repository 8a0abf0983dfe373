import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openCalendar } from '../../src/ops/schedule/calendar.ts';
import { seededRandom } from '../../src/sandbox/random-id.ts';
import { countStates, manyRows, openWorkshop, repeated, toCsv, type Workshop } from '../runs/workshop.ts';
import { waitFor } from '../support/wait-for.ts';

vi.setConfig({ testTimeout: 1_200_000 });

const SCRIPT = new URL('serving-process.ts', import.meta.url).pathname;

/** Requests in flight, and half as many more, for each of a process's two jobs. */
const DOUBTS_A_KILL = 12;

/** The days of the period. FORTNIGHT_DAYS=14 makes it the fortnight of the campaign. */
const DAYS = Number(process.env.FORTNIGHT_DAYS ?? 3);
/** A period that includes the day on which the clocks go back. */
const FROM = new Date('2026-10-22T22:00Z');
const UNTIL = new Date(FROM.getTime() + (DAYS * 24 + 1) * 3_600_000);
/** FORTNIGHT_EVERY_HOURS=1 makes the test take some minutes. */
const EVERY_HOURS = Number(process.env.FORTNIGHT_EVERY_HOURS ?? 12);
const SCHEDULE = `5 */${EVERY_HOURS} * * *`;
const TIME_ZONE = 'Europe/Amsterdam';
const HOUR_MS = 3_600_000;

const FLOW = `
serve: {grace_seconds: 10}
sources:
  shop: {uri: ./exports/shop-*.csv, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  web: {uri: ./exports/web-*.csv, layout: generic, order_platform: woocommerce, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, schedule: "${SCHEDULE}", time_zone: ${TIME_ZONE}, catch_up: all, overlap: queue}
  web-orders: {kind: attribute-orders, source: web, brand_id: 4819, codes: ./codes.csv, after: orders, overlap: queue}
`;

it('two processes that are killed at random over days run each slot once, lose and repeat no order, and leave doubts only for requests in flight', async () => {
  const shop = await openWorkshop({
    flow: FLOW,
    api: 'lease_seconds: 3\ntimeout_seconds: 2.5',
    sandbox: { latencyMs: 8 },
  });
  await sql`create table public.simulated_clock (now timestamptz not null)`.execute(shop.db);
  await sql`insert into public.simulated_clock values (${FROM})`.execute(shop.db);
  const random = seededRandom('a fortnight');
  const processes = [await start(shop), await start(shop)];
  await waitFor(async () => (await shop.db.selectFrom('ops.schedules').selectAll().execute()).length === 2);

  const expected = openCalendar({ schedule: SCHEDULE, timeZone: TIME_ZONE }).between(FROM, UNTIL);
  const lastSlot = expected.at(-1)?.getTime() ?? 0;
  let orders = 0;
  let kills = 0;
  for (
    let now = FROM.getTime();
    now < UNTIL.getTime();
    now += EVERY_HOURS * HOUR_MS * (0.2 + 1.3 * random())
  ) {
    // Orders after the last slot would wait for the next one, which is outside this test.
    const more = now < lastSlot ? Math.floor(random() * 25) : 0;
    if (more > 0) {
      const name = `${Math.round(now)}`;
      const rows = manyRows(more, `o${name}-`);
      shop.drop(`shop-${name}.csv`, toCsv(rows));
      // With other amounts: an order of another platform with the same code, amount and minute may be the same one.
      shop.drop(`web-${name}.csv`, toCsv(rows.map((row) => ({ ...row, revenue: `1${row.revenue}` }))));
    }
    orders += more;
    await setClock(shop, new Date(now));
    const what = random();
    // A process is killed during or between runs; sometimes both are, and some time passes before they are
    // started again.
    const struck = what < 0.1 ? [0] : what < 0.2 ? [1] : what < 0.25 ? [0, 1] : [];
    if (struck.length > 0) await sleep(random() * 250);
    for (const index of struck) {
      processes[index]?.kill(random() < 0.8 ? 'SIGKILL' : 'SIGTERM');
      kills += 1;
    }
    if (struck.length === 0 && random() < 0.6) await settled(shop);
    for (const index of struck) processes[index] = await start(shop);
  }
  await setClock(shop, UNTIL);
  await settled(shop);
  expect(kills).toBeGreaterThan(DAYS / 3);

  expect(expected).toHaveLength((24 / EVERY_HOURS) * DAYS);
  for (const job of ['orders', 'web-orders']) {
    const slots = await shop.db
      .selectFrom('ops.slots')
      .selectAll()
      .where('job', '=', job)
      .orderBy('slot')
      .execute();
    expect(slots.map(({ slot }) => slot)).toEqual(expected);
    expect(slots.filter(({ state }) => state !== 'done')).toEqual([]);
    const runs = await shop.db
      .selectFrom('ops.runs')
      .select(['run_id', 'status'])
      .where('job', '=', job)
      .execute();
    const ended = runs
      .filter(({ status }) => status === 'ok' || status === 'issues')
      .map(({ run_id }) => run_id);
    expect(ended.sort()).toEqual(slots.map(({ run_id }) => run_id).sort());
  }

  const posted = await shop.sandbox.referrals();
  const ids = posted.map(({ order_id, order_platform }) => `${order_platform} ${order_id}`);
  expect(repeated(ids)).toEqual([]);
  const { accepted = 0, in_doubt: doubts = 0, ...others } = await countStates(shop.db);
  expect(others).toEqual({});
  expect(accepted + doubts).toBe(2 * orders);
  expect(doubts).toBeLessThanOrEqual(kills * DOUBTS_A_KILL);
  expect(ids.length).toBeGreaterThanOrEqual(accepted);
  expect(ids.length).toBeLessThanOrEqual(accepted + doubts);
});

async function start(shop: Workshop): Promise<ChildProcess> {
  const child = spawn(process.execPath, [SCRIPT, join(shop.folder, 'pipeline.yaml')], {
    env: { PATH: process.env.PATH, ...shop.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout, 'data');
  return child;
}

async function setClock(shop: Workshop, now: Date): Promise<void> {
  await sql`update public.simulated_clock set now = ${now}`.execute(shop.db);
}

/**
 * Waits until the schedule has been checked up to the clock's time and nothing is left to do. A slot may be
 * delayed because its process lost its lease on a busy machine or another process still holds it. It
 * continues when the clock reaches its time, so this function also advances the clock.
 */
function settled(shop: Workshop): Promise<void> {
  return waitFor(
    async () => {
      await sql`
        update public.simulated_clock c set now = s.not_before
        from (select min(not_before) as not_before from ops.slots where state = 'due') s
        where s.not_before > c.now`.execute(shop.db);
      const { rows } = await sql`
        select 1 from public.simulated_clock c
        where exists (select 1 from ops.slots where not is_settled)
          -- A follower has no schedule of its own, and is looked after a little later.
          or exists (select 1 from ops.schedules s where s.job = 'orders' and s.looked_until < c.now)`.execute(
        shop.db,
      );
      return rows.length === 0;
    },
    { timeoutMs: 60_000 },
  );
}
