import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startTicker } from '../../src/ops/schedule/start-ticker.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const JOBS = [{ name: 'orders', schedule: '30 12 * * *', timeZone: 'Europe/Amsterdam' }];

beforeEach(() => {
  vi.useFakeTimers({
    now: new Date('2026-05-01T10:00:01Z'),
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

it('the ticker fires at once, at the time of each job in its zone, and every five seconds until it is stopped', async () => {
  const ticks: string[] = [];
  const ticker = startTicker(JOBS, () => ticks.push(new Date().toISOString().slice(11, 19)));
  expect(ticks).toEqual(['10:00:01']);
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(ticks).toEqual(expect.arrayContaining(['10:00:06', '10:01:01']));
  expect(ticks).toHaveLength(13);
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(ticks.filter((tick) => tick.endsWith('0'))).toEqual(['10:30:00']);
  ticker.stop();
  const before = ticks.length;
  await vi.advanceTimersByTimeAsync(24 * HOUR);
  expect(ticks).toHaveLength(before);
});

it('the ticker fires on days of the month and on weekdays if a schedule names both', async () => {
  const ticks = new Set<string>();
  const jobs = [{ name: 'orders', schedule: '30 12 1 * 1', timeZone: 'Europe/Amsterdam' }];
  const ticker = startTicker(jobs, () => {
    const now = new Date().toISOString();
    if (now.slice(17, 19) === '00') ticks.add(now.slice(0, 16));
  });
  await vi.advanceTimersByTimeAsync(5 * 24 * HOUR);
  expect([...ticks]).toEqual(['2026-05-01T10:30', '2026-05-04T10:30']);
  ticker.stop();
});

it('the ticker keeps firing when the system clock is set back by a day or ahead', async () => {
  let ticks = 0;
  const ticker = startTicker(JOBS, () => {
    ticks += 1;
  });
  await vi.advanceTimersByTimeAsync(MINUTE);
  for (const date of ['2026-04-30T10:00:00Z', '2026-05-03T10:00:00Z']) {
    vi.setSystemTime(new Date(date));
    const before = ticks;
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(ticks - before).toBeGreaterThanOrEqual(12);
  }
  ticker.stop();
});

it('a job without a schedule of its own has no task', async () => {
  let ticks = 0;
  const jobs = [{ name: 'orders', schedule: null, timeZone: 'UTC' }];
  const ticker = startTicker(jobs, () => {
    ticks += 1;
  });
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(ticks).toBe(13);
  ticker.stop();
});
