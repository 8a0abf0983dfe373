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

/** What comes next, for each job that runs by itself, in the order of the configuration. */
export function nextSlots(
  jobs: readonly (Pick<JobTiming, 'schedule' | 'timeZone' | 'after'> & { readonly name: string })[],
  now: Date,
): readonly NextSlot[] {
  const atOf = (name: string): Date | null => {
    const job = jobs.find((candidate) => candidate.name === name);
    if (job === undefined) return null;
    const { schedule, timeZone, after } = job;
    if (schedule !== null) return openCalendar({ schedule, timeZone }).next(now);
    return after === null ? null : atOf(after);
  };
  return jobs
    .filter(({ schedule, after }) => schedule !== null || after !== null)
    .map(({ name, schedule, timeZone, after }) => ({ job: name, schedule, timeZone, after, at: atOf(name) }));
}
