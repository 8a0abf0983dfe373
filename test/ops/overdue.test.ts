import { expect, it } from 'vitest';
import { nextSlotOf, nextSlots } from '../../src/ops/schedule/next-slots.ts';
import { findOverdue, type TimedJob } from '../../src/ops/schedule/overdue.ts';

const job = (changes: Partial<TimedJob> & { readonly name: string }): TimedJob => ({
  schedule: null,
  timeZone: 'UTC',
  after: null,
  deadlineMinutes: null,
  ...changes,
});

/** `report` follows `orders`, and `mail` follows `report`; `backfill` only runs by hand. */
const JOBS = [
  job({ name: 'orders', schedule: '5 * * * *', deadlineMinutes: 20 }),
  job({ name: 'report', after: 'orders' }),
  job({ name: 'mail', after: 'report', deadlineMinutes: 5 }),
  job({ name: 'backfill' }),
];
const START = new Date('2026-05-01T10:05:30Z');
const NEXT = new Date('2026-05-01T11:05Z');

it('the next slot of a job that follows others is that of the first job in the chain; a job run by hand has none', () => {
  expect(nextSlots(JOBS, START).map(({ job: name, at }) => [name, at])).toEqual([
    ['orders', NEXT],
    ['report', NEXT],
    ['mail', NEXT],
  ]);
  expect(nextSlotOf(JOBS, { job: 'backfill', after: START })).toBeNull();
  expect(nextSlotOf(JOBS, { job: 'unknown', after: START })).toBeNull();
});

it('a job is overdue from its first slot after the last completed run began, or after the start if there was none', () => {
  const overdue = (now: Date, begun: Readonly<Record<string, Date>> = {}) =>
    findOverdue(JOBS, { now, since: START, lastBegunAt: (name) => begun[name] ?? null }).map(
      ({ job: name, seconds }) => [name, seconds],
    );
  const later = new Date('2026-05-01T11:06:30Z');
  expect(overdue(later, { orders: new Date('2026-05-01T11:05:01Z') })).toEqual([
    ['orders', 0],
    ['report', 90],
    ['mail', 90],
  ]);
  expect(overdue(NEXT).map(([, seconds]) => seconds)).toEqual([0, 0, 0]);
});

it('a job is late once the deadlines of it and of the jobs that it follows are over, an hour for a job without one', () => {
  const limits = findOverdue(JOBS, { now: NEXT, since: START, lastBegunAt: () => null });
  expect(limits.map(({ limitSeconds }) => limitSeconds / 60)).toEqual([20, 80, 85]);
});
