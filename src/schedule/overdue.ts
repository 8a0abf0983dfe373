import type { JobTiming } from '../model/config.ts';
import { nextSlotOf } from './next-slots.ts';

/** A run of a job without `deadline_minutes` is expected to end so many minutes after its slot. */
const USUAL_MINUTES = 60;

export type TimedJob = Pick<JobTiming, 'schedule' | 'timeZone' | 'after' | 'deadlineMinutes'> & {
  readonly name: string;
};

/** How long a job has been due without a run that came to its end. */
export type Overdue = {
  readonly job: string;
  /** Since the first slot after the last run that came to its end began; 0 while none has come. */
  readonly seconds: number;
  /** A job that is longer overdue than this is late: its deadline, and those of the jobs that it follows. */
  readonly limitSeconds: number;
};

/**
 * How late each job is by its own schedule, so that one limit does for jobs by the hour, by night and on weekdays. Jobs that run by hand
 * only, and those without another slot, are left out.
 *
 * @param options.lastBegunAt when the last run that came to its end began; null: there was none, so slots count from `since`.
 */
export function findOverdue(
  jobs: readonly TimedJob[],
  options: {
    readonly now: Date;
    readonly since: Date;
    readonly lastBegunAt: (job: string) => Date | null;
  },
): readonly Overdue[] {
  const { now, since, lastBegunAt } = options;
  return jobs.flatMap(({ name }) => {
    const dueAt = nextSlotOf(jobs, { job: name, after: lastBegunAt(name) ?? since });
    if (dueAt === null) return [];
    const seconds = Math.max(0, (now.getTime() - dueAt.getTime()) / 1000);
    return [{ job: name, seconds, limitSeconds: minutesOf(jobs, name) * 60 }];
  });
}

/** In which a run of the job is expected to end after its slot. */
function minutesOf(jobs: readonly TimedJob[], name: string): number {
  const job = jobs.find((candidate) => candidate.name === name);
  if (job === undefined) return 0;
  return (job.deadlineMinutes ?? USUAL_MINUTES) + (job.after === null ? 0 : minutesOf(jobs, job.after));
}
