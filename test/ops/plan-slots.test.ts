import { expect, it } from 'vitest';
import { openCalendar } from '../../src/ops/schedule/calendar.ts';
import { type PlanInput, planSlots } from '../../src/ops/schedule/poll-schedule.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SLOT = new Date('2026-05-01T10:05Z');

/** What becomes of the slots of an hourly job, an hour before `SLOT` looked at last, so many milliseconds after `SLOT`. */
function planAt(afterMs: number, changes: Partial<PlanInput> & Partial<PlanInput['timing']> = {}) {
  const { catchUp = 'latest', overlap = 'skip', ...rest } = changes;
  return planSlots({
    calendar: openCalendar({ schedule: '5 * * * *', timeZone: 'UTC' }),
    timing: { catchUp, overlap },
    lookedUntil: new Date(SLOT.getTime() - HOUR_MS),
    now: new Date(SLOT.getTime() + afterMs),
    isAtWork: false,
    isPaused: false,
    ...rest,
  }).map(({ state, reason }) => (reason === null ? state : `${state}: ${reason}`));
}

it('a slot that is noticed within five minutes is on time; a later one is missed only with catch_up: none', () => {
  expect(planAt(-1)).toEqual([]);
  for (const catchUp of ['latest', 'all', 'none'] as const) {
    expect(planAt(0, { catchUp })).toEqual(['due']);
    expect(planAt(5 * MINUTE_MS, { catchUp })).toEqual(['due']);
  }
  const late = 5 * MINUTE_MS + 1;
  expect(planAt(late, { catchUp: 'latest' })).toEqual(['due']);
  expect(planAt(late, { catchUp: 'none' })).toEqual(['missed: no process ran at its time (catch_up: none)']);
});

it('of several slots only the newest is due, unless all are caught up', () => {
  const missed = 'missed: no process ran at its time, and a later slot was due when a process started';
  expect(planAt(HOUR_MS)).toEqual([missed, 'due']);
  expect(planAt(HOUR_MS, { catchUp: 'all' })).toEqual(['due', 'due']);
});

it('a slot is skipped while its job is paused, or at work and does not queue', () => {
  expect(planAt(0, { isPaused: true, isAtWork: true, overlap: 'queue' })).toEqual([
    'skipped: the job is paused',
  ]);
  expect(planAt(0, { isAtWork: true })).toEqual(['skipped: the job was still running (overlap: skip)']);
  expect(planAt(0, { isAtWork: true, overlap: 'queue' })).toEqual(['due']);
});

it('slots older than 35 days are not looked for', () => {
  const days = (count: number) => ({ lookedUntil: new Date(SLOT.getTime() - count * 24 * HOUR_MS) });
  expect(planAt(0, { ...days(34), catchUp: 'all' })).toHaveLength(34 * 24);
  expect(planAt(0, { ...days(60), catchUp: 'all' })).toHaveLength(35 * 24);
});
