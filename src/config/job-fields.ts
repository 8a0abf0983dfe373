import { resolve } from 'node:path';
import { z } from 'zod';
import { anyNumber, type CamelCased, day, NAME, oneOrMore, optional, text } from './fields.ts';

/** Fields of `pipeline.yaml` that several kinds of jobs share. */

/** 31 days: longer than any healthy run. */
const LONGEST_MINUTES = 44_640;

const minutes = () => anyNumber(0.01, LONGEST_MINUTES);

/** When a job runs and how long it may take. Every kind has these fields in addition to its own. */
export const timing = {
  schedule: optional(text(100)).describe(
    'When `serve` runs it: a cron expression with five fields, for example "5 * * * *". Omit it if you start the job yourself, or if it runs after another job.',
  ),
  time_zone: text(100)
    .default('UTC')
    .describe(
      'IANA zone of the schedule, of start_date and of the days of a backfill, for example Europe/Amsterdam.',
    ),
  after: optional(z.string().regex(NAME)).describe(
    'Instead of a schedule: the job that this job follows, slot by slot, if that job succeeded.',
  ),
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
  deadline_minutes: optional(minutes()).describe(
    'Ends a run that takes longer; the next run continues. Omit it for no limit.',
  ),
  step_minutes: optional(minutes()).describe(
    'Ends a run if one step (reading one file, posting, …) takes longer. Omit it for no limit.',
  ),
  stall_minutes: minutes().prefault(30).describe('Ends a run that makes no progress for this long.'),
} as const;

export type JobTiming = CamelCased<z.output<z.ZodObject<typeof timing>>>;

/** A job of any kind. Each kind adds its own settings (`jobs/<kind>/settings.ts`). */
export type JobSettings = JobTiming & {
  readonly name: string;
  /** Name of a folder in `jobs/`. */
  readonly kind: string;
  /** Names of the sources that the job reads. Empty if it reads no exports. */
  readonly sources: readonly string[];
  /**
   * The brand whose customers the job reads, sends or uses. Omitted if it does not handle customers. While
   * the job runs, no customer of that brand can be forgotten.
   */
  readonly customersOf?: string;
};

/** What a job's settings need besides their own section of the file. */
export type JobContext = {
  readonly name: string;
  /** Resolves a path relative to the folder of the file. */
  readonly resolvePath: ResolvePath;
  /** Whether the orders of a source are stored with a key of their customer. */
  readonly hasCustomerKeys: (source: string) => boolean;
};

/** Returns an absolute path; null for null. */
export type ResolvePath = <Path extends string | null>(path: Path) => Path;

export function resolverIn(folder: string): ResolvePath {
  return <Path extends string | null>(path: Path) => (path === null ? path : resolve(folder, path)) as Path;
}

/**
 * A strict object schema with the literal `kind`. Its output is a function from the context to the settings.
 */
export type JobFields<Settings extends JobSettings = JobSettings> = z.core.$ZodTypeDiscriminable &
  z.ZodType<(context: JobContext) => Settings>;

/** @param what what the files contain: `a source of clicks`. */
export function sourceNames(what = 'a source') {
  return oneOrMore(text(60), { error: 'names' }).describe(`Name of ${what}, or a list of names.`);
}

/** The file in which `init` lists codes without an owner. In codes.csv, such rows would credit orders to no one. */
export const UNOWNED_CODES = 'codes-without-owner.csv';

/** @param advice when to omit it. */
export function codesFile(advice: string) {
  return optional(text()).describe(
    `CSV file with the columns code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to; relative to this file. ${advice}`,
  );
}

/** @param meaning what happens from that day on, and before it. */
export function firstDay(meaning: string) {
  return optional(day()).describe(meaning);
}
