import { schedule } from 'node-cron';
import type { JobTiming } from '../../config/job-fields.ts';
import { toNodeCron } from '../../core/time/cron-pattern.ts';

/** Frequent enough to renew a lease, and to start slots soon even if node-cron misses one. */
const TICK_MS = 5_000;

export type TickedJob = Pick<JobTiming, 'schedule' | 'timeZone'> & { readonly name: string };

export type Ticker = { stop(): void };

/**
 * Ticks at once, at each time of each job's schedule, and every five seconds in between. The schedule of a
 * job is a task of node-cron in its time zone, which waits for the clock of the machine.
 *
 * The ticks in between are the safety net. They use the monotonic clock, so a slot is at most five seconds
 * late if that clock is set back, or if node-cron leaves a time out (see `calendar.ts`). A tick only asks: the
 * slots that have come, also those that were missed, are read from the same expression by the clock of the
 * database, and a slot is claimed there once, whichever process ticks first. node-cron's own coordination of
 * processes knows no missed slots and no process that died, so it has nothing to add.
 */
export function startTicker(jobs: readonly TickedJob[], onTick: () => void): Ticker {
  const tasks = jobs.flatMap(({ name, schedule: expression, timeZone: timezone }) =>
    expression === null
      ? []
      : toNodeCron(expression).map((one) =>
          // Late and missed times do not matter, because of the ticks in between.
          schedule(one, onTick, { name, timezone, logger: SILENT, suppressMissedWarning: true }),
        ),
  );
  const timer = setInterval(onTick, TICK_MS);
  onTick();
  return {
    stop() {
      clearInterval(timer);
      for (const task of tasks) void task.destroy();
    },
  };
}

const SILENT = { info: ignore, warn: ignore, error: ignore, debug: ignore };

function ignore(): void {}
