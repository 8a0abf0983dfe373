import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startTicker } from '../../src/schedule/start-ticker.ts';

const MINUTE = 60_000;

beforeEach(() => {
  vi.useFakeTimers({
    now: new Date('2026-05-01T10:00:01Z'),
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

it('the ticker fires at once, on the full minute and every five seconds until it is stopped', async () => {
  const ticks: string[] = [];
  const ticker = startTicker(() => ticks.push(new Date().toISOString().slice(17, 19)));
  expect(ticks).toEqual(['01']);
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(ticks).toContain('00');
  expect(ticks.length).toBeGreaterThanOrEqual(13);
  ticker.stop();
  const before = ticks.length;
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  expect(ticks).toHaveLength(before);
});

it('the ticker keeps firing when the system clock is set back by a day or ahead', async () => {
  let ticks = 0;
  const ticker = startTicker(() => {
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
