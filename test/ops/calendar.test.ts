import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openCalendar } from '../../src/ops/schedule/calendar.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** Returns the next slots after an instant, as minutes in UTC. */
function slots(schedule: string, timeZone: string, from: string, count: number): readonly string[] {
  const calendar = openCalendar({ schedule, timeZone });
  const found: string[] = [];
  let at = new Date(from);
  while (found.length < count) {
    const next = calendar.next(at);
    if (next === null) break;
    at = next;
    found.push(at.toISOString().slice(0, 16));
  }
  return found;
}

describe('on the day when clocks go forward (Amsterdam, 2026-03-29, 02:00 becomes 03:00)', () => {
  it('a nightly job at a skipped time runs once, the same time after the jump', () => {
    expect(slots('30 2 * * *', 'Europe/Amsterdam', '2026-03-28T00:00Z', 3)).toEqual([
      '2026-03-28T01:30',
      '2026-03-29T01:30', // 03:30 in Amsterdam
      '2026-03-30T00:30',
    ]);
  });

  it('an hourly job runs every 60 minutes', () => {
    expect(slots('5 * * * *', 'Europe/Amsterdam', '2026-03-28T23:30Z', 3)).toEqual([
      '2026-03-29T00:05',
      '2026-03-29T01:05',
      '2026-03-29T02:05',
    ]);
  });

  it('a skipped time and a later one coincide if they map to the same instant', () => {
    expect(slots('0 2,3 * * *', 'Europe/Amsterdam', '2026-03-28T23:00Z', 2)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:00',
    ]);
  });
});

describe('on the day when clocks go back (Amsterdam, 2026-10-25, 03:00 becomes 02:00)', () => {
  it('a nightly job at a repeated time runs only the first time', () => {
    expect(slots('30 2 * * *', 'Europe/Amsterdam', '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
  });

  it('a nightly job at a repeated time has no second slot after the first pass', () => {
    expect(slots('30 2 * * *', 'Europe/Amsterdam', '2026-10-25T01:10Z', 1)).toEqual(['2026-10-26T01:30']);
  });

  it.each(['5 * * * *', '5 */1 * * *', '5 0-23 * * *', '5 0-23/1 * * *', '5 0-11,12-23 * * *'])(
    'an hourly job runs every 60 minutes, in both passes, also if it is written %s',
    (schedule) => {
      expect(slots(schedule, 'Europe/Amsterdam', '2026-10-24T23:30Z', 3)).toEqual([
        '2026-10-25T00:05',
        '2026-10-25T01:05',
        '2026-10-25T02:05',
      ]);
    },
  );

  it('a job that leaves out an hour runs in the first pass only', () => {
    expect(slots('5 0-22 * * *', 'Europe/Amsterdam', '2026-10-24T23:30Z', 2)).toEqual([
      '2026-10-25T00:05',
      '2026-10-25T02:05',
    ]);
  });
});

describe('in other zones and schedules', () => {
  it('a shift of half an hour is handled like one of an hour (Lord Howe)', () => {
    expect(slots('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', 2)).toEqual([
      '2026-10-03T15:45', // 02:45, since 02:00 became 02:30
      '2026-10-04T15:15',
    ]);
  });

  it('a skipped time that moves past a later one comes after it (Lord Howe skips half an hour)', () => {
    const calendar = openCalendar({ schedule: '20,40 2 * * *', timeZone: 'Australia/Lord_Howe' });
    const first = calendar.next(new Date('2026-10-03T12:00Z'));
    expect(first).toEqual(new Date('2026-10-03T15:40Z'));
    expect(calendar.next(first ?? new Date(0))).toEqual(new Date('2026-10-03T15:50Z'));
    expect(calendar.next(new Date('2026-10-03T12:00Z')), 'the clock went back').toEqual(first);
  });

  it('a day that does not exist moves to the next one (Apia skipped 2011-12-30)', () => {
    expect(slots('0 10 * * 5', 'Pacific/Apia', '2011-12-28T00:00Z', 2)).toEqual([
      '2011-12-30T20:00', // Saturday the 31st at 10:00
      '2012-01-05T20:00',
    ]);
  });

  it.each([
    ['the 31st comes in months that have one', '0 0 31 * *', ['2026-01-31', '2026-03-31', '2026-05-31']],
    ['L is the last day of each month', '0 0 L * *', ['2026-01-31', '2026-02-28', '2026-03-31']],
    ['the 29th of February comes in leap years', '0 0 29 2 *', ['2028-02-29', '2032-02-29', '2036-02-29']],
    [
      'a day of the month or a weekday, whichever comes',
      '0 0 20 * 5',
      ['2026-01-16', '2026-01-20', '2026-01-23'],
    ],
  ])('%s', (_title, schedule, days) => {
    expect(slots(schedule, 'UTC', '2026-01-15T12:00Z', 3)).toEqual(days.map((day) => `${day}T00:00`));
  });
});

describe('for all schedules, zones and instants', () => {
  /**
   * Zones with a daylight saving of an hour, half an hour, none and one at a different time of year, and one
   * that changed its offset.
   */
  const zone = fc.constantFrom(
    'UTC',
    'Europe/Amsterdam',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'America/Sao_Paulo',
    'Africa/Casablanca',
    'Pacific/Chatham',
  );
  const minute = fc.constantFrom('0', '30', '5,35', '*/20', '59');
  const hour = fc.constantFrom('*', '2', '0', '1-3', '2,14', '*/6', '23');
  const day = fc.constantFrom('* * *', '* * 0', '1 * *', 'L * *', '* 3,10 *');
  const schedule = fc.tuple(minute, hour, day).map((fields) => fields.join(' '));
  /** Instants near the days on which clocks change, and arbitrary ones. */
  const moment = fc
    .oneof(
      fc.constantFrom(
        '2026-03-08',
        '2026-03-29',
        '2026-10-25',
        '2026-11-01',
        '2026-10-04',
        '2026-04-05',
        '2026-02-15',
      ),
      fc
        .date({ min: new Date('2024-01-01'), max: new Date('2028-01-01'), noInvalidDate: true })
        .map((date) => date.toISOString().slice(0, 10)),
    )
    .chain((date) =>
      fc.integer({ min: -36 * 60, max: 36 * 60 }).map((shift) => new Date(Date.parse(date) + shift * 60_000)),
    );

  it('splitting a period neither loses nor repeats a slot, and both methods return the same slots', () => {
    fc.assert(
      fc.property(
        fc.record({
          schedule,
          zone,
          from: moment,
          cuts: fc.array(fc.integer({ min: 0, max: 72 * 60 }), { maxLength: 6 }),
        }),
        ({ schedule, zone: timeZone, from, cuts }) => {
          const calendar = openCalendar({ schedule, timeZone });
          const until = new Date(from.getTime() + 72 * 3_600_000);
          const whole = calendar.between(from, until).map(Number);
          const ends = [...cuts.map((cut) => from.getTime() + cut * 60_000), until.getTime()].sort(
            (a, b) => a - b,
          );
          let begin = from.getTime();
          const pieces = ends.flatMap((end) => {
            const piece = calendar.between(new Date(begin), new Date(end)).map(Number);
            begin = end;
            return piece;
          });
          expect(pieces).toEqual(whole);
          const oneByOne: number[] = [];
          for (let at = calendar.next(from); at !== null && at <= until; at = calendar.next(at))
            oneByOne.push(Number(at));
          expect(oneByOne).toEqual(whole);
        },
      ),
      { numRuns: propertyRuns(75) },
    );
  });

  it('a daily schedule has one slot on each local day', () => {
    fc.assert(
      fc.property(zone, moment, fc.integer({ min: 0, max: 1439 }), (timeZone, from, minuteOfDay) => {
        const [h, m] = [Math.floor(minuteOfDay / 60), minuteOfDay % 60];
        const calendar = openCalendar({ schedule: `${m} ${h} * * *`, timeZone });
        const found = calendar.between(from, new Date(from.getTime() + 10 * 24 * 3_600_000));
        // Ten days, plus or minus one, because the range may begin and end within a day.
        expect(found.length).toBeGreaterThanOrEqual(9);
        expect(found.length).toBeLessThanOrEqual(11);
        const days = found.map((at) => at.toLocaleDateString('sv', { timeZone }));
        expect(new Set(days).size).toBe(found.length);
      }),
      { numRuns: propertyRuns(75) },
    );
  });
});
