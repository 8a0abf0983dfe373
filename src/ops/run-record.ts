import { hostname } from 'node:os';
import { sql } from 'kysely';
import type { BackfillRunReport } from '../core/backfill.ts';
import type { ExitCode } from '../core/exit-code.ts';
import type { RunReport } from '../core/report.ts';
import type { RunStatus } from '../core/run.ts';
import type { Database } from '../db/connect.ts';

/** @returns the id of the new run. */
export async function beginRun(
  db: Database,
  options: {
    readonly job: string;
    readonly kind: string;
    /** Base address of the service that the run sends to. Omitted for a plan. */
    readonly service?: string;
    /** 32 hex digits. Null or omitted if nothing is traced. */
    readonly trace_id?: string | null;
  },
): Promise<string> {
  const run = await db
    .insertInto('ops.runs')
    .values({ ...options, host: hostname(), pid: process.pid })
    .returning('run_id')
    .executeTakeFirstOrThrow();
  return run.run_id;
}

export type RunEnd = {
  readonly runId: string;
  readonly status: RunStatus;
  readonly exitCode: ExitCode;
  /** The result of the run. Null if it did not complete. */
  readonly report: Pick<RunReport, 'counts' | 'amounts'> | BackfillRunReport | null;
  /** Why the run failed, and on a second line what to do about it. Contains no secrets, row values or addresses. */
  readonly problem: string | null;
  /** Stable machine-readable code of the problem. Null if there is none. */
  readonly problemCode: string | null;
};

/**
 * Records how a run has ended. Has no effect if the run was settled as dead because its leases had expired.
 * In that case another run continues its work, and a slot must not be done twice.
 */
export async function endRun(db: Database, end: RunEnd): Promise<void> {
  await db
    .updateTable('ops.runs')
    .set({
      status: end.status,
      exit_code: end.exitCode,
      problem: end.problem,
      problem_code: end.problemCode,
      counts: end.report === null ? null : JSON.stringify(end.report.counts),
      amounts: end.report === null ? null : JSON.stringify(end.report.amounts),
      finished_at: sql`clock_timestamp()`,
    })
    .where('run_id', '=', end.runId)
    .where('status', '=', 'running')
    .execute();
}

/** `problem_code` of a run whose process died. */
export const PROCESS_GONE = 'process_gone';

/** The same as a text for people. */
export const GONE = 'its process was gone';

/**
 * Settles the runs of a job whose process died. The caller holds the lease of the job, so no other run of it
 * is alive.
 *
 * @returns the ids of the settled runs.
 */
export async function settleDeadRuns(
  db: Database,
  options: { readonly job: string; readonly currentRunId: string },
): Promise<readonly string[]> {
  const settled = await db
    .updateTable('ops.runs')
    .set({
      status: 'interrupted',
      problem: GONE,
      problem_code: PROCESS_GONE,
      finished_at: sql`clock_timestamp()`,
    })
    .where('job', '=', options.job)
    .where('status', '=', 'running')
    .where('run_id', '<', options.currentRunId)
    .returning('run_id')
    .execute();
  return settled.map(({ run_id: runId }) => runId);
}
