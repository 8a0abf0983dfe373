import type { JobTiming } from '../model/config.ts';
import { openCalendar } from './calendar.ts';

export type NextSlot = {
  readonly job: string;
  /** Its schedule; null for a job that follows another. */
  readonly schedule: string | null;
  readonly timeZone: string;
  readonly after: string | null;
  /** Of a job that follows: the slot of the one that it follows at last. */
  readonly at: Date | null;
};

type ScheduledJob = Pick<JobTiming, 'schedule' | 'timeZone' | 'after'> & { readonly name: string };

/** What comes next, for each job that runs by itself, in the order of the configuration. */
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

/** The first slot of a job after an instant; null for a job that runs by hand only, and where there is none any more. */
export function nextSlotOf(
  jobs: readonly ScheduledJob[],
  { job: name, after: instant }: { readonly job: string; readonly after: Date },
): Date | null {
  const job = jobs.find((candidate) => candidate.name === name);
  if (job === undefined) return null;
  const { schedule, timeZone, after } = job;
  if (schedule !== null) return openCalendar({ schedule, timeZone }).next(instant);
  return after === null ? null : nextSlotOf(jobs, { job: after, after: instant });
}
