import { describe, expect, it } from 'vitest';
import { countStates, type Workshop } from '../../../runs/workshop.ts';
import type { CliProcess } from '../../../support/run-cli.ts';
import { waitFor } from '../../../support/wait-for.ts';
import {
  backfill,
  blockWrites,
  countPosted,
  credited,
  ended,
  endState,
  eventOf,
  type HistoricOrder,
  isAnyoneBlocked,
  letLeasesEnd,
  openHistory,
  PERIOD,
  settleDoubts,
  toHistory,
  twoYears,
  wholeState,
} from './history.ts';

/** Enough orders that the backfill can be stopped in the middle; BACKFILL_ORDERS can set more. */
const ORDERS = Number(process.env.BACKFILL_ORDERS ?? 1_000);
const IN_FLIGHT = 32;
/** Enough time for hundreds of thousands of orders. */
const LONG = { timeoutMs: 60_000 + ORDERS * 5 };
/** The requests in flight, and half as many entries that are being claimed or recorded. */
const AT_ONCE = IN_FLIGHT + IN_FLIGHT / 2;

async function openTwoYears(): Promise<{ workshop: Workshop; orders: readonly HistoricOrder[] }> {
  const workshop = await openHistory({ api: 'concurrency: 32' });
  const orders = twoYears(ORDERS);
  workshop.drop('history.csv', toHistory(orders));
  return { workshop, orders };
}

/** Slow enough that a test can interrupt the backfill, with any number of orders. */
const SHARE = ['--rate', String(ORDERS / 4), '--concurrency', String(IN_FLIGHT)];

const start = (workshop: Workshop): CliProcess =>
  workshop.start('backfill', 'orders', ...PERIOD, '--yes', ...SHARE, '--json');

/** Kills the process with SIGKILL while it waits for a lock on a table. */
async function killWhileItWrites(workshop: Workshop, table: string): Promise<void> {
  const release = await blockWrites(workshop, table);
  const process = start(workshop);
  await waitFor(() => isAnyoneBlocked(workshop), LONG);
  process.kill('SIGKILL');
  await process.ended;
  await release();
  await waitFor(async () => !(await isAnyoneBlocked(workshop)), LONG);
  await letLeasesEnd(workshop);
}

async function killAfter(workshop: Workshop, posted: number): Promise<void> {
  const process = start(workshop);
  await waitFor(async () => (await countPosted(workshop)) >= posted, LONG);
  process.kill('SIGKILL');
  await process.ended;
  await letLeasesEnd(workshop);
}

describe('an interrupted backfill', () => {
  it('continues after a SIGKILL in any phase, with the same result as without the interruption', async () => {
    const { workshop, orders } = await openTwoYears();
    const whole = credited(orders).length;
    await killWhileItWrites(workshop, 'intake.orders');
    await killWhileItWrites(workshop, 'ops.backfill_orders');
    await killWhileItWrites(workshop, 'ledger.entries');
    expect(await workshop.posted(), 'nothing is posted before the plan is approved and made').toEqual([]);
    let doubts = 0;
    for (const share of [0.1, 0.4, 0.7]) {
      await killAfter(workshop, Math.floor(whole * share));
      doubts = await settleDoubts(workshop);
      expect(doubts).toBeLessThanOrEqual(AT_ONCE);
    }
    // At the very end, everything is posted, but the process cannot record that it has finished.
    const last = start(workshop);
    await waitFor(async () => (await countPosted(workshop)) > whole * 0.8, LONG);
    const release = await blockWrites(workshop, 'ops.backfills');
    await waitFor(
      async () => (await countPosted(workshop)) === whole && (await isAnyoneBlocked(workshop)),
      LONG,
    );
    last.kill('SIGKILL');
    await last.ended;
    await release();
    await letLeasesEnd(workshop);

    const done = await ended(start(workshop));
    expect(done.exitCode, done.stderr).toBe(0);
    expect(eventOf(done, 'backfill_finished')).toMatchObject({
      end: 'done',
      planned: whole,
      accepted: whole,
    });
    expect(await endState(workshop)).toEqual(wholeState(orders));
    expect(await workshop.posted()).toEqual(
      credited(orders)
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('waits after a pause, continues after a resume, and leaves no doubt after SIGTERM', async () => {
    const { workshop, orders } = await openTwoYears();
    const whole = credited(orders).length;
    // Loads the code of the command, which runs in this process. Otherwise the backfill could end before the
    // command pauses it.
    await workshop.cli('backfill', 'pause');
    const first = start(workshop);
    await waitFor(async () => (await countPosted(workshop)) > whole * 0.05, LONG);
    const paused = await workshop.cli('backfill', 'pause');
    expect(paused.exitCode, paused.stderr).toBe(0);
    await waitFor(() => first.stdout().includes('Paused.'));
    const posted = (await workshop.posted()).length;
    const status = await backfill(workshop, 'status');
    expect(eventOf(status, 'backfill')).toMatchObject({ state: 'paused', accepted: posted, in_doubt: 0 });
    expect((await workshop.posted()).length).toBe(posted);

    const resumed = await backfill(workshop, 'resume');
    expect(eventOf(resumed, 'backfill_resumed')).toMatchObject({ pid: first.pid });
    await waitFor(async () => (await countPosted(workshop)) > posted, LONG);
    first.kill('SIGTERM');
    const stopped = await ended(first);
    expect(stopped.exitCode).toBe(130);
    expect(eventOf(stopped, 'backfill_finished')).toMatchObject({ end: 'stopped', in_doubt: 0 });

    const done = await backfill(workshop, 'resume', ...SHARE);
    expect(done.exitCode, done.stderr).toBe(0);
    expect(await endState(workshop)).toEqual(wholeState(orders));
    expect(await workshop.posted()).toEqual(
      credited(orders)
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('leaves unposted orders unchanged after a cancel, so that another plan posts them', async () => {
    const { workshop, orders } = await openTwoYears();
    const whole = credited(orders).length;
    // A run has read the file and excluded all of its orders.
    const gone = orders.filter(({ status }) => status === 'cancelled').length;
    const before = await workshop.run();
    expect(before.finished?.counts.excluded).toEqual({ cancelled: gone, before_start: ORDERS - gone });
    const first = start(workshop);
    await waitFor(async () => (await countPosted(workshop)) > whole * 0.05, LONG);
    expect((await workshop.cli('backfill', 'cancel')).exitCode).toBe(0);
    const cancelled = await ended(first);
    expect(cancelled.exitCode).toBe(130);
    const posted = (await workshop.posted()).length;
    expect(eventOf(cancelled, 'backfill_finished')).toMatchObject({ end: 'cancelled', accepted: posted });
    expect(await countStates(workshop.db)).toEqual({ accepted: posted, held: whole - posted });

    const { finished } = await workshop.run();
    expect(finished?.counts.excluded.before_start).toBe(ORDERS - gone - posted);
    expect(finished?.counts.entries).toMatchObject({ accepted: 0, already: posted, ready: 0, held: 0 });
    expect((await workshop.posted()).length).toBe(posted);

    const done = await ended(start(workshop));
    expect(eventOf(done, 'backfill_finished')).toMatchObject({ end: 'done', planned: whole - posted });
    expect(await endState(workshop)).toEqual(wholeState(orders));
    expect(await workshop.posted()).toEqual(
      credited(orders)
        .map(({ id }) => id)
        .sort(),
    );
  });
});
