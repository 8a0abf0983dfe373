import type { ConfiguredKind } from '../src/config/configured-kind.ts';
import type { Database } from '../src/db/connect.ts';
import type { DB } from '../src/db/tables.ts';
import type { JobSettings } from '../src/model/config.ts';
import type { RunReport } from '../src/model/report.ts';
import type { RunnableKind } from '../src/pipeline/runnable-kind.ts';
import type { ReportRenderer } from '../src/present/report-renderer.ts';
import type { Explained } from '../src/report/entry-lives.ts';

/** A first job of a kind, as lines of `pipeline.yaml`. */
export type JobStarter = {
  /** What its sources hold, which is listed with the brand; null for a job that reads none, and is always written. */
  readonly reads: 'orders' | 'customers' | 'clicks' | 'creators' | null;
  /** Beside the name of the job. */
  readonly comment?: string;
  /** Settings beside its kind, sources and brand, each with what it is for. */
  readonly settings?: readonly string[];
};

/**
 * Everything that tells one kind of job from another: what the configuration may say of it, what a run of it does, and how what it came
 * to is shown. Nothing outside of its folder asks which kind a job is.
 */
export type JobKind<
  Settings extends JobSettings = JobSettings,
  Report extends RunReport = RunReport,
> = ConfiguredKind<Settings> &
  RunnableKind<Settings, Report> & {
    /** One line for people: what it does. */
    readonly summary: string;
    /** Tables that a run fills, and the views of `bi` that it feeds, for lineage; empty where it only deletes. */
    readonly fills: readonly (keyof DB | `bi.${string}`)[];
    /** `by_days`: the past is posted by `backfill`, from a plan. Otherwise why that is not needed, in sentences. */
    readonly backfill: 'by_days' | { readonly needless: (jobName: string) => string };
    /** The job of this kind that `init` writes; left out where it needs what no file can tell. */
    readonly starter?: JobStarter;
    /** What the demo says before it runs such a job. */
    readonly demo: string;
    readonly render: ReportRenderer<Report>;
    /** `explain <what> <text>`; left out where nothing of a kind can be explained so. */
    readonly explain?: {
      /** `clicks`. */
      readonly what: string;
      /** What the text may be, for help: `a link, code or handle`. */
      readonly argument: string;
      /** What is known of it, each thing by itself; none where nothing is. */
      find(db: Database, text: string): Promise<readonly Explained[]>;
    };
  };
