import type { JobSettings } from '../config/job-fields.ts';
import type { PipelineConfig } from '../config/schema.ts';
import { EXIT, type ExitCode } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { Progress } from '../core/progress.ts';
import type { RunFinished, RunStatus, RunStop, RunTarget } from '../core/run.ts';
import type { Spread } from '../core/work.ts';
import type { Database } from '../db/connect.ts';
import { openOverlay } from '../db/overlay.ts';
import { explainFailure } from '../db/server/explain-failure.ts';
import type { Heartbeat } from '../ops/lease.ts';
import { explainAbort, type Run, type RunOptions } from '../ops/run.ts';
import { inRunPhase } from '../ops/run-phase.ts';
import { beginRun, endRun, settleDeadRuns } from '../ops/run-record.ts';
import { withLeases } from '../ops/with-leases.ts';
import type { Client } from '../service/client.ts';
import type { SourceClients } from '../store/source-clients.ts';
import { explainFolder } from './explain-folder.ts';
import { recordActivity } from './record-activity.ts';
import { continueRenamedJob, describeStranded, findRenamedJob } from './renamed-job.ts';
import { type FlowEnd, leaseNames, type RunnableKind } from './runnable-kind.ts';
import { type TracedRun, traceRun } from './trace-run.ts';
import { unlessAbandoned } from './watch-run.ts';
import type { UnitsOf } from './workers/units.ts';

/** The parts of a job kind that a run needs. */
export type RunningKind<Settings extends JobSettings = JobSettings> = Pick<
  RunnableKind<Settings>,
  'flow' | 'leases' | 'nouns' | 'plansInOverlay' | 'backfill'
>;

export type RunJobOptions<Settings extends JobSettings> = {
  readonly config: PipelineConfig;
  readonly job: Settings;
  readonly kind: RunningKind<Settings>;
  readonly db: Database;
  /** Null for a plan: nothing is sent, and all writes are rolled back. */
  readonly client: Client | null;
  readonly sourceClients: SourceClients;
  readonly options: RunOptions;
  readonly progress: Progress;
  /** Aborts when the run has to end. If the reason is a KnownError, it becomes the problem of the run. */
  readonly draining: AbortSignal;
  /** Opens the distribution of units to workers. Omitted if runs do all the work themselves. */
  readonly openSpread?: ((of: UnitsOf) => Spread) | undefined;
  /**
   * Called with the target of the run, as soon as the service has named the account and before anything else
   * is read or sent.
   */
  readonly onTarget?: (target: RunTarget) => void;
  /** Called with the id of the run's record before anything else happens. If it throws, the run ends. */
  readonly onBegun?: (runId: string) => Promise<void>;
  /** Aborts when the run is abandoned. Its leases are then released, even if its work has not ended. */
  readonly abandoned?: AbortSignal;
};

/** The result of a run, with its status and exit code. */
type AccountedRun = FlowEnd & {
  readonly finished: RunFinished;
  readonly exitCode: ExitCode;
};

export type RunResult = AccountedRun & {
  /** Id of the run's trace. Null if no traces are sent. */
  readonly traceId: string | null;
};

/**
 * Runs a job: takes the leases, writes the run's record, runs the flow, and reports the result. With a client
 * it is a run. Without a client it is a plan, which does everything that a run does except sending, in a
 * transaction that is rolled back.
 *
 * @throws KnownError `already_running` (exit 5), and whatever the flow throws. The run's record shows the
 * failure too.
 */
export function runJob<Settings extends JobSettings>(options: RunJobOptions<Settings>): Promise<RunResult> {
  const { job, progress, client, config } = options;
  return traceRun({ job, progress, client, service: config.api.url }, (traced) =>
    inRunPhase({ ...options, ...traced }, async (named) => {
      const { traceId } = traced;
      const result = await runInPhase({ ...options, client: traced.client, progress: named }, traceId);
      tellEnd(traced, result);
      return { ...result, traceId };
    }),
  );
}

async function runInPhase<Settings extends JobSettings>(
  options: RunJobOptions<Settings>,
  traceId: string | null,
): Promise<AccountedRun> {
  const { db, job, kind, config, draining } = options;
  if (options.client !== null) await continueRenamedJob(db, options);
  const leases = { names: leaseNames(kind, job), ttlMs: config.api.leaseSeconds * 1000, draining };
  return withLeases(db, leases, ({ owner, heartbeat }) =>
    options.client === null ? planned(options, owner) : recorded(options, { owner, heartbeat, traceId }),
  );
}

async function recorded<Settings extends JobSettings>(
  options: RunJobOptions<Settings>,
  {
    owner,
    heartbeat,
    traceId,
  }: { readonly owner: string; readonly heartbeat: Heartbeat; readonly traceId: string | null },
): Promise<AccountedRun> {
  const { db, job, config } = options;
  const service = config.api.url;
  const runId = await beginRun(db, { job: job.name, kind: job.kind, service, trace_id: traceId });
  await settleDeadRuns(db, { job: job.name, currentRunId: runId });
  const activity = recordActivity(db, { ...options, runId });
  const { progress, client } = activity;
  try {
    await options.onBegun?.(runId);
    const { abandoned } = options;
    const isLeaseHeld = () => abandoned?.aborted !== true && heartbeat.isHeld();
    const result = await unlessAbandoned(
      account(options, {
        ...options,
        progress,
        client,
        nouns: options.kind.nouns,
        runId,
        owner,
        isLeaseHeld,
        spread: options.openSpread?.({ runId, owner, job: job.name }),
      }),
      abandoned,
    );
    const { finished, exitCode, stop } = result;
    await activity.stop();
    await endRun(db, {
      runId,
      status: finished.status,
      exitCode,
      report: finished,
      problem: stop === null ? null : describeStop(stop),
      problemCode: stop?.kind ?? null,
    });
    return result;
  } catch (error) {
    const known = (error instanceof KnownError ? error : explainFailure(error))?.details;
    const exitCode = known?.exitCode ?? EXIT.crash;
    const status = exitCode === EXIT.interrupted ? 'interrupted' : 'failed';
    // If the database itself failed, the next run settles the record of this one.
    const problem = known?.message ?? 'a bug';
    await activity.stop();
    const problemCode = known?.code ?? 'crash';
    await endRun(db, { runId, status, exitCode, report: null, problem, problemCode }).catch(() => {});
    throw error;
  }
}

/**
 * Runs a plan in a transaction that is rolled back. The plan of a kind that may write millions of rows writes
 * to temporary tables, and sees the other tables in their state at the start of the plan.
 */
async function planned<Settings extends JobSettings>(
  options: RunJobOptions<Settings>,
  owner: string,
): Promise<AccountedRun> {
  const isCovered = options.kind.plansInOverlay;
  const transaction = options.db.startTransaction();
  const trx = await (isCovered ? transaction.setIsolationLevel('repeatable read') : transaction).execute();
  try {
    const db = isCovered ? await openOverlay(trx) : trx;
    const runId = await beginRun(db, { job: options.job.name, kind: options.job.kind });
    // A run would continue it under the new name, with the same result.
    const renamed = await findRenamedJob(db, options);
    return await account(options, {
      ...options,
      job: { ...options.job, name: renamed ?? options.job.name },
      nouns: options.kind.nouns,
      db,
      runId,
      owner,
      isLeaseHeld: () => true,
    });
  } finally {
    await trx.rollback().execute();
  }
}

/** Runs the flow and determines the status and exit code. */
async function account<Settings extends JobSettings>(
  options: RunJobOptions<Settings>,
  run: Run<Settings>,
): Promise<AccountedRun> {
  const end = await options.kind
    .flow(run)
    .catch((error: unknown) => {
      throw explainFolder(error, options.config.database.dataFolder) ?? explainAbort(error, options.draining);
    })
    .finally(() => run.progress.end());
  const { kind, counts, amounts } = end.report;
  const stranded = await describeStranded(run.db, [...Object.keys(options.config.jobs), run.job.name]);
  const left =
    stranded === null
      ? null
      : ({ kind: 'entries_stranded', message: `${stranded.what} ${stranded.fix}` } as const);
  const stop = end.stop?.kind === 'drained' ? whyDrained(options.draining) : (end.stop ?? left);
  const { status, exitCode } = judge({ ...end, stop, isPlan: options.client === null });
  const finished = {
    event: 'run_finished',
    job: options.job.name,
    kind,
    run_id: run.runId,
    status,
    exit_code: exitCode,
    service: options.client === null ? null : options.config.api.url,
    held_files: countIn(end.report.details, 'heldFiles'),
    check_warnings: countIn(end.report.details, 'warnings'),
    counts,
    amounts,
  } as const;
  return { ...end, stop, finished, exitCode };
}

/** Records only numbers in the trace, so that it contains no personal data. */
function tellEnd({ describe, fail }: TracedRun, { finished, stop }: AccountedRun): void {
  const { run_id: runId, status, exit_code: exitCode, counts } = finished;
  const numbers = Object.entries(counts).flatMap(([name, value]) =>
    typeof value === 'number' ? [[`influencer_sync.count.${name}`, value]] : [],
  );
  describe({
    'influencer_sync.run.id': runId,
    'influencer_sync.run.status': status,
    'process.exit.code': exitCode,
    ...Object.fromEntries(numbers),
  });
  if (status === 'failed') fail(stop?.kind ?? 'sums_do_not_add_up');
}

/** Length of a list in the details of a kind that reads files. 0 for any other kind. */
function countIn(details: object, key: 'heldFiles' | 'warnings'): number {
  const list: unknown = Object.entries(details).find(([name]) => name === key)?.[1];
  return Array.isArray(list) ? list.length : 0;
}

type Judged = { readonly status: RunStatus; readonly exitCode: ExitCode };

/**
 * The worst result decides. A partial success is not a success: anything that waits for a person makes the
 * status `issues`.
 */
function judge({ stop, report, isPlan }: FlowEnd & { readonly isPlan: boolean }): Judged {
  if (stop?.kind === 'drained') return { status: 'interrupted', exitCode: EXIT.interrupted };
  if (stop?.kind === 'unauthorised') return { status: 'failed', exitCode: EXIT.authentication };
  if (stop?.kind === 'ledger_went_back') return { status: 'failed', exitCode: EXIT.ledgerWentBack };
  const isAllDone = stop === null || stop.kind === 'reports_stale' || stop.kind === 'entries_stranded';
  if (!isAllDone || !report.sumsAddUp) return { status: 'failed', exitCode: EXIT.crash };
  // Entries in doubt are not a problem of a plan. Rows that could not be read are.
  if (report.doubts > 0 && !isPlan) return { status: 'issues', exitCode: EXIT.doubts };
  if (report.needsAttention || stop?.kind === 'entries_stranded')
    return { status: 'issues', exitCode: EXIT.rowsRejected };
  // Nothing waits for a person. Running the same command again completes the work.
  if (stop !== null) return { status: 'issues', exitCode: EXIT.crash };
  return { status: report.doubts > 0 ? 'issues' : 'ok', exitCode: EXIT.ok };
}

/** If a run was ended because it took too long, the stop is `overdue`, because no person asked for it. */
function whyDrained({ reason }: AbortSignal): RunStop {
  return reason instanceof KnownError ? { kind: 'overdue', message: reason.message } : { kind: 'drained' };
}

/** Describes why a run stopped, for its record and for people. */
export function describeStop(stop: RunStop): string {
  if (stop.kind === 'drained') return 'The run was told to stop.';
  if (stop.kind === 'reports_stale') return `Everything that was ready was posted. ${stop.message}`;
  if (stop.kind === 'entries_stranded') return `The run did its work. But ${stop.message}`;
  const isSentence = stop.kind === 'overdue' || stop.kind === 'units_given_up' || stop.kind === 'unanswered';
  return isSentence ? stop.message : `It stopped: ${stop.message.replace(/\.$/, '')}.`;
}
