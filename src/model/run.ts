import type { CustomersReport } from './customers-report.ts';
import type { MirrorReport } from './mirror-report.ts';
import type { OrdersReport } from './orders-report.ts';

export type RunStatus = 'ok' | 'issues' | 'failed' | 'interrupted';

/** Why a run stopped before its end. What it left is done by the next one. */
export type RunStop =
  | { readonly kind: 'drained' }
  | { readonly kind: 'overdue'; readonly message: string }
  | { readonly kind: 'unauthorised'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string }
  | { readonly kind: 'throttled'; readonly message: string }
  | { readonly kind: 'lease_lost'; readonly message: string }
  | { readonly kind: 'database_lost'; readonly message: string };

/** What a run came to: one member for each kind of job. */
export type RunReport = OrdersReport | CustomersReport | MirrorReport;

/** The last event of `run --json`, and what is stored with the run. */
export type RunFinished<Report extends RunReport = RunReport> = {
  readonly event: 'run_finished';
  readonly job: string;
  readonly kind: Report['kind'];
  readonly run_id: string;
  readonly status: RunStatus;
  readonly counts: Report['counts'];
  readonly amounts: Report['amounts'];
};
