import type { JobSettings } from '../config/job-fields.ts';
import type { PipelineConfig } from '../config/schema.ts';
import type { SourceSettings } from '../config/source-fields.ts';
import type { Finding } from '../core/finding.ts';
import type { KnownErrorDetails } from '../core/known-error.ts';
import type { Purpose } from '../core/layout.ts';
import type { CsvChunk } from '../core/record.ts';
import type { RunReport } from '../core/report.ts';
import type { RunStop } from '../core/run.ts';
import type { Unit, UnitResult } from '../core/work.ts';
import type { Database } from '../db/connect.ts';
import type { Layout, OtherLayouts } from '../intake/layout/to-layout.ts';
import type { Intake } from '../intake/read/intake-file.ts';
import type { Nouns, Run } from '../ops/run.ts';
import type { Client } from '../service/client.ts';
import type { SourceClients } from '../store/source-clients.ts';

export type FlowEnd<Report extends RunReport = RunReport> = {
  /** Why it stopped early. Null if it completed. */
  readonly stop: RunStop | null;
  readonly report: Report;
};

/**
 * What tables say that only a person can judge. `refusals`: who must not be submitted, which cannot be taken back.
 * `orders`: which orders count less, for example after refunds.
 */
export type Heeded = 'refusals' | 'orders';

/**
 * What runs, plans and `doctor` need to know about a job kind. Declared with methods, so that kinds with
 * different settings fit into one list.
 */
export type RunnableKind<Settings extends JobSettings = JobSettings, Report extends RunReport = RunReport> = {
  readonly kind: Settings['kind'];
  readonly nouns: Nouns;
  /**
   * Runs the steps of the job, and returns the result. Loaded only when the job runs.
   *
   * @param found.mayRefuse a table that no source reads, or a held file, may say who must not be submitted: a kind that
   *   submits people submits none until a person decides. Only for kinds that heed `refusals`.
   */
  flow(run: Run<Settings>, found: { readonly mayRefuse: boolean }): Promise<FlowEnd<Report>>;
  /** What its sources are read for. Null if it reads no exports. */
  purpose(job: Settings): Purpose | null;
  /**
   * Opens the intake for files of its sources, for a worker that reads one source. Omitted if a run always
   * reads all sources itself.
   */
  openIntake?(run: Run<Settings>): Promise<Intake>;
  /** Performs a unit of work that only runs of this kind hand out. Omitted if they hand out none. */
  performUnit?(run: Run<Settings>, unit: Unit): Promise<Omit<UnitResult, 'notes'>>;
  /**
   * Checks, before a database is opened or created, the settings that only runs of this kind need. Omitted if there are none.
   *
   * @throws KnownError (exit 2).
   */
  requireSettings?(config: PipelineConfig, job: Settings): void;
  /** The leases that a run holds in addition to that of the job: `source:shop-orders`. */
  leases(job: Settings): readonly string[];
  /**
   * `by_days`: `backfill` posts past orders from a plan. Otherwise `needless` explains, in sentences, why
   * no backfill is needed.
   */
  readonly backfill: 'by_days' | { readonly needless: (jobName: string) => string };
  /** Whether a plan may write millions of rows and therefore writes to temporary tables. */
  readonly plansInOverlay: boolean;
  /**
   * What a person must approve before a run does it, for sentences. Omitted if a run needs no approval. See
   * `RunOptions.approve`.
   */
  readonly approves?: string;
  /**
   * Checks the beginning of a source's newest file against its layout, for `doctor`.
   *
   * @returns further findings, as sentences that begin with a blank. Empty if there are none.
   * @throws FileHeld, KnownError if a run would hold the file.
   */
  checkFile?(file: NewestFile, job: Settings): Promise<string>;
  /** What a table beside its sources that no source reads may say, so that a person must decide about it. Omitted: nothing. */
  readonly heeds?: Heeded;
  diagnostics?(): Promise<readonly Diagnostic[]>;
  /** What notices report about jobs of this kind, in addition to what they report about all jobs. */
  readonly watched?: Watched<Settings>;
};

/**
 * Values for notices. The counts of a run may be those of an older version. A function is omitted if it does
 * not apply to the kind.
 */
export type Watched<Settings extends JobSettings = JobSettings> = {
  /** How much a run left for later because its budget was used up. */
  beyondBudget?(counts: object): number;
  /** Number of fields that the service sends differently than before. */
  drift?(counts: object): number;
  /** What a run left for a person that no other problem names, each part as a clause with its count. */
  leftForPerson?(counts: object): readonly string[];
  /** Number of hours without a completed run after which the data of the job is stale. */
  staleAfterHours?(job: Settings): number;
};

/** The newest file of a source, and the layouts to check it against. */
export type NewestFile = {
  readonly layout: Layout;
  readonly otherLayouts: OtherLayouts;
  readonly source: SourceSettings;
  /** Reads the file from its beginning. */
  readonly open: () => AsyncIterable<CsvChunk>;
};

/** The leases of a run, which keep other processes from the data that it works on. */
export function leaseNames(kind: Pick<RunnableKind, 'leases'>, job: JobSettings): readonly string[] {
  return [`job:${job.name}`, ...kind.leases(job)];
}

/** Everything that a diagnostic may examine. It changes nothing. */
export type Patient = {
  readonly config: PipelineConfig;
  /** The known job kinds. */
  readonly kinds: readonly RunnableKind[];
  /** Null if the database could not be opened. The diagnostic of the database reports the reason. */
  readonly db: Database | null;
  /**
   * Why `db` is null. If this is null too, the database is the embedded one and no run has created it yet.
   */
  readonly databaseProblem: KnownErrorDetails | null;
  /**
   * True if the tables exist in the version of this program and this user may read them. Diagnostics query
   * the tables only in this case.
   */
  readonly hasTables: boolean;
  /** Null if the configuration names no service. The diagnostic of the service reports that. */
  readonly client: Client | null;
  readonly sourceClients: SourceClients;
  /** The value of PGSSLMODE. Empty if it is not set. */
  readonly pgSslMode: string;
  readonly now: () => Date;
  /** Returns the free bytes of the file system that holds a folder. */
  readonly freeBytes: (folder: string) => Promise<number>;
};

/**
 * One thing that `doctor` looks at. Add it as a file in `diagnostics/` and a line in `examine.ts`, or in the `doctor.ts` of
 * a kind of job. If something else is broken, leave the report to the diagnostic of that part. A `KnownError` that it
 * throws becomes a finding.
 */
export type Diagnostic = {
  readonly name: string;
  readonly look: (patient: Patient) => Promise<readonly Finding[]>;
};
