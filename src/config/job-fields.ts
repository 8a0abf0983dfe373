import { z } from 'zod';
import type { JobTiming } from '../core/config.ts';
import type { JobContext } from './configured-kind.ts';
import { anyNumber, day, NAME, oneOrMore, text } from './fields.ts';

/** Fields of `pipeline.yaml` that several kinds of jobs share. */

/** 31 days: longer than any healthy run. */
const LONGEST_MINUTES = 44_640;

const minutes = () => anyNumber(0.01, LONGEST_MINUTES);

/** When a job runs and how long it may take. Every kind has these fields in addition to its own. */
export const timing = {
  schedule: text(100)
    .nullable()
    .default(null)
    .describe(
      'When `serve` runs it: a cron expression with five fields, for example "5 * * * *". Omit it if you start the job yourself, or if it runs after another job.',
    ),
  time_zone: text(100)
    .default('UTC')
    .describe(
      'IANA zone of the schedule, of start_date and of the days of a backfill, for example Europe/Amsterdam.',
    ),
  after: z
    .string()
    .regex(NAME)
    .nullable()
    .default(null)
    .describe('Instead of a schedule: the job that this job follows, slot by slot, if that job succeeded.'),
  catch_up: z
    .enum(['latest', 'all', 'none'])
    .default('latest')
    .describe(
      'What to do with slots that no process ran: run the latest of them late, all of them, or none.',
    ),
  overlap: z
    .enum(['skip', 'queue'])
    .default('skip')
    .describe(
      'What to do with a slot while the job is still running: skip it, or queue it until the job is done.',
    ),
  deadline_minutes: minutes()
    .nullable()
    .default(null)
    .describe('Ends a run that takes longer; the next run continues. Omit it for no limit.'),
  step_minutes: minutes()
    .nullable()
    .default(null)
    .describe('Ends a run if one step (reading one file, posting, …) takes longer. Omit it for no limit.'),
  stall_minutes: minutes().prefault(30).describe('Ends a run that makes no progress for this long.'),
} as const;

type TimingFile = z.output<z.ZodObject<typeof timing>>;

/** The common part of all kinds' settings: the job's name, its kind, and the values of `timing`. */
export function toJobBase<Kind extends string>(
  file: TimingFile & { readonly kind: Kind },
  { name }: JobContext,
): JobTiming & { readonly name: string; readonly kind: Kind } {
  return {
    name,
    kind: file.kind,
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

/** @param what what the files contain: `a source of clicks`. */
export function sourceNames(what = 'a source') {
  return oneOrMore(text(60), { error: 'names' }).describe(`Name of ${what}, or a list of names.`);
}

/** @param advice when to omit it. */
export function codesFile(advice: string) {
  return text()
    .nullable()
    .default(null)
    .describe(
      `CSV file with the columns code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to; relative to this file. ${advice}`,
    );
}

/** @param meaning what happens from that day on, and before it. */
export function firstDay(meaning: string) {
  return day().nullable().default(null).describe(meaning);
}
