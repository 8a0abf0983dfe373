import { describe, expect, it } from 'vitest';
import { expectSums } from '../../../runs/workshop.ts';
import { waitFor } from '../../../support/wait-for.ts';
import {
  backfill,
  blockWrites,
  ended,
  endState,
  eventOf,
  isAnyoneBlocked,
  openHistory,
  PERIOD,
  toHistory,
  twoYears,
  wholeState,
} from './history.ts';

const NEW = { id: 'new', placedAt: '2025-02-02T00:00:00Z', revenue: '5.00' };

describe('a run during a backfill', () => {
  it('posts and counts only its own orders, and reports what waits for the backfill', async () => {
    const workshop = await openHistory();
    const orders = twoYears(200);
    workshop.drop('history.csv', toHistory(orders));
    const process = workshop.start('backfill', 'orders', ...PERIOD, '--yes', '--rate', '2', '--json');
    await waitFor(async () => (await workshop.posted()).length > 1);
    workshop.drop('news.csv', toHistory([NEW]));
    const { finished, exitCode, stderr } = await workshop.run();
    expect(exitCode, stderr).toBe(0);
    expect(finished?.counts.entries.accepted).toBe(1);
    expect(finished?.amounts).toEqual([{ currency: 'EUR', accepted: '5.0000' }]);
    if (finished !== null) expectSums(finished);
    expect(finished?.counts.entries.ready, 'the backfill is still at work').toBeGreaterThan(0);
    expect(finished?.counts.ready_by_backfill).toBe(finished?.counts.entries.ready);
    expect((await workshop.cli('status')).stdout).toMatch(/ready, by backfill 1 +\d/);
    expect((await workshop.cli('plan', 'orders')).stdout).toMatch(
      /would be posted.* of them by the backfill/,
    );
    expect(process.stdout()).not.toContain('backfill_finished');
    process.kill('SIGTERM');
    expect((await ended(process)).exitCode).toBe(130);
    const done = await backfill(workshop, 'resume', '--rate', '10000', '--concurrency', '16');
    expect(done.exitCode, done.stderr).toBe(0);
    const ofTheRun = `${NEW.id} accepted ${NEW.revenue}00 EUR - attributed`;
    expect(await endState(workshop)).toEqual([...wholeState(orders), ofTheRun].sort());
  });

  it('waits while the backfill reads files, and does not fail', async () => {
    const workshop = await openHistory();
    workshop.drop('history.csv', toHistory(twoYears(20)));
    const release = await blockWrites(workshop, 'intake.orders');
    const process = workshop.start('backfill', 'orders', ...PERIOD, '--plan', '--json');
    await waitFor(() => isAnyoneBlocked(workshop));
    const run = workshop.start('run', 'orders', '--json');
    await waitFor(async () => {
      const leases = workshop.db.selectFrom('ops.leases').select('name').where('name', '=', 'job:orders');
      return (await leases.execute()).length > 0;
    });
    await release();
    expect((await ended(process)).exitCode).toBe(0);
    const result = await ended(run);
    expect(result.exitCode, result.stderr).toBe(0);
    expect(eventOf(result, 'run_finished')).toMatchObject({ status: 'ok' });
  });

  it('leaves a doubt of the backfill to an operator, and sends the order after an approved re-send', async () => {
    const workshop = await openHistory();
    workshop.drop('history.csv', toHistory([{ id: 'lost', placedAt: '2023-05-05T10:00:00Z' }]));
    await workshop.sandbox.setFaults([
      { operation: 'new_influencer_referral', kind: 'reset_before', count: 1 },
    ]);
    const first = await backfill(workshop, 'orders', ...PERIOD, '--yes');
    expect(first.exitCode, first.stderr).toBe(6);
    expect(eventOf(first, 'backfill_finished')).toMatchObject({ end: 'done', in_doubt: 1 });
    const { entry_id: entryId } = await workshop.db
      .selectFrom('ledger.entries')
      .select('entry_id')
      .executeTakeFirstOrThrow();
    await workshop.cli('review', entryId, '--resend', '--yes', '--reason', 'it is not there');
    workshop.drop('news.csv', toHistory([NEW]));
    await workshop.run();
    expect(await workshop.posted()).toEqual(['lost', 'new']);
  });

  it('a second backfill of the same job is refused until the first one has ended', async () => {
    const workshop = await openHistory();
    workshop.drop('history.csv', toHistory(twoYears(200)));
    const process = workshop.start('backfill', 'orders', ...PERIOD, '--yes', '--rate', '10', '--json');
    await waitFor(async () => (await workshop.posted()).length > 0);
    const second = await backfill(workshop, 'orders', ...PERIOD, '--yes');
    expect(second.exitCode).toBe(5);
    process.kill('SIGTERM');
    await process.ended;
    const other = await backfill(workshop, 'orders', '--from', '2022-01-01', '--to', '2022-12-31', '--yes');
    expect(other.exitCode).toBe(2);
    expect(eventOf(other, 'error')).toMatchObject({ code: 'backfill_unfinished' });
  });
});
