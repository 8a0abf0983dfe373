import { z } from 'zod';
import type { JobTiming } from '../model/config.ts';
import { anyNumber, NAME, text } from './fields.ts';

/** A month: longer than any run that is well. */
const LONGEST_MINUTES = 44_640;

const minutes = () => anyNumber(0.01, LONGEST_MINUTES);

/** When a job of any kind runs by itself; every kind has these fields beside its own. */
export const timing = {
  schedule: text(100)
    .nullable()
    .default(null)
    .describe(
      'When `serve` runs it: a cron expression with five fields, for example "5 * * * *". Leave it out to run it by hand, or after another job.',
    ),
  time_zone: text(100)
    .default('UTC')
    .describe(
      'IANA zone that the schedule, start_date and the days of a backfill are meant in, for example Europe/Amsterdam.',
    ),
  after: z
    .string()
    .regex(NAME)
    .nullable()
    .default(null)
    .describe('Instead of a schedule: the job that it follows, slot by slot, when that one ended well.'),
  catch_up: z
    .enum(['latest', 'all', 'none'])
    .default('latest')
    .describe(
      'Slots that came while nothing ran: the latest of them is run late, all of them are, or none is.',
    ),
  overlap: z
    .enum(['skip', 'queue'])
    .default('skip')
    .describe('A slot that comes while the job is at work is skipped, or waits until it is done.'),
  deadline_minutes: minutes()
    .nullable()
    .default(null)
    .describe('A run that takes longer is ended; the next one goes on. Leave it out for no limit.'),
  step_minutes: minutes()
    .nullable()
    .default(null)
    .describe(
      'A run, one step of which (reading one file, posting, …) takes longer, is ended. Leave it out for no limit.',
    ),
  stall_minutes: minutes().prefault(30).describe('A run that makes no progress at all for so long is ended.'),
} as const;

type TimingFile = z.output<z.ZodObject<typeof timing>>;

/** What the fields of `timing` come to. */
export function toTiming(file: TimingFile): JobTiming {
  return {
    schedule: file.schedule,
    timeZone: file.time_zone,
    after: file.after,
    catchUp: file.catch_up,
    overlap: file.overlap,
    deadlineMinutes: file.deadline_minutes,
    stepMinutes: file.step_minutes,
    stallMinutes: file.stall_minutes,
  };
}
