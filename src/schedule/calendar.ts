import { Cron } from 'croner';
import type { JobTiming } from '../model/config.ts';
import { ZoneClock } from '../model/time/zone-clock.ts';

/** The slots of a schedule: the times at which it says that its job runs. */
export type Calendar = {
  /** The first slot after an instant; null when there is none any more. */
  next(after: Date): Date | null;
  /** The slots after one instant, up to and with another, in order, each once. */
  between(after: Date, until: Date): readonly Date[];
};

/** No clock was ever put back or forward by more at once; the farthest went from one side of the date line to the other. */
const LARGEST_JUMP_MS = 25 * 3_600_000;

/** Keeps its pace by real time, whatever the clocks on the walls do. */
const EVERY_HOUR = /^\S+\s+\*\s/;

/**
 * Reads a cron expression (checked by the configuration) in its zone. The expression is about the clock on the wall, and on the two days
 * of the year on which that clock jumps:
 *
 * - A schedule for every hour (hour field `*`) runs in both passes of the hour that comes twice; the hour that does not come is no hour.
 * - Any other schedule runs once for each time that it names: at the first pass of an hour that comes twice; and where the clock skips the
 *   time, as long after the jump as it would have been after its start (02:30 becomes 03:30).
 *
 * croner walks the wall clock only (it is told UTC); which instant a time on it means is decided here, because the libraries differ there,
 * and some fire such a time twice or not at all.
 */
export function openCalendar({
  schedule,
  timeZone,
}: Pick<JobTiming, 'timeZone'> & { schedule: string }): Calendar {
  const pattern = new Cron(schedule, { mode: '5-part', timezone: 'UTC', paused: true });
  const clock = new ZoneClock(timeZone);
  const isEveryHour = EVERY_HOUR.test(schedule);

  function instantsOf(wallMs: number): readonly number[] {
    return isEveryHour ? clock.toInstantsMs(wallMs) : [clock.toInstantMs(wallMs)];
  }
  /** Near a jump, times of the wall clock and instants do not come in the same order. */
  function marginMs(instantMs: number): number {
    return clock.isSteadyAround(instantMs) ? 0 : LARGEST_JUMP_MS;
  }
  function* wallTimes(afterMs: number): Generator<number> {
    let wall = pattern.nextRun(new Date(clock.toWallMs(afterMs) - marginMs(afterMs)));
    while (wall !== null) {
      yield wall.getTime();
      wall = pattern.nextRun(wall);
    }
  }

  function findNext(afterMs: number): number | null {
    let best = Number.POSITIVE_INFINITY;
    let lastWall = Number.POSITIVE_INFINITY;
    for (const wall of wallTimes(afterMs)) {
      if (wall > lastWall) break;
      for (const instant of instantsOf(wall)) {
        if (instant <= afterMs || instant >= best) continue;
        best = instant;
        lastWall = wall + marginMs(instant);
      }
    }
    return best === Number.POSITIVE_INFINITY ? null : best;
  }

  // Who asks again and again gets the same answer until it has come.
  let last: { readonly afterMs: number; readonly nextMs: number } | null = null;
  return {
    next(after) {
      const afterMs = after.getTime();
      if (last !== null && afterMs >= last.afterMs && afterMs < last.nextMs) return new Date(last.nextMs);
      const nextMs = findNext(afterMs);
      if (nextMs === null) return null;
      last = { afterMs, nextMs };
      return new Date(nextMs);
    },
    between(after, until) {
      const [afterMs, untilMs] = [after.getTime(), until.getTime()];
      const lastWall = clock.toWallMs(untilMs) + marginMs(untilMs);
      const slots = new Set<number>();
      for (const wall of wallTimes(afterMs)) {
        if (wall > lastWall) break;
        for (const instant of instantsOf(wall))
          if (instant > afterMs && instant <= untilMs) slots.add(instant);
      }
      return [...slots].sort((one, other) => one - other).map((instant) => new Date(instant));
    },
  };
}
