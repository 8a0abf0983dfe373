import type { JobTiming } from '../../src/model/config.ts';

/** Of a job without content of when it runs, as the configuration reads it. */
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
