import type { JobTiming } from '../../config/job-fields.ts';
import { openCalendar } from './calendar.ts';

export type NextSlot = {
  readonly job: string;
  /** The schedule of the job. Null for a job that follows another. */
  readonly schedule: string | null;
  readonly timeZone: string;
  readonly after: string | null;
  /**
   * For a job that follows others: the slot of the first job in the chain. Null if there is no further slot.
   */
  readonly at: Date | null;
};

type ScheduledJob = Pick<JobTiming, 'schedule' | 'timeZone' | 'after'> & { readonly name: string };

/** The next slot of each job that runs on its own, in the order of the configuration. */
export function nextSlots(jobs: readonly ScheduledJob[], now: Date): readonly NextSlot[] {
  return jobs
    .filter(({ schedule, after }) => schedule !== null || after !== null)
    .map(({ name, schedule, timeZone, after }) => ({
      job: name,
      schedule,
      timeZone,
      after,
      at: nextSlotOf(jobs, { job: name, after: now }),
    }));
}

/**
 * The first slot of a job after an instant. Null for a job that only runs by hand, and if there are no more
 * slots.
 */
export function nextSlotOf(
  jobs: readonly ScheduledJob[],
  { job: name, after: instant }: { job: string; after: Date },
): Date | null {
  const job = jobs.find((candidate) => candidate.name === name);
  if (job === undefined) return null;
  const { schedule, timeZone, after } = job;
  if (schedule !== null) return openCalendar({ schedule, timeZone }).next(instant);
  return after === null ? null : nextSlotOf(jobs, { job: after, after: instant });
}
