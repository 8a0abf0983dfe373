import type { JobTiming } from '../../src/config/job-fields.ts';

/** Timing of a job whose configuration states none. */
export const DEFAULT_TIMING: JobTiming = {
  schedule: null,
  timeZone: 'UTC',
  after: null,
  catchUp: 'latest',
  overlap: 'skip',
  deadlineMinutes: null,
  stepMinutes: null,
  stallMinutes: 30,
};
