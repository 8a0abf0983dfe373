import { expect, it } from 'vitest';
import { summariseSlots } from '../../src/reports/runs/list-slots.ts';
import { readGauges } from '../../src/reports/status/read-gauges.ts';
import { setupEmbedded } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';
import { job, openStation } from './station.ts';

it('the embedded database supports slots, dependent jobs, recovery from a dead process, and the gauges', async () => {
  const db = await setupEmbedded();
  const jobs = [job({ catchUp: 'all' }), job({ name: 'report', schedule: null, after: 'orders' })];
  const station = openStation(db, jobs, '2026-05-01T09:30Z');
  const [doomed, other] = [station.hire(), station.hire()];
  await doomed.look();
  doomed.next = 'begun';
  station.now = new Date('2026-05-01T12:10Z');
  await doomed.look();
  await doomed.die();
  await waitFor(async () => {
    await other.look();
    return station.ran.length === 6;
  });
  const states = await db
    .selectFrom('ops.slots')
    .select(['job', 'state'])
    .orderBy('job')
    .orderBy('slot')
    .execute();
  expect(states.map(({ job, state }) => `${job} ${state}`)).toEqual([
    ...Array<string>(3).fill('orders done'),
    ...Array<string>(3).fill('report done'),
  ]);
  expect((await summariseSlots(db)).map(({ last }) => last.state)).toEqual(['done', 'done']);
  expect((await readGauges(db, { jobs: ['orders', 'report'], sources: [] })).lastSuccess).toHaveLength(2);
});
