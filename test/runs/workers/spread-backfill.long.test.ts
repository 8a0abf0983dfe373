import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  backfill,
  countPosted,
  credited,
  ended,
  endState,
  eventOf,
  HISTORY_FLOW,
  openHistory,
  PERIOD,
  settleDoubts,
  toHistory,
  twoYears,
  wholeState,
} from '../../jobs/attribute-orders/backfill/history.ts';
import type { CliProcess } from '../../support/run-cli.ts';
import { waitFor } from '../../support/wait-for.ts';
import { repeated, type Workshop } from '../workshop.ts';
import {
  CONCURRENCY,
  countEnds,
  firstShare,
  ON_THE_WAY,
  poison,
  SPREAD_API,
  startWorkers,
} from './spread-shop.ts';

const ORDERS = twoYears(500);
const WHOLE = credited(ORDERS).length;

describe('a backfill whose orders are posted by workers', () => {
  it('has the same result as one that posts them itself, within its own limit for all workers together', async () => {
    const shop = await openSpreadHistory();
    await startWorkers(shop, 3);
    const perSecond = 60;
    const done = await ended(start(shop, perSecond));
    expect(done.exitCode, done.stderr).toBe(0);
    expect(eventOf(done, 'backfill_finished')).toMatchObject({
      end: 'done',
      planned: WHOLE,
      accepted: WHOLE,
    });
    await expectWhole(shop);
    expect(await unitsOf(shop)).toEqual([{ kind: 'post-backfill', state: 'done', workers: 3 }]);
    expect(await worstSecond(shop)).toBeLessThanOrEqual(perSecond * 1.1);
  });

  it('continues after SIGKILL of a worker, and all by itself after the last one has stopped', async () => {
    const shop = await openSpreadHistory();
    const [doomed, other] = await startWorkers(shop, 2);
    const process = start(shop);
    await posted(shop, 0.2);
    doomed?.kill('SIGKILL');
    const atKill = await countPosted(shop);
    await waitFor(async () => (await countPosted(shop)) > atKill + ON_THE_WAY);
    other?.kill('SIGTERM');
    expect((await other?.ended)?.exitCode).toBe(0);
    const done = await ended(process);
    const doubts = Number(eventOf(done, 'backfill_finished')?.in_doubt);
    expect(done.exitCode, done.stderr).toBe(doubts > 0 ? 6 : 0);
    expect(doubts).toBeLessThanOrEqual(ON_THE_WAY);
    expect((await countPosted(shop)) + doubts).toBe(WHOLE);
    expect(repeated(await shop.posted())).toEqual([]);
    await settleDoubts(shop);
    await shop.run();
    await expectWhole(shop);
  });

  it('has its workers stop for a pause and a stop, and its next process continues', async () => {
    const shop = await openSpreadHistory();
    await startWorkers(shop, 2);
    // Loads the code of the command, which runs in this process.
    await shop.cli('backfill', 'pause');
    const first = start(shop);
    await posted(shop, 0.1);
    expect((await shop.cli('backfill', 'pause')).exitCode).toBe(0);
    await waitFor(() => first.stdout().includes('Paused.'));
    const before = (await shop.posted()).length;
    expect(before).toBeLessThan(WHOLE);
    expect(await statesOf(shop)).toEqual(['accepted', 'ready']);
    expect(await countPosted(shop)).toBe(before);

    expect((await backfill(shop, 'resume')).exitCode).toBe(0);
    await waitFor(async () => (await countPosted(shop)) > before);
    first.kill('SIGTERM');
    const stopped = await ended(first);
    expect(stopped.exitCode).toBe(130);
    expect(eventOf(stopped, 'backfill_finished')).toMatchObject({ end: 'stopped', in_doubt: 0 });

    const done = await backfill(shop, 'resume', ...share());
    expect(done.exitCode, done.stderr).toBe(0);
    await expectWhole(shop);
  });

  it('leaves its orders to the next process if it is killed, and its workers stop', async () => {
    const shop = await openSpreadHistory();
    await startWorkers(shop, 2);
    const first = start(shop);
    await posted(shop, 0.1);
    first.kill('SIGKILL');
    await first.ended;
    await waitFor(async () => {
      const { rows } = await sql`
        select from ops.leases where expires_at > clock_timestamp()`.execute(shop.db);
      return rows.length === 0;
    });
    expect(await countPosted(shop)).toBeLessThan(WHOLE);
    const done = await backfill(shop, 'resume', ...share());
    expect(done.exitCode, done.stderr).toBe(0);
    await expectWhole(shop);
  });

  it('posts the other shares if one fails in every worker, then stops, and its next process posts the rest', async () => {
    const shop = await openSpreadHistory();
    await startWorkers(shop, 2);
    const cure = await poison(shop.db, firstShare('post-backfill'));
    // So slow that another share is still being done when the first is given up.
    const done = await ended(start(shop, 20));
    expect(eventOf(done, 'backfill_finished'), done.stderr).toMatchObject({ end: 'stopped', in_doubt: 0 });
    expect(done.exitCode).toBe(1);
    const {
      'post-backfill given_up': givenUp,
      'post-backfill done': doneUnits = 0,
      ...others
    } = await countEnds(shop.db);
    expect({ givenUp, others }).toEqual({ givenUp: 1, others: {} });
    expect(doneUnits).toBeGreaterThan(1);
    expect(await countPosted(shop)).toBeGreaterThanOrEqual(
      Math.floor((WHOLE * doneUnits) / (doneUnits + 1)) - 1,
    );
    await cure();
    const resumed = await backfill(shop, 'resume', ...share(400));
    expect(resumed.exitCode, resumed.stderr).toBe(0);
    await expectWhole(shop);
  });

  it('gives way to a run, which its workers post at the same time', async () => {
    const shop = await openSpreadHistory();
    await startWorkers(shop, 2);
    const process = start(shop, 40);
    await posted(shop, 0.05);
    shop.drop('news.csv', toHistory(newOrders(120)));
    const run = await shop.run();
    expect(run, run.stderr).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 120 } } },
    });
    expect(await countPosted(shop)).toBeLessThan(WHOLE);
    const kinds = (await unitsOf(shop)).map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['post-backfill', 'post-share']));
    process.kill('SIGTERM');
    expect((await ended(process)).exitCode).toBe(130);
    expect(repeated(await shop.posted())).toEqual([]);
  });
});

async function openSpreadHistory(): Promise<Workshop> {
  const shop = await openHistory({
    api: SPREAD_API,
    flow: `work: {engine: pg-boss}\n${HISTORY_FLOW}`,
    sandbox: { latencyMs: 10 },
  });
  shop.drop('history.csv', toHistory(ORDERS));
  return shop;
}

/** Slow enough that a test can interrupt it. */
const SLOW = 80;

const share = (perSecond = SLOW) => ['--rate', String(perSecond), '--concurrency', String(CONCURRENCY)];

const start = (shop: Workshop, perSecond = SLOW): CliProcess =>
  shop.start('backfill', 'orders', ...PERIOD, '--yes', ...share(perSecond), '--json');

async function posted(shop: Workshop, part: number): Promise<void> {
  await waitFor(async () => (await countPosted(shop)) >= WHOLE * part, { timeoutMs: 60_000 });
}

/** Orders that the runs of the job credit. */
function newOrders(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `new${index}`,
    placedAt: '2025-02-02T00:00:00Z',
    revenue: '5.00',
  }));
}

async function expectWhole(shop: Workshop): Promise<void> {
  expect(await endState(shop)).toEqual(wholeState(ORDERS));
  const ids = credited(ORDERS).map(({ id }) => id);
  expect(await shop.posted()).toEqual(ids.sort());
}

async function statesOf({ db }: Workshop): Promise<readonly string[]> {
  const { rows } = await sql<{ state: string }>`select distinct state from ledger.entries order by 1`.execute(
    db,
  );
  return rows.map(({ state }) => state);
}

async function unitsOf({ db }: Workshop) {
  const { rows } = await sql<{ kind: string; state: string; workers: number }>`
    select kind, state, count(distinct worker_id)::integer as workers from ops.work_units
    group by kind, state order by kind, state`.execute(db);
  return rows;
}

/** The largest number of claims in any period of one second. */
async function worstSecond({ db }: Workshop): Promise<number> {
  const { rows } = await sql<{ worst: number }>`
    select max(claims)::integer as worst from (
      select count(*) over (order by claimed_at range between current row and interval '1 second' following) as claims
      from ledger.attempts) a`.execute(db);
  return rows[0]?.worst ?? 0;
}
