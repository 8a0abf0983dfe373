import type { ExitCode } from './exit-code.ts';
import type { RunReport } from './report.ts';

export type RunStatus = 'ok' | 'issues' | 'failed' | 'interrupted';

/** Why a run stopped before its end. What it left is done by the next one. */
export type RunStop =
  | { readonly kind: 'drained' }
  | { readonly kind: 'overdue'; readonly message: string }
  /** All that a run does was done; only the reports that analysts read could not be brought up to date. */
  | { readonly kind: 'reports_stale'; readonly message: string }
  /** Parts of the run that workers could not do; the rest was done. */
  | { readonly kind: 'units_given_up'; readonly message: string }
  | { readonly kind: 'unauthorised'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string }
  | { readonly kind: 'throttled'; readonly message: string }
  | { readonly kind: 'lease_lost'; readonly message: string }
  | { readonly kind: 'database_lost'; readonly message: string }
  /** The local journal cannot be written, so that nothing may be sent. */
  | { readonly kind: 'journal_lost'; readonly message: string }
  /** The database lacks claims that were committed to it. */
  | { readonly kind: 'ledger_went_back'; readonly message: string };

/** Where a run sends to, and where it keeps account of that. No secrets. */
export type RunTarget = {
  /** Base address of the service. */
  readonly service: string;
  /** The account that the key belongs to, as the service names it. */
  readonly accountId: string;
  /** Host, port and name of the database, or the folder of the embedded one. */
  readonly ledger: string;
};

/** The last event of `run --json`, and what is stored with the run. */
export type RunFinished<Report extends RunReport = RunReport> = {
  readonly event: 'run_finished';
  readonly job: string;
  readonly kind: Report['kind'];
  readonly run_id: string;
  readonly status: RunStatus;
  /** What the process ends with. */
  readonly exit_code: ExitCode;
  /** Base address of the service; null for a plan, which sends nothing. */
  readonly service: string | null;
  /** Files of its sources that are held now. */
  readonly held_files: number;
  /** What checks found unusual in files of the run that count all the same. It does not change the exit code. */
  readonly check_warnings: number;
  readonly counts: Report['counts'];
  readonly amounts: Report['amounts'];
};

/** A kind of step of a run, all times it was begun together. */
export type RunStep = {
  /** Stable name: `read`, `attribute`, `post`. */
  readonly name: string;
  /** What a person reads, of the last time. */
  readonly label: string;
  /** How often it was begun, for example once a file. */
  readonly times: number;
  readonly startedAt: Date;
  /** Null while the run is in it. */
  readonly finishedAt: Date | null;
  readonly seconds: number;
  /** What `done` and `total` count: `bytes`, `orders`. */
  readonly unit: string;
  readonly done: number;
  /** Null where it was unknown. */
  readonly total: number | null;
};

/** Requests of a run with one operation; `requests` is the sum of the four that follow. */
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

/** What a run said while it went on. No secrets, row values or addresses. */
export type RunMessage = { readonly number: number; readonly at: Date; readonly message: string };

/** What a run does with its time. */
export type RunActivity = {
  readonly steps: readonly RunStep[];
  readonly requests: readonly RunRequests[];
  readonly messages: readonly RunMessage[];
};
