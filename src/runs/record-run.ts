import type { JobSettings } from '../config/job-fields.ts';
import { EXIT } from '../core/exit-code.ts';
import { KnownError, sayWhere } from '../core/known-error.ts';
import type { Spread } from '../core/work.ts';
import { explainFailure } from '../db/server/explain-failure.ts';
import { explainAbort, type Run, type RunOptions } from '../ops/run.ts';
import { beginRun, endRun, type RunEnd, settleDeadRuns } from '../ops/run-record.ts';
import { type LeaseOptions, withLeases } from '../ops/with-leases.ts';
import { explainFolder } from './explain-folder.ts';
import { recordActivity } from './record-activity.ts';
import type { RunnableKind } from './runnable-kind.ts';
import { unlessAbandoned } from './watch-run.ts';
import type { UnitsOf } from './workers/units.ts';

/** What a run needs from its process. */
export type RunSurroundings<Settings extends JobSettings> = Pick<
  Run<Settings>,
  'config' | 'job' | 'db' | 'client' | 'sourceClients' | 'progress' | 'onTarget'
> & {
  /** Aborts when the run has to end. If the reason is a KnownError, it becomes the problem of the run. */
  readonly draining: AbortSignal;
  /** Opens the distribution of units to workers. Omitted if runs do all the work themselves. */
  readonly openSpread?: ((of: UnitsOf) => Spread) | undefined;
  /** Called with the id of the run's record before anything else happens. If it throws, the run ends. */
  readonly onBegun?: (runId: string) => Promise<void>;
  /** Whether the run waits for the leases of a process that may be gone. */
  readonly waits?: boolean;
  /** Aborts when the run is abandoned. Its leases are then released, even if its work has not ended. */
  readonly abandoned?: AbortSignal;
};

export type RecordedRunOptions<Settings extends JobSettings> = RunSurroundings<Settings> & {
  readonly kind: Pick<RunnableKind<Settings>, 'nouns'>;
  readonly options: RunOptions;
  /** What the record of the run says. */
  readonly record: { readonly job: string; readonly kind: string; readonly trace_id?: string | null };
  /** Names of the leases that the run holds. The first one is for itself alone. */
  readonly leases: readonly string[];
  readonly explainBusy?: LeaseOptions['explainBusy'];
};

/**
 * The frame of a run: takes its leases, writes its record, records its activity, and ends the record with the
 * result of the work, or with its failure.
 *
 * @throws KnownError `already_running` (exit 5), and whatever the work throws.
 */
export function recordRun<Settings extends JobSettings, Result>(
  options: RecordedRunOptions<Settings>,
  work: (run: Run<Settings>) => Promise<{ readonly result: Result; readonly end: Omit<RunEnd, 'runId'> }>,
): Promise<Result> {
  const { db, job, config, client, draining, abandoned, record, leases: names, explainBusy } = options;
  const ttlMs = config.api.leaseSeconds * 1_000;
  const waitingIn = options.waits === true ? options.progress : undefined;
  return withLeases(db, { names, ttlMs, draining, explainBusy, waitingIn }, async ({ owner, heartbeat }) => {
    const service = client === null ? {} : { service: config.api.url };
    const runId = await beginRun(db, { ...record, ...service });
    // After a kill, Postgres may skip up to 32 numbers of runs.
    for (const gone of await settleDeadRuns(db, { job: record.job, currentRunId: runId }))
      options.progress.note(
        `Run ${gone} was interrupted: its process is gone. Run ${runId} continues its work.`,
      );
    const activity = recordActivity(db, { ...options, runId });
    try {
      await options.onBegun?.(runId);
      const working = work({
        ...options,
        progress: activity.progress,
        client: activity.client,
        nouns: options.kind.nouns,
        runId,
        owner,
        isLeaseHeld: () => abandoned?.aborted !== true && heartbeat.isHeld(),
        spread: options.openSpread?.({ runId, owner, job: job.name }),
      });
      const { result, end } = await unlessAbandoned(working, abandoned);
      await activity.stop();
      await endRun(db, { runId, ...end });
      return result;
    } catch (cause) {
      const error = explainError(cause, options);
      const known = (error instanceof KnownError ? error : explainFailure(error))?.details;
      const exitCode = known?.exitCode ?? EXIT.crash;
      const status = exitCode === EXIT.interrupted ? 'interrupted' : 'failed';
      // The first line says what went wrong, the second what to do about it.
      const lines = known === undefined ? ['a bug'] : [sayWhere(known), known.help];
      const problem = lines.map((line) => line.replaceAll('\n', ' ').trim()).join('\n');
      const problemCode = known?.code ?? 'crash';
      await activity.stop();
      // If the database itself failed, the next run settles the record of this one.
      await endRun(db, { runId, status, exitCode, report: null, problem, problemCode }).catch(() => {});
      throw error;
    } finally {
      options.progress.end();
    }
  });
}

/** Converts an error about the data folder, or of a read that was told to end, to one that says so. */
export function explainError(
  error: unknown,
  { config, draining }: Pick<RunSurroundings<JobSettings>, 'config' | 'draining'>,
): unknown {
  return explainFolder(error, config) ?? explainAbort(error, draining);
}
