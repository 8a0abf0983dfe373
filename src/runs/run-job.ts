import type { JobSettings } from '../config/job-fields.ts';
import { EXIT, type ExitCode } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { RunFinished, RunStatus, RunStop } from '../core/run.ts';
import { openOverlay } from '../db/overlay.ts';
import { REFUSALS_UNREAD } from '../intake/customers/map/require-consent.ts';
import { isHeldFor } from '../intake/files/release-files.ts';
import type { Run, RunOptions } from '../ops/run.ts';
import { inRunPhase } from '../ops/run-phase.ts';
import { beginRun } from '../ops/run-record.ts';
import { withLeases } from '../ops/with-leases.ts';
import { explainError, type RunSurroundings, recordRun } from './record-run.ts';
import { continueRenamedJob, describeStranded, findRenamedJob } from './renamed-job.ts';
import { type FlowEnd, leaseNames, type RunnableKind } from './runnable-kind.ts';
import { type TracedRun, traceRun } from './trace-run.ts';
import { describeUnreadFiles, findUnreadFiles, isHarmless, mayRefuse, sourcesOf } from './unread-files.ts';

/** The parts of a job kind that a run needs. */
export type RunningKind<Settings extends JobSettings = JobSettings> = Pick<
  RunnableKind<Settings>,
  'flow' | 'leases' | 'nouns' | 'plansInOverlay' | 'backfill' | 'checkFile' | 'heeds'
>;

export type RunJobOptions<Settings extends JobSettings> = RunSurroundings<Settings> & {
  readonly kind: RunningKind<Settings>;
  readonly options: RunOptions;
};

/** The result of a run, with its status and exit code. */
type AccountedRun = FlowEnd & {
  readonly finished: RunFinished;
  readonly exitCode: ExitCode;
  /** What a person must decide about files that no source reads, and the next step on a second line. Null: nothing. */
  readonly unread: string | null;
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
  const leases = leaseNames(kind, job);
  if (options.client === null) {
    const ttlMs = config.api.leaseSeconds * 1_000;
    const waitingIn = options.waits === true ? options.progress : undefined;
    return withLeases(db, { names: leases, ttlMs, draining, waitingIn }, ({ owner }) =>
      planned(options, owner),
    );
  }
  await continueRenamedJob(db, options);
  const record = { job: job.name, kind: job.kind, trace_id: traceId };
  return recordRun({ ...options, record, leases }, async (run) => {
    const result = await account(options, run);
    const { finished, exitCode, stop, unread } = result;
    const left = unread === null ? [null, null] : [unread, 'files_unread'];
    const [problem = null, problemCode = null] = stop === null ? left : [describeStop(stop), stop.kind];
    return { result, end: { status: finished.status, exitCode, report: finished, problem, problemCode } };
  });
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
  } catch (error) {
    throw explainError(error, options);
  } finally {
    await trx.rollback().execute();
  }
}

/** True if a source that a submission depends on has a held file that may be a list of those who refused. */
async function holdsRefusals<Settings extends JobSettings>(
  { db, job, config }: Run<Settings>,
  { heeds }: RunningKind<Settings>,
): Promise<boolean> {
  if (heeds !== 'refusals') return false;
  return isHeldFor(db, { sources: sourcesOf(job, config), readFor: 'customers', code: REFUSALS_UNREAD });
}

/** Runs the flow and determines the status and exit code. */
async function account<Settings extends JobSettings>(
  options: RunJobOptions<Settings>,
  run: Run<Settings>,
): Promise<AccountedRun> {
  const { job, kind: declared, draining } = options;
  // A run of one file submits whoever waits, too.
  const isToLook = options.options.file === null || declared.heeds === 'refusals';
  const files = isToLook && !draining.aborted ? await findUnreadFiles(job, { ...options, db: run.db }) : [];
  const found = { mayRefuse: files.some(mayRefuse) || (await holdsRefusals(run, declared)) };
  const end = await declared.flow(run, found).finally(() => run.progress.end());
  const findings = describeUnreadFiles(files);
  for (const { what, fix } of findings) run.progress.note(`${what} ${fix}`);
  const lacksFiles = !files.every(isHarmless);
  const [first] = findings;
  const unread = lacksFiles && first !== undefined ? `${first.what}\n${first.fix}` : null;
  const { kind, counts, amounts } = end.report;
  const stranded = await describeStranded(run.db, [...Object.keys(options.config.jobs), run.job.name]);
  const left =
    stranded === null
      ? null
      : ({ kind: 'entries_stranded', message: `${stranded.what} ${stranded.fix}` } as const);
  const stop = end.stop?.kind === 'drained' ? whyDrained(options.draining) : (end.stop ?? left);
  const { status, exitCode } = judge({ ...end, stop, lacksFiles, isPlan: options.client === null });
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
  return { ...end, stop, finished, exitCode, unread };
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
function judge({
  stop,
  report,
  lacksFiles,
  isPlan,
}: FlowEnd & { readonly isPlan: boolean; readonly lacksFiles: boolean }): Judged {
  if (stop?.kind === 'drained') return { status: 'interrupted', exitCode: EXIT.interrupted };
  if (stop?.kind === 'unauthorised') return { status: 'failed', exitCode: EXIT.authentication };
  if (stop?.kind === 'ledger_went_back') return { status: 'failed', exitCode: EXIT.ledgerWentBack };
  const isAllDone = stop === null || stop.kind === 'reports_stale' || stop.kind === 'entries_stranded';
  if (!isAllDone || !report.sumsAddUp) return { status: 'failed', exitCode: EXIT.crash };
  // Entries in doubt are not a problem of a plan. Rows that could not be read are.
  if (report.doubts > 0 && !isPlan) return { status: 'issues', exitCode: EXIT.doubts };
  if (report.needsAttention || lacksFiles || stop?.kind === 'entries_stranded')
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
  const isSentence = ['overdue', 'units_given_up', 'unanswered', 'journal_lost'].includes(stop.kind);
  return isSentence ? stop.message : `It stopped: ${stop.message.replace(/\.$/, '')}.`;
}
