import type { JobTiming } from '../../config/job-fields.ts';
import { openCronPattern } from '../../core/time/cron-pattern.ts';
import { zoneClock } from '../../core/time/zone-clock.ts';

/** The slots of a schedule: the instants at which its job has to run. */
export type Calendar = {
  /** The first slot after an instant. Null if there are no more slots. */
  next(after: Date): Date | null;
  /** The slots after one instant, up to and including another. Sorted, each once. */
  between(after: Date, until: Date): readonly Date[];
};

/**
 * No clock was ever set forward or back by more than this at once. The largest change moved a place across
 * the date line.
 */
const LARGEST_JUMP_MS = 25 * 3_600_000;

/**
 * Opens a cron expression (already checked by the configuration) in its time zone. The expression refers to
 * local time. On the two days of the year on which local time jumps:
 *
 * - A schedule that names every hour (`*`, `0-23`, an hour field with a step of 1) runs in both passes of the
 *   repeated hour, and not in the skipped hour: at a constant pace in real time.
 * - Any other schedule runs once for each local time that it names. If an hour is repeated, it runs in the
 *   first pass. If the local time is skipped, it runs as long after the jump as the time is after the start
 *   of the gap (02:30 becomes 03:30).
 *
 * The pattern names local times only. This function decides which instant a local time means, because
 * libraries differ here: node-cron, given the time zone, leaves out a skipped time, and the second pass of a
 * repeated hour even if a schedule is for every hour.
 */
export function openCalendar({
  schedule,
  timeZone,
}: Pick<JobTiming, 'timeZone'> & { schedule: string }): Calendar {
  const { isEveryHour, after: wallTimesAfter } = openCronPattern(schedule);
  const clock = zoneClock(timeZone);

  function instantsOf(wallMs: number): readonly number[] {
    return isEveryHour ? clock.toInstantsMs(wallMs) : [clock.toInstantMs(wallMs)];
  }
  /** Near a jump, local times and instants are not in the same order. */
  function marginMs(instantMs: number): number {
    return clock.isSteadyAround(instantMs) ? 0 : LARGEST_JUMP_MS;
  }
  function wallTimes(afterMs: number): Generator<number> {
    return wallTimesAfter(clock.toWallMs(afterMs) - marginMs(afterMs));
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

  // Repeated calls get the cached answer until that slot has passed.
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
