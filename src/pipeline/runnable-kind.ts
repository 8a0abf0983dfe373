import type { JobSettings, SourceSettings } from '../model/config.ts';
import type { Layout, OtherLayouts, Purpose } from '../model/layout.ts';
import type { CsvChunk } from '../model/record.ts';
import type { RunReport } from '../model/report.ts';
import type { RunStop } from '../model/run.ts';
import type { Check } from './doctor/check.ts';
import type { Intake } from './intake-file.ts';
import type { Run } from './run.ts';

/** How a flow ended. */
export type FlowEnd<Report extends RunReport = RunReport> = {
  /** Why it stopped before its end; null when it came to its end. */
  readonly stop: RunStop | null;
  readonly report: Report;
};

/** Words of a kind of job, for sentences. */
export type Nouns = {
  /** What it works on, in the plural: `orders`. */
  readonly items: string;
  /** What becomes of them: `posted`. */
  readonly done: string;
};

/** What runs, plans and `doctor` have to know of a kind of job. Written as methods, so that kinds with settings of their own fit into one list. */
export type RunnableKind<Settings extends JobSettings = JobSettings, Report extends RunReport = RunReport> = {
  readonly kind: Settings['kind'];
  readonly nouns: Nouns;
  /** What it does: its steps, and at last what they came to. Loaded when it runs. */
  flow(run: Run<Settings>): Promise<FlowEnd<Report>>;
  /** What its sources are read for; null where it reads no exports. */
  purpose(job: Settings): Purpose | null;
  /** Opens what reads files of its sources, for a worker that reads one of them; left out where a run reads all of them itself. */
  openIntake?(run: Run<Settings>): Promise<Intake>;
  /** What a run keeps others from while it is at work, besides the job itself: `source:shop-orders`. */
  leases(job: Settings): readonly string[];
  /** Whether a plan, which may write millions of rows, writes them to temporary tables. */
  readonly plansInOverlay: boolean;
  /** What a person approves before a run does it, for sentences; left out where a run asks no question. See `RunOptions.approve`. */
  readonly approves?: string;
  /**
   * Holds the beginning of a source's newest file against its layout, for `doctor`.
   *
   * @returns what else it shows, as sentences that begin with a blank; empty for nothing.
   * @throws FileHeld, KnownError where a run would hold the file.
   */
  checkFile?(file: NewestFile, job: Settings): Promise<string>;
  /** What `doctor` looks at for jobs of this kind. */
  checks?(): Promise<readonly Check[]>;
  /** What notices tell of its jobs beyond what they tell of all. */
  readonly watched?: Watched<Settings>;
};

/** Read from the counts of a run, which may be of an older version. Each is left out where a kind has no such thing. */
export type Watched<Settings extends JobSettings = JobSettings> = {
  /** How much a run left for later because its budget was spent. */
  beyondBudget?(counts: object): number;
  /** How many fields the service sends otherwise than before. */
  drift?(counts: object): number;
  /** What the job has brought is stale when no run has come to its end for so many hours. */
  staleAfterHours?(job: Settings): number;
};

/** The newest file of a source, and what it is held against. */
export type NewestFile = {
  readonly layout: Layout;
  readonly otherLayouts: OtherLayouts;
  readonly source: SourceSettings;
  /** Reads it from its beginning. */
  readonly open: () => AsyncIterable<CsvChunk>;
};

/** The leases of a run, which keep others from what it works on. */
export function leaseNames(kind: Pick<RunnableKind, 'leases'>, job: JobSettings): readonly string[] {
  return [`job:${job.name}`, ...kind.leases(job)];
}
