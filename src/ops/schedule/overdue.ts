import type { JobTiming } from '../../config/job-fields.ts';
import { nextSlotOf } from './next-slots.ts';

/** A run of a job without `deadline_minutes` is expected to end within this time after its slot. */
const USUAL_MINUTES = 60;

export type TimedJob = Pick<JobTiming, 'schedule' | 'timeZone' | 'after' | 'deadlineMinutes'> & {
  readonly name: string;
};

/** How long a job has been due without a completed run. */
export type Overdue = {
  readonly job: string;
  /** Seconds since the first slot after the start of the last completed run. 0 if no such slot has passed. */
  readonly seconds: number;
  /**
   * A job that is overdue for longer than this is late. It is the sum of the deadlines of the job and of the
   * jobs that it follows.
   */
  readonly limitSeconds: number;
};

/**
 * Determines how late each job is by its own schedule, so that one rule works for hourly, nightly and weekday
 * jobs. Omits jobs that only run by hand, and jobs without another slot.
 *
 * @param options.lastBegunAt when the last completed run started. If null, there was none, and slots count
 * from `since`.
 */
export function findOverdue(
  jobs: readonly TimedJob[],
  options: { readonly now: Date; readonly since: Date; readonly lastBegunAt: (job: string) => Date | null },
): readonly Overdue[] {
  const { now, since, lastBegunAt } = options;
  return jobs.flatMap(({ name }) => {
    const dueAt = nextSlotOf(jobs, { job: name, after: lastBegunAt(name) ?? since });
    if (dueAt === null) return [];
    const seconds = Math.max(0, (now.getTime() - dueAt.getTime()) / 1000);
    return [{ job: name, seconds, limitSeconds: minutesOf(jobs, name) * 60 }];
  });
}

/** Number of minutes after its slot within which a run of the job should end. */
function minutesOf(jobs: readonly TimedJob[], name: string): number {
  const job = jobs.find((candidate) => candidate.name === name);
  if (job === undefined) return 0;
  return (job.deadlineMinutes ?? USUAL_MINUTES) + (job.after === null ? 0 : minutesOf(jobs, job.after));
}
