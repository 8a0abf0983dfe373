import type { JobTiming } from '../../src/model/config.ts';

/** Of a job that says nothing of when it runs, as the configuration reads it. */
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
