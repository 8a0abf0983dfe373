import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/model/notify/notice.ts';
import type { Route } from '../../src/model/notify/settings.ts';
import { GIVE_UP_AFTER_MS, nextAttempt } from '../../src/notify/retry.ts';
import { channelsOf, dueAt } from '../../src/notify/routes.ts';

const channels = ['ops', 'chat', 'pager'].map((name) => ({
  name,
  kind: 'slack' as const,
  url: 'https://x.example',
}));
const ANY: Route = { severities: null, jobs: null, problems: null, channels: [] };
const DOUBTS = { kind: 'doubts', job: 'orders', severity: 'error' } as const;
const DISK = { kind: 'disk', job: null, severity: 'warning' } as const;

describe('which channels a problem goes to', () => {
  const send = (problem: Pick<Problem, 'kind' | 'job' | 'severity'>, ...routes: readonly Partial<Route>[]) =>
    channelsOf(problem, { channels, routes: routes.map((route) => ({ ...ANY, ...route })) });

  it('without routes all of them', () => {
    expect(send(DOUBTS)).toEqual(['ops', 'chat', 'pager']);
  });

  it('else those of every route that it fits, each once, in their own order', () => {
    const errors = { severities: ['error' as const], channels: ['pager', 'ops'] };
    const rest = { channels: ['ops'] };
    expect(send(DOUBTS, errors, rest)).toEqual(['ops', 'pager']);
    expect(send(DISK, errors, rest)).toEqual(['ops']);
    expect(send(DISK, errors)).toEqual([]);
  });

  it('a route by job gets what concerns every job, too', () => {
    const mine = { jobs: ['orders'], channels: ['chat'] };
    expect(send(DOUBTS, mine)).toEqual(['chat']);
    expect(send({ ...DOUBTS, job: 'other' }, mine)).toEqual([]);
    expect(send(DISK, mine)).toEqual(['chat']);
  });

  it('a route by kind of problem gets these alone', () => {
    expect(send(DISK, { problems: ['disk', 'clock'], channels: ['ops'] })).toEqual(['ops']);
    expect(send(DOUBTS, { problems: ['disk', 'clock'], channels: ['ops'] })).toEqual([]);
  });
});

describe('quiet hours', () => {
  const AMSTERDAM = { from: '22:00', to: '07:00', timeZone: 'Europe/Amsterdam' };
  const wait = (at: string, quietHours = AMSTERDAM, severity: 'warning' | 'error' = 'warning') =>
    dueAt({ severity }, new Date(at), { quietHours }).toISOString();

  it.each([
    ['in the evening', '2026-11-23T21:30:00.000Z', '2026-11-24T06:00:00.000Z'],
    ['after midnight', '2026-11-24T01:00:00.000Z', '2026-11-24T06:00:00.000Z'],
    ['at their end', '2026-11-24T06:00:00.000Z', '2026-11-24T06:00:00.000Z'],
    ['by day', '2026-11-24T12:00:00.000Z', '2026-11-24T12:00:00.000Z'],
    ['on the night in which the clock goes forward', '2026-03-28T23:00:00.000Z', '2026-03-29T05:00:00.000Z'],
  ])('a warning %s is sent when they are over', (_when, at, due) => {
    expect(wait(at)).toBe(due);
  });

  it('those within a day begin and end on it', () => {
    const noon = { from: '12:00', to: '13:00', timeZone: 'UTC' };
    expect(wait('2026-11-24T12:30:00.000Z', noon)).toBe('2026-11-24T13:00:00.000Z');
    expect(wait('2026-11-24T13:30:00.000Z', noon)).toBe('2026-11-24T13:30:00.000Z');
  });

  it('an error does not wait', () => {
    expect(wait('2026-11-24T01:00:00.000Z', AMSTERDAM, 'error')).toBe('2026-11-24T01:00:00.000Z');
  });
});

describe('when a delivery that failed is tried again', () => {
  const dueTime = new Date('2026-11-24T00:00:00Z');
  const waitS = (attempt: number, afterMs = 0, retryAfterMs: number | null = null) => {
    const now = new Date(dueTime.getTime() + afterMs);
    const next = nextAttempt({ attempt, dueAt: dueTime, now, retryAfterMs });
    return next === null ? null : (next.getTime() - now.getTime()) / 1000;
  };

  it('after 10 seconds, and twice as long each time, up to an hour', () => {
    expect([1, 2, 3, 4, 9, 10, 50].map((attempt) => waitS(attempt))).toEqual([
      10, 20, 40, 80, 2560, 3600, 3600,
    ]);
  });

  it('not before the channel asks for', () => {
    expect(waitS(1, 0, 90_000)).toBe(90);
    expect(waitS(5, 0, 1_000)).toBe(160);
  });

  it('never, a day after it was due', () => {
    expect(waitS(30, GIVE_UP_AFTER_MS - 3_600_000)).toBe(3600);
    expect(waitS(30, GIVE_UP_AFTER_MS - 3_599_000)).toBe(null);
  });
});
