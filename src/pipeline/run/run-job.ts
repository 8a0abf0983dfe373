import type { Client } from '../../api/client.ts';
import type { Database } from '../../db/connect.ts';
import { openOverlay } from '../../db/overlay.ts';
import { explainFailure } from '../../db/server/explain-failure.ts';
import type { JobSettings, PipelineConfig } from '../../model/config.ts';
import { EXIT, type ExitCode } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import type { Progress } from '../../model/progress.ts';
import type { RunFinished, RunStatus, RunStop, RunTarget } from '../../model/run.ts';
import type { Spread } from '../../model/work.ts';
import type { Lineage } from '../../observe/lineage/start-lineage.ts';
import type { Heartbeat } from '../../schedule/lease.ts';
import { beginRun, endRun, settleDeadRuns } from '../../schedule/run-record.ts';
import type { SourceClients } from '../../source/source-clients.ts';
import type { UnitsOf } from '../../work/units.ts';
import { explainAbort, type Run, type RunOptions } from '../run.ts';
import { type FlowEnd, leaseNames, type RunnableKind } from '../runnable-kind.ts';
import { recordActivity } from './record-activity.ts';
import { inRunPhase } from './run-phase.ts';
import { type TracedRun, traceRun } from './trace-run.ts';
import { withLeases } from './with-leases.ts';

/** What a run needs of its kind of job. */
export type RunningKind<Settings extends JobSettings = JobSettings> = Pick<
  RunnableKind<Settings>,
  'flow' | 'leases' | 'nouns' | 'plansInOverlay'
>;

export type RunJobOptions<Settings extends JobSettings> = {
  readonly config: PipelineConfig;
  readonly job: Settings;
  readonly kind: RunningKind<Settings>;
  readonly db: Database;
  /** Null for a plan: nothing is sent, and what is written is rolled back. */
  readonly client: Client | null;
  readonly sourceClients: SourceClients;
  readonly options: RunOptions;
  readonly progress: Progress;
  /** Aborts when the run is to end. Its reason, where that is a KnownError, becomes the run's problem. */
  readonly draining: AbortSignal;
  /** Opens what hands out parts of a run to workers; left out where runs do everything themselves. */
  readonly openSpread?: ((of: UnitsOf) => Spread) | undefined;
  /** Told when the run begins and how it ends; null or left out: nobody is. */
  readonly lineage?: Pick<Lineage, 'runBegun'> | null | undefined;
  /** Told where the run sends to, as soon as the service has said whose the key is and before anything else is read or sent. */
  readonly onTarget?: (target: RunTarget) => void;
  /** Told of the run's record before anything else happens; what it throws ends the run. */
  readonly onBegun?: (runId: string) => Promise<void>;
  /** Aborts when the run is given up: what it held is given back, whatever it still does. */
  readonly abandoned?: AbortSignal;
};

/** What a run came to. */
type AccountedRun = FlowEnd & {
  readonly finished: RunFinished;
  readonly exitCode: ExitCode;
};

export type RunResult = AccountedRun & {
  /** Where to find it among the traces; null where none are sent. */
  readonly traceId: string | null;
};

/**
 * The frame of every run: leases, the run's record, the flow, the account of it. With a client it is a run; without one a plan, which does
 * all that a run does but sending, in a transaction that is rolled back.
 *
 * @throws KnownError `already_running` (exit 5), and what the flow throws; the run's record says so too.
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
  const tellLineage = options.lineage?.runBegun(job, runId);
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
    tellLineage?.({ status: finished.status, problem: stop?.kind ?? null });
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
    // The database may be what failed: the next run then settles this one's record.
    const problem = known?.message ?? 'a bug';
    await activity.stop();
    const problemCode = known?.code ?? 'crash';
    tellLineage?.({ status, problem: problemCode });
    await endRun(db, { runId, status, exitCode, report: null, problem, problemCode }).catch(() => {});
    throw error;
  }
}

/** A flow that does not heed its signal cannot be ended from outside, but it need not be waited for. */
async function unlessAbandoned<Result>(work: Promise<Result>, abandoned?: AbortSignal): Promise<Result> {
  if (abandoned === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(abandoned.reason);
  abandoned.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    abandoned.removeEventListener('abort', onAbort);
  }
}

/**
 * Does it all in a transaction that is rolled back. The plan of a kind that may write millions of rows writes to temporary tables; it sees
 * the others as they were when it began.
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
    return await account(options, {
      ...options,
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

/** Runs the flow and judges what came of it. */
async function account<Settings extends JobSettings>(
  options: RunJobOptions<Settings>,
  run: Run<Settings>,
): Promise<AccountedRun> {
  const end = await options.kind
    .flow(run)
    .catch((error: unknown) => {
      throw explainAbort(error, options.draining);
    })
    .finally(() => run.progress.end());
  const { kind, counts, amounts } = end.report;
  const stop = end.stop?.kind === 'drained' ? whyDrained(options.draining) : end.stop;
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

/** Numbers only: what a run came to names nobody. */
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

/** Of a kind that reads files; 0 of any other. */
function countIn(details: object, key: 'heldFiles' | 'warnings'): number {
  const list: unknown = Object.entries(details).find(([name]) => name === key)?.[1];
  return Array.isArray(list) ? list.length : 0;
}

type Judged = { readonly status: RunStatus; readonly exitCode: ExitCode };

/** What is worst decides. Partial is not success: whatever waits for a person makes the status `issues`. */
function judge({ stop, report, isPlan }: FlowEnd & { readonly isPlan: boolean }): Judged {
  if (stop?.kind === 'drained') return { status: 'interrupted', exitCode: EXIT.interrupted };
  if (stop?.kind === 'unauthorised') return { status: 'failed', exitCode: EXIT.authentication };
  if (stop?.kind === 'ledger_went_back') return { status: 'failed', exitCode: EXIT.ledgerWentBack };
  const isAllDone = stop === null || stop.kind === 'reports_stale';
  if (!isAllDone || !report.sumsAddUp) return { status: 'failed', exitCode: EXIT.crash };
  // What is in doubt is no failure of a plan; what could not be read is.
  if (report.doubts > 0 && !isPlan) return { status: 'issues', exitCode: EXIT.doubts };
  if (report.needsAttention) return { status: 'issues', exitCode: EXIT.rowsRejected };
  // Nothing waits for a person: the same command, run again, makes it good.
  if (stop !== null) return { status: 'issues', exitCode: EXIT.crash };
  return { status: report.doubts > 0 ? 'issues' : 'ok', exitCode: EXIT.ok };
}

/** No person wished the end of a run that was ended because it took too long. */
function whyDrained({ reason }: AbortSignal): RunStop {
  return reason instanceof KnownError ? { kind: 'overdue', message: reason.message } : { kind: 'drained' };
}

/** One sentence for the run's record and for a person. */
export function describeStop(stop: RunStop): string {
  if (stop.kind === 'drained') return 'The run was told to stop.';
  if (stop.kind === 'reports_stale') return `Everything that was ready was posted. ${stop.message}`;
  return stop.kind === 'overdue' || stop.kind === 'units_given_up'
    ? stop.message
    : `It stopped: ${stop.message.replace(/\.$/, '')}.`;
}
