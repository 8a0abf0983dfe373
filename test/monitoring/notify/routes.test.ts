import { describe, expect, it } from 'vitest';
import type { Route } from '../../../src/config/notify-fields.ts';
import type { Problem } from '../../../src/core/notify/notice.ts';
import { GIVE_UP_AFTER_MS, nextAttempt } from '../../../src/monitoring/notify/deliveries.ts';
import { channelsOf, dueAt } from '../../../src/monitoring/notify/send-notices.ts';

const channels = ['ops', 'chat', 'pager'].map((name) => ({
  name,
  kind: 'slack' as const,
  url: 'https://x.example',
}));
const ANY: Route = { severities: null, jobs: null, problems: null, channels: [] };
const DOUBTS = { kind: 'doubts', job: 'orders', severity: 'error' } as const;
const DISK = { kind: 'disk', job: null, severity: 'warning' } as const;

describe('the channels of a problem', () => {
  const send = (problem: Pick<Problem, 'kind' | 'job' | 'severity'>, ...routes: readonly Partial<Route>[]) =>
    channelsOf(problem, { channels, routes: routes.map((route) => ({ ...ANY, ...route })) });

  it('are all channels if no route is configured', () => {
    expect(send(DOUBTS)).toEqual(['ops', 'chat', 'pager']);
  });

  it('are those of every matching route, each once, in the order of the channels', () => {
    const errors = { severities: ['error' as const], channels: ['pager', 'ops'] };
    const rest = { channels: ['ops'] };
    expect(send(DOUBTS, errors, rest)).toEqual(['ops', 'pager']);
    expect(send(DISK, errors, rest)).toEqual(['ops']);
    expect(send(DISK, errors)).toEqual([]);
  });

  it('include those of a route by job if the problem concerns every job', () => {
    const mine = { jobs: ['orders'], channels: ['chat'] };
    expect(send(DOUBTS, mine)).toEqual(['chat']);
    expect(send({ ...DOUBTS, job: 'other' }, mine)).toEqual([]);
    expect(send(DISK, mine)).toEqual(['chat']);
  });

  it('include those of a route by kind only for these kinds', () => {
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
  ])('delay a warning %s until they end', (_when, at, due) => {
    expect(wait(at)).toBe(due);
  });

  it('can start and end on the same day', () => {
    const noon = { from: '12:00', to: '13:00', timeZone: 'UTC' };
    expect(wait('2026-11-24T12:30:00.000Z', noon)).toBe('2026-11-24T13:00:00.000Z');
    expect(wait('2026-11-24T13:30:00.000Z', noon)).toBe('2026-11-24T13:30:00.000Z');
  });

  it('do not delay an error', () => {
    expect(wait('2026-11-24T01:00:00.000Z', AMSTERDAM, 'error')).toBe('2026-11-24T01:00:00.000Z');
  });
});

describe('the retry of a failed delivery', () => {
  const dueTime = new Date('2026-11-24T00:00:00Z');
  const waitS = (attempt: number, afterMs = 0, retryAfterMs: number | null = null) => {
    const now = new Date(dueTime.getTime() + afterMs);
    const next = nextAttempt({ attempt, dueAt: dueTime, now, retryAfterMs });
    return next === null ? null : (next.getTime() - now.getTime()) / 1000;
  };

  it('comes after 10 seconds and then after twice the previous delay, up to an hour', () => {
    expect([1, 2, 3, 4, 9, 10, 50].map((attempt) => waitS(attempt))).toEqual([
      10, 20, 40, 80, 2560, 3600, 3600,
    ]);
  });

  it('comes no sooner than the channel asks for', () => {
    expect(waitS(1, 0, 90_000)).toBe(90);
    expect(waitS(5, 0, 1_000)).toBe(160);
  });

  it('comes before the delivery is given up, however long the channel asks to wait', () => {
    const day = GIVE_UP_AFTER_MS;
    expect(waitS(1, 0, day + 1)).toBe(23 * 3600);
    expect(waitS(2, 1_000, 365 * day)).toBe(23 * 3600 - 1);
    expect(waitS(3, 0, Number.MAX_SAFE_INTEGER)).toBe(23 * 3600);
    // The last hour keeps its own pace.
    expect(waitS(4, day - 1_800_000, 2 * day)).toBe(80);
  });

  it('does not come once the delivery has been due for a day', () => {
    expect(waitS(30, GIVE_UP_AFTER_MS - 3_600_000)).toBe(3600);
    expect(waitS(30, GIVE_UP_AFTER_MS - 3_599_000)).toBe(null);
  });
});
