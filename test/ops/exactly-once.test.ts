import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openCalendar } from '../../src/ops/schedule/calendar.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { setup } from '../support/setup.ts';
import { type HangsAt, job, minuteOf, openStation, type Worker } from './station.ts';

/** One event. */
type Happening =
  | { readonly kind: 'time'; readonly minutes: number }
  | { readonly kind: 'clock back'; readonly minutes: number }
  | { readonly kind: 'look'; readonly worker: number }
  | { readonly kind: 'all look' }
  | { readonly kind: 'death'; readonly worker: number; readonly at: HangsAt };

const WORKERS = 3;

const worker = fc.nat({ max: WORKERS - 1 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('time' as const), minutes: fc.integer({ min: 1, max: 300 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('clock back' as const),
      minutes: fc.integer({ min: 1, max: 180 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('look' as const), worker }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('all look' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('death' as const),
      worker,
      at: fc.constantFrom('claimed' as const, 'begun' as const, 'recorded' as const),
    }),
  },
);

it('each slot is settled once with catch_up: all, regardless of clock changes and dead processes', async () => {
  const { db } = await setup();
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        schedule: fc.constantFrom('5 * * * *', '30 2 * * *', '*/30 1-3 * * *', '0 */2 * * *'),
        timeZone: fc.constantFrom('UTC', 'Europe/Amsterdam', 'America/New_York'),
        start: fc.constantFrom(
          '2026-03-08T04:00Z',
          '2026-03-28T22:00Z',
          '2026-10-24T22:00Z',
          '2026-05-01T00:00Z',
        ),
        happenings: fc.array(happening, { minLength: 5, maxLength: 25 }),
      }),
      async ({ schedule, timeZone, start, happenings }) => {
        await sql`truncate ops.slots, ops.schedules, ops.leases`.execute(db);
        const station = openStation(
          db,
          [job({ schedule, timeZone, catchUp: 'all', overlap: 'queue' })],
          start,
        );
        const workers = Array.from({ length: WORKERS }, () => station.hire());
        const meet = async (one: Worker): Promise<void> => one.look();
        await meet(workers[0] as Worker);
        const since = station.now;
        for (const what of happenings) {
          if (what.kind === 'time') station.now = new Date(station.now.getTime() + what.minutes * 60_000);
          else if (what.kind === 'clock back') {
            // Never to before the first check, because no process is responsible for earlier slots.
            const back = station.now.getTime() - what.minutes * 60_000;
            station.now = new Date(Math.max(since.getTime(), back));
          } else if (what.kind === 'look') await meet(workers[what.worker] as Worker);
          else if (what.kind === 'all look') await Promise.all(workers.map(meet));
          else {
            const doomed = workers[what.worker] as Worker;
            doomed.next = what.at;
            await doomed.look();
            await doomed.die();
            workers[what.worker] = station.hire();
          }
        }
        // Continues past the latest time that the clock ever reached.
        const { rows } = await sql<{ far: Date }>`select greatest(max(slot), max(looked_until)) as far
          from ops.schedules left join ops.slots using (job)`.execute(db);
        const until = new Date(Math.max(station.now.getTime(), Number(rows[0]?.far)) + 60_000);
        station.now = until;
        const last = station.hire();
        while (
          (await db.selectFrom('ops.slots').select('job').where('state', 'in', ['due', 'running']).execute())
            .length > 0 ||
          station.now === until
        ) {
          station.now = new Date(station.now.getTime());
          await last.look();
        }
        // A run that ends triggers another check: none may do so in the next history.
        for (const { scheduler } of [...workers, last]) await scheduler.ended();
        const expected = openCalendar({ schedule, timeZone }).between(since, until).map(minuteOf);
        const lost = await db.selectFrom('ops.slots').select('slot').where('state', '=', 'failed').execute();
        const settled = [
          ...station.ran.map((run) => run.split(' ')[1]),
          ...lost.map(({ slot }) => minuteOf(slot)),
        ];
        expect(settled.sort()).toEqual(expected);
      },
    ),
    { numRuns: propertyRuns(12) },
  );
});
