import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readEvents } from '../../../support/run-cli.ts';
import { backfill, eventOf, openHistory, PERIOD, planIn, toHistory } from './history.ts';

describe('the command backfill', () => {
  it('stops after the plan if no terminal can confirm it, and keeps the number of an unchanged plan', async () => {
    const workshop = await openHistory();
    workshop.drop('history.csv', toHistory([{ id: 'a', placedAt: '2023-05-05T10:00:00Z' }]));
    const first = await backfill(workshop, 'orders', ...PERIOD);
    expect(first.exitCode, first.stderr).toBe(0);
    const again = await backfill(workshop, 'orders', ...PERIOD, '--plan');
    expect(planIn(again)).toMatchObject({
      backfill_id: planIn(first).backfill_id,
      plan_hash: planIn(first).plan_hash,
    });
    const { stdout } = await workshop.cli('backfill', 'orders', ...PERIOD);
    expect(stdout).toContain('to be posted        1  10.00 EUR');
    expect(stdout).toContain(`npx influencer-sync backfill resume ${planIn(first).backfill_id}`);
    expect(await workshop.posted()).toEqual([]);
    const unasked = await backfill(workshop, 'resume');
    expect(unasked.exitCode).toBe(2);
    expect(unasked.stderr).toContain('--yes');
    expect((await workshop.cli('backfill', 'status')).stdout).toContain('planned');
  });

  it('creates no database for a plan, and still prints how to execute the plan', async () => {
    const workshop = await openHistory({ embedded: true });
    workshop.drop('history.csv', toHistory([{ id: 'a', placedAt: '2023-05-05T10:00:00Z' }]));
    const { exitCode, stdout, stderr } = await workshop.cli('backfill', 'orders', ...PERIOD, '--plan');
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain('to be posted        1  10.00 EUR');
    expect(stdout).toContain('npx influencer-sync backfill orders --from 2023-01-01 --to 2024-12-31');
    expect(stdout).not.toContain('resume');
    expect(existsSync(join(workshop.folder, '.data'))).toBe(false);
  });

  it('applies no migration for a plan, and reports a schema that is older than this version', async () => {
    const workshop = await openHistory();
    await sql`drop schema bi cascade`.execute(workshop.db);
    await sql`delete from reporting.applied_views`.execute(workshop.db);
    const refused = await workshop.cli('backfill', 'orders', ...PERIOD, '--plan');
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain('npx influencer-sync migrate');
    expect((await sql`select from pg_namespace where nspname = 'bi'`.execute(workshop.db)).rows).toEqual([]);
  });

  it('reports that its plan lacks the orders of a held file', async () => {
    const workshop = await openHistory();
    workshop.drop('history.csv', toHistory([{ id: 'a', placedAt: '2023-05-05T10:00:00Z' }]));
    workshop.drop('damaged.csv', 'nothing,of,this\n1,2,3\n');
    const planned = await backfill(workshop, 'orders', ...PERIOD, '--plan');
    expect(planned.exitCode).toBe(3);
    expect(planned.stderr).toContain('1 file of its sources could not be used');
  });

  it('requires a valid period, and reports if there is nothing to pause, resume or cancel', async () => {
    const workshop = await openHistory();
    await workshop.cli('migrate');
    for (const days of [
      [],
      ['--from', '2024-01-01'],
      ['--from', '2024-01-02', '--to', '2024-01-01'],
      ['--from', '2023-02-29', '--to', '2024-01-01'],
    ])
      expect((await workshop.cli('backfill', 'orders', ...days)).exitCode, days.join(' ')).toBe(2);
    for (const what of ['pause', 'resume', 'cancel'])
      expect(eventOf(await backfill(workshop, what), 'error'), what).toMatchObject({
        code: 'backfill_not_found',
      });
  });

  it('is listed by `runs` with the results of each of its processes, like any run', async () => {
    const workshop = await openHistory();
    const placedAt = '2023-05-05T10:00:00Z';
    workshop.drop('history.csv', toHistory(['a', 'b'].map((id) => ({ id, placedAt }))));
    expect((await backfill(workshop, 'orders', ...PERIOD, '--dry-run')).exitCode).toBe(0);
    const done = await backfill(workshop, 'resume', '--yes');
    expect(done.exitCode, done.stderr).toBe(0);
    const listed = await workshop.cli('runs', '--json');
    expect(readEvents(listed)).toMatchObject([
      {
        job: 'backfill:orders',
        kind: 'backfill',
        status: 'ok',
        counts: { files: 0, rows: 0, planned: null, entries: { accepted: 2, rejected: 0, in_doubt: 0 } },
        amounts: [{ currency: 'EUR', accepted: '20.0000' }],
      },
      { counts: { files: 1, rows: 2, rejected_rows: 0, planned: 2, entries: { accepted: 0 } }, amounts: [] },
    ]);
    const { stdout } = await workshop.cli('runs');
    expect(stdout).toContain('2 posted, 20.00 EUR');
    expect(stdout).toContain('plan of 2 orders');
  });

  it('keeps no plan without orders to post', async () => {
    const workshop = await openHistory();
    workshop.drop('history.csv', toHistory([{ id: 'a', placedAt: '2023-05-05T10:00:00Z', code: '' }]));
    const planned = await workshop.cli('backfill', 'orders', ...PERIOD, '--plan');
    expect(planned, planned.stderr).toMatchObject({ exitCode: 0 });
    expect(eventOf(await backfill(workshop, 'resume'), 'error')).toMatchObject({
      code: 'backfill_not_found',
    });
    expect((await workshop.cli('runs')).stdout).toContain('plan of 0 orders');
  });

  it('reports that a mirror needs no backfill', async () => {
    const flow = 'sources: {}\njobs:\n  mirror: {kind: mirror-account}\n';
    const workshop = await openHistory({ flow });
    const { exitCode, stdout } = await workshop.cli('backfill', 'mirror', ...PERIOD);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('mirror needs no backfill');
  });
});
