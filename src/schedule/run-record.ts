import { hostname } from 'node:os';
import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { BackfillRunReport } from '../model/backfill.ts';
import type { ExitCode } from '../model/exit-code.ts';
import type { RunReport } from '../model/report.ts';
import type { RunStatus } from '../model/run.ts';

/** @returns the id of the new run. */
export async function beginRun(
  db: Database,
  options: {
    readonly job: string;
    readonly kind: string;
    /** Base address that it sends to; left out for a plan. */
    readonly service?: string;
    /** 32 hex digits; null or left out where nothing is traced. */
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
  /** What it came to; null when it did not come to an end. */
  readonly report: Pick<RunReport, 'counts' | 'amounts'> | BackfillRunReport | null;
  /** Why it failed; no secrets, row values or addresses. */
  readonly problem: string | null;
  /** Stable machine name of that; null where there is none. */
  readonly problemCode: string | null;
};

/**
 * Writes down how a run has ended. Without effect where it was settled as dead, because its leases were over: then another run has its work, and a
 * slot is not done twice.
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

/** The same for a person. */
export const GONE = 'its process was gone';

/**
 * Settles the runs of a job whose process died: the caller holds the job's lease, so no other run of it is alive.
 *
 * @returns how many.
 */
export async function settleDeadRuns(
  db: Database,
  options: { readonly job: string; readonly currentRunId: string },
): Promise<number> {
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
    .executeTakeFirst();
  return Number(settled.numUpdatedRows);
}
