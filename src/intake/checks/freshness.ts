import type { Freshness } from '../../config/source-fields.ts';
import type { ExpectedDate } from '../../core/checks/expectations.ts';
import { DAY_MS } from '../../core/time/day.ts';
import { zoneClock } from '../../core/time/zone-clock.ts';

const MINUTE_MS = 60_000;
/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 4;
/** Number of days to look back, sufficient for a weekly deadline and the one before it. */
const LOOK_BACK_DAYS = 15;

export type FreshnessVerdict =
  | { readonly verdict: 'ok' | 'late'; readonly deadline: Date; readonly since: Date }
  /** Two deadlines have not passed yet, or the last one is on an expected date. */
  | { readonly verdict: 'not_judged'; readonly deadline: Date | null };

/**
 * Judges whether a new file has arrived in time: at least one must have arrived since the deadline before the
 * last one. A file that came late counts as fresh from then on.
 *
 * @param options.arrivedAt arrival of the latest file; null if there was none.
 */
export function judgeFreshness(options: {
  readonly freshness: Freshness;
  readonly timeZone: string;
  readonly expectedDates: readonly ExpectedDate[];
  readonly arrivedAt: Date | null;
  readonly now: Date;
}): FreshnessVerdict {
  const { freshness, timeZone, expectedDates, arrivedAt, now } = options;
  const clock = zoneClock(timeZone);
  const today = Math.floor(clock.toWallMs(now.getTime()) / DAY_MS);
  const passed: { day: number; at: Date }[] = [];
  for (let day = today; day > today - LOOK_BACK_DAYS && passed.length < 2; day -= 1) {
    if (!freshness.weekdays.includes((day + FIRST_WEEKDAY) % 7)) continue;
    const at = new Date(clock.toInstantMs(day * DAY_MS + freshness.minutes * MINUTE_MS));
    if (at <= now) passed.push({ day, at });
  }
  const [last, before] = passed;
  if (last === undefined || before === undefined) return { verdict: 'not_judged', deadline: null };
  const date = new Date(last.day * DAY_MS).toISOString().slice(0, 10);
  if (expectedDates.some(({ day }) => day === date)) return { verdict: 'not_judged', deadline: last.at };
  const isFresh = arrivedAt !== null && arrivedAt > before.at;
  return { verdict: isFresh ? 'ok' : 'late', deadline: last.at, since: before.at };
}
