import type { ConfiguredKind } from '../src/config/configured-kind.ts';
import type { JobSettings } from '../src/config/job-fields.ts';
import type { RunReport } from '../src/core/report.ts';
import type { Database } from '../src/db/connect.ts';
import type { DB } from '../src/db/tables.ts';
import type { ReportRenderer } from '../src/render/report-renderer.ts';
import type { Explained } from '../src/reports/lives/entry-lives.ts';
import type { RunnableKind } from '../src/runs/runnable-kind.ts';

/** The lines of `pipeline.yaml` for a first job of a kind. */
export type JobStarter = {
  /**
   * What the sources of the job contain. They are listed together with the brand. Null for a job that reads
   * no source, which is always written.
   */
  readonly reads: 'orders' | 'customers' | 'clicks' | 'creators' | null;
  /** A comment next to the name of the job. */
  readonly comment?: string;
  /** Settings in addition to kind, sources and brand, each with a comment that explains it. */
  readonly settings?: readonly string[];
};

/**
 * Everything that distinguishes one kind of job from another: its settings in the configuration, what a run
 * of it does, and how the result is shown. No code outside the folder of a kind checks which kind a job is.
 */
export type JobKind<
  Settings extends JobSettings = JobSettings,
  Report extends RunReport = RunReport,
> = ConfiguredKind<Settings> &
  RunnableKind<Settings, Report> & {
    /** Tables that a run fills and views of `bi` that it feeds. Empty for a kind that only deletes. */
    readonly fills: readonly (keyof DB | `bi.${string}`)[];
    /**
     * The job of this kind that `init` writes. Omitted if the kind needs settings that no file can provide.
     */
    readonly starter?: JobStarter;
    /** What the demo prints before it runs such a job. */
    readonly demo: string;
    readonly render: ReportRenderer<Report>;
    /** Implements `explain <what> <text>`. Omitted if the kind has nothing to explain in this way. */
    readonly explain?: {
      /** For example `clicks`. */
      readonly what: string;
      /** What the text may be, for the help: `a link, code or handle`. */
      readonly argument: string;
      /** Finds everything that is known about the text, one item each. Empty if nothing is known. */
      find(db: Database, text: string): Promise<readonly Explained[]>;
    };
  };
