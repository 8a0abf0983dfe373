import type { ExitCode } from './exit-code.ts';
import type { RunReport } from './report.ts';

export type RunStatus = 'ok' | 'issues' | 'failed' | 'interrupted';

/** Why a run stopped before its end. The next run continues its work. */
export type RunStop =
  | { readonly kind: 'drained' }
  | { readonly kind: 'overdue'; readonly message: string }
  /** The run has done all its work, but could not refresh the sums for analysts. */
  | { readonly kind: 'reports_stale'; readonly message: string }
  /** Workers could not do some parts of the run. The rest was done. */
  | { readonly kind: 'units_given_up'; readonly message: string }
  /** All work is done, but entries of a job that is not configured wait, and no run posts them. */
  | { readonly kind: 'entries_stranded'; readonly message: string }
  /** Requests that may be repeated got no clear answer. The rest was done. */
  | { readonly kind: 'unanswered'; readonly message: string }
  | { readonly kind: 'unauthorised'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string }
  | { readonly kind: 'throttled'; readonly message: string }
  | { readonly kind: 'lease_lost'; readonly message: string }
  | { readonly kind: 'database_lost'; readonly message: string }
  /** The local journal cannot be written, so nothing may be sent. */
  | { readonly kind: 'journal_lost'; readonly message: string }
  /** The database lacks claims that were committed to it. */
  | { readonly kind: 'ledger_went_back'; readonly message: string };

/** Where a run sends to, and the database with its ledger. Contains no secrets. */
export type RunTarget = {
  /** Base address of the service. */
  readonly service: string;
  /** The account that the key belongs to, as the service identifies it. */
  readonly accountId: string;
  /** Host, port and name of the database, or the folder of the embedded one. */
  readonly ledger: string;
};

/** The last event of `run --json`. It is also stored with the run. */
export type RunFinished<Report extends RunReport = RunReport> = {
  readonly event: 'run_finished';
  readonly job: string;
  readonly kind: Report['kind'];
  readonly run_id: string;
  readonly status: RunStatus;
  readonly exit_code: ExitCode;
  /** Base address of the service. Null for a plan, which sends nothing. */
  readonly service: string | null;
  /** Number of files in its sources that are held now. */
  readonly held_files: number;
  /**
   * Number of unusual results for files of the run that were accepted nevertheless. They do not change the
   * exit code.
   */
  readonly check_warnings: number;
  readonly counts: Report['counts'];
  readonly amounts: Report['amounts'];
};

/** One kind of step of a run, with all its repetitions added together. */
export type RunStep = {
  /** Stable name: `read`, `attribute`, `post`. */
  readonly name: string;
  /** Label for people, from the last repetition. */
  readonly label: string;
  /** Number of times it was begun, for example once for each file. */
  readonly times: number;
  readonly startedAt: Date;
  /** Null while the run is in this step. */
  readonly finishedAt: Date | null;
  readonly seconds: number;
  /** The unit of `done` and `total`: `bytes`, `orders`. */
  readonly unit: string;
  readonly done: number;
  /** Null if it was unknown. */
  readonly total: number | null;
};

/** Requests of a run for one operation. `requests` is the sum of the four counts that follow. */
export type RunRequests = {
  readonly operation: string;
  readonly requests: number;
  readonly answered: number;
  readonly refused: number;
  readonly throttled: number;
  readonly failed: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly slowestMs: number;
};

/** A message that a run showed. Contains no secrets, row values or addresses. */
export type RunMessage = { readonly number: number; readonly at: Date; readonly message: string };

/** How a run spends its time. */
export type RunActivity = {
  readonly steps: readonly RunStep[];
  readonly requests: readonly RunRequests[];
  readonly messages: readonly RunMessage[];
};
