import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { CODES, LATER_CODE, type Workshop } from '../../../runs/workshop.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { backfill, ended, eventOf, openHistory, ordersBy, PERIOD, planIn, toHistory } from './history.ts';

const OLD = '2023-05-05T10:00:00Z';
const NEXT_DAY = '2023-05-06T10:00:00Z';
const NEW = { id: 'n', placedAt: '2025-02-02T00:00:00Z' };

async function openPlanned(): Promise<{ workshop: Workshop; planId: string }> {
  const workshop = await openHistory();
  workshop.drop(
    'history.csv',
    toHistory([
      { id: 'a', placedAt: OLD, revenue: '10.00' },
      { id: 'b', placedAt: NEXT_DAY, revenue: '20.00' },
      { id: 'z', placedAt: OLD, revenue: '30.00', code: 'ZOE20' },
    ]),
  );
  const plan = planIn(await backfill(workshop, 'orders', ...PERIOD, '--plan'));
  expect(ordersBy(plan.groups)).toEqual({ to_post: 2, 'unattributed unknown_code': 1 });
  return { workshop, planId: plan.backfill_id };
}

/** Sets the job's start date, so that its runs credit the orders placed since `day`. */
function startFrom({ folder, write }: Workshop, day: string): void {
  const text = readFileSync(join(folder, 'pipeline.yaml'), 'utf8');
  write('pipeline.yaml', text.replace(/start_date: .*/, `start_date: '${day}'`));
}

const CHANGES: readonly (readonly [string, (workshop: Workshop) => void, string])[] = [
  [
    'another amount in a newer file',
    ({ drop }) => drop('newer.csv', toHistory([{ id: 'b', placedAt: NEXT_DAY, revenue: '99.00' }])),
    '1 order with another amount or influencer (b); other files: newer.csv',
  ],
  [
    'an order more, in a new file',
    ({ drop }) => drop('more.csv', toHistory([{ id: 'c', placedAt: OLD }])),
    '1 order more to post (c); other files: more.csv',
  ],
  [
    'a code that has got an owner',
    ({ write }) => write('codes.csv', `${CODES}${LATER_CODE}`),
    '1 order more to post (z)',
  ],
  [
    'an order that was cancelled since',
    ({ drop }) =>
      drop('off.csv', toHistory([{ id: 'a', placedAt: OLD, status: 'cancelled' }, NEW, { ...NEW, id: 'm' }])),
    '1 order no longer to post (a)',
  ],
];

describe('an outdated plan', () => {
  it('is refused with a list of the changes, and needs a new approval, whatever has changed', async () => {
    const { workshop, planId: first } = await openPlanned();
    let planId = (await openPlan(workshop)).backfill_id;
    expect(planId, 'nothing has changed').toBe(first);
    for (const [what, change, said] of CHANGES) {
      change(workshop);
      const resumed = await backfill(workshop, 'resume', planId, '--yes');
      expect(resumed.exitCode, what).toBe(2);
      expect(eventOf(resumed, 'error'), what).toMatchObject({ code: 'plan_changed' });
      expect(String(eventOf(resumed, 'error')?.message)).toContain(said);
      // The same command creates a new plan and does not apply the old --yes to it.
      const again = await backfill(workshop, 'orders', ...PERIOD, '--yes');
      expect(again.exitCode, what).toBe(2);
      expect(String(eventOf(again, 'error')?.message)).toContain(said);
      planId = planIn(again).backfill_id;
    }
    expect(await workshop.posted()).toEqual([]);
    // A process that was killed holds its lease for another moment.
    await sql`insert into ops.leases (name, owner, expires_at, host, pid)
      values ('job:backfill:orders', gen_random_uuid(), clock_timestamp() + interval '0.5 s', 'gone', 1)`.execute(
      workshop.db,
    );
    const done = await backfill(workshop, 'resume', planId, '--yes', '--wait');
    expect(done.exitCode, done.stderr).toBe(0);
    expect(await workshop.posted()).toEqual(['b', 'c', 'z']);
  });

  it('is refused if some of its orders were credited in the meantime', async () => {
    const { workshop, planId } = await openPlanned();
    startFrom(workshop, '2023-01-01');
    await workshop.run();
    startFrom(workshop, '2025-01-01');
    const resumed = await backfill(workshop, 'resume', planId, '--yes');
    expect(resumed.exitCode).toBe(2);
    expect(String(eventOf(resumed, 'error')?.message)).toContain('2 orders no longer to post (a, b)');
    expect(await workshop.posted()).toEqual(['a', 'b']);
  });
});

it('an order that changes while its plan is executed is not posted with another amount; a new plan includes it', async () => {
  const { workshop } = await openPlanned();
  // One request every 100 seconds, so the second order waits.
  const first = workshop.start('backfill', 'orders', ...PERIOD, '--yes', '--rate', '0.01', '--json');
  await waitFor(async () => (await workshop.posted()).length === 1);
  expect((await workshop.cli('backfill', 'pause')).exitCode).toBe(0);
  await waitFor(() => first.stdout().includes('Paused.'));
  first.kill('SIGTERM');
  const stopped = await ended(first);
  expect(stopped.exitCode).toBe(130);
  expect(stopped.stdout.match(/Paused\./g), 'it waits, and says so once').toHaveLength(1);
  workshop.drop('newer.csv', toHistory([{ id: 'b', placedAt: NEXT_DAY, revenue: '99.00' }, NEW]));
  await workshop.run();
  const done = await backfill(workshop, 'resume', '--yes');
  expect(done.exitCode).toBe(3);
  expect(eventOf(done, 'backfill_finished')).toMatchObject({ end: 'done', planned: 2, accepted: 1, held: 1 });
  const { groups } = await openPlan(workshop);
  expect(ordersBy(groups)).toMatchObject({ to_post: 1, already: 1 });
  expect(groups.find(({ standing }) => standing === 'to_post')).toMatchObject({ amount: '99.0000' });
});

async function openPlan(workshop: Workshop): Promise<ReturnType<typeof planIn>> {
  return planIn(await backfill(workshop, 'orders', ...PERIOD, '--plan'));
}
