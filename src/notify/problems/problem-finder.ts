import type { Database } from '../../db/connect.ts';
import type { JobSettings, PipelineConfig } from '../../model/config.ts';
import type { Problem, ProblemKind } from '../../model/notify/notice.ts';
import type { HeldFile } from '../../model/report.ts';
import type { RunnableKind } from '../../pipeline/runnable-kind.ts';
import type { ListedRun } from '../../report/list-runs.ts';

/** What an observation looks at. Nothing of it is changed by looking. */
export type Situation = {
  readonly db: Database;
  readonly config: PipelineConfig;
  /** Those of which a job may be. */
  readonly kinds: readonly RunnableKind[];
  /** When the observation began, by the clock of the database. */
  readonly at: Date;
  /** The last run of each job that says how the job is; asked for once. */
  readonly lastRuns: () => Promise<readonly JobRun[]>;
  /** Files of a job's sources that are held for it; asked for once. */
  readonly heldFiles: (job: JobSettings) => Promise<readonly HeldFile[]>;
  /** Free bytes of the file system that holds a folder. */
  readonly freeBytes: (folder: string) => Promise<number>;
};

/** A configured job, its kind, and its last run that came to an end or died. */
export type JobRun = { readonly job: JobSettings; readonly kind: RunnableKind; readonly run: ListedRun };

/** What a finder finds: a problem of its kind. */
export type Found = Omit<Problem, 'kind'>;

/**
 * One kind of problem: a new one is an entry in a file beside this one, a line in `index.ts`, and its name in `PROBLEM_KINDS`. What it
 * needs of the database is asked in `src/report/`.
 */
export type ProblemFinder = {
  readonly kind: ProblemKind;
  /** Begins the message: `Orders in doubt`. */
  readonly title: string;
  /**
   * All of this kind that there are now, one for each job at most.
   *
   * @throws what kept it from looking: then nothing of this kind is opened or resolved.
   */
  find(situation: Situation): Promise<readonly Found[]>;
  /** Says that it is over, in a sentence. */
  over(job: string | null): string;
};

/** `1 file`, `2 files`. */
export function count(items: number, one: string, many = `${one}s`): string {
  return `${items.toLocaleString('en')} ${items === 1 ? one : many}`;
}
