import type { JobSettings } from '../config/job-fields.ts';
import { EXIT, type ExitCode } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { RunStatus } from '../core/run.ts';
import { isConnectionLost } from '../db/server/connection-lost.ts';
import { explainFailure } from '../db/server/explain-failure.ts';
import { type ClaimedSlot, noteRun, type SlotEnd } from '../ops/schedule/slots.ts';
import type { Client } from '../service/client.ts';
import { describeStop, type RunJobOptions, type RunningKind, type RunResult, runJob } from './run-job.ts';
import { watchRun } from './watch-run.ts';

export type RunSlotOptions = Pick<
  RunJobOptions<JobSettings>,
  'config' | 'job' | 'db' | 'sourceClients' | 'openSpread' | 'draining' | 'onTarget'
> & {
  readonly kind: RunningKind;
  /** Opens a client of the service for this run, which closes it. `onAnswer` is called for each answer. */
  readonly openClient: (onAnswer: () => void) => Client;
  readonly onEnded: (run: EndedRun) => void;
  /** Called with an error that is a bug of this program. The slot only says that there was one. */
  readonly onBug: (error: unknown) => void;
};

export type EndedRun = {
  readonly job: string;
  readonly status: RunStatus;
  /** The counts of its report. Empty if the run failed before the report. */
  readonly counts: object;
  /** The exit code that a process would have ended with. */
  readonly exit_code: ExitCode;
};

/**
 * How long a slot waits if it cannot continue, because another run holds a lease that it needs or the
 * database is unreachable.
 */
const REST_MS = 10_000;

const NO_LIMITS = { limit: null, file: null, allowEmpty: false };

/** Runs the job of a claimed slot under supervision, and returns what happens to the slot next. */
export async function runSlot(options: RunSlotOptions, claimed: ClaimedSlot): Promise<SlotEnd> {
  const { config, db, job, kind, sourceClients, draining, openSpread } = options;
  const client = options.openClient(() => watched.notice());
  const watched = watchRun({
    timing: job,
    draining,
    graceMs: config.serve.graceSeconds * 1000,
    cut: () => void client.destroy(),
  });
  try {
    const result = await runJob({
      config,
      job,
      kind,
      db,
      client,
      sourceClients,
      options: NO_LIMITS,
      progress: watched.progress,
      openSpread,
      draining: watched.draining,
      abandoned: watched.abandoned,
      ...(options.onTarget === undefined ? {} : { onTarget: options.onTarget }),
      onBegun: async (runId) => {
        if (!(await noteRun(db, claimed, runId)))
          throw new KnownError({
            code: 'slot_lost',
            message: 'Another process has taken over the slot.',
            help: 'Nothing to do: that process runs the slot.',
            safe: 'Nothing was read or sent.',
            exitCode: EXIT.alreadyRunning,
          });
      },
    });
    options.onEnded(result.finished);
    return endOf(result);
  } catch (error) {
    const end = endOfThrown(error, options.onBug);
    const status = end.kind === 'again' ? 'interrupted' : 'failed';
    options.onEnded({ job: job.name, status, counts: {}, exit_code: exitCodeOf(error) });
    return end;
  } finally {
    watched.stop();
    // No request is in flight any more, unless the run was abandoned. In that case, nothing waits for its
    // requests.
    await client.destroy();
  }
}

function endOf({ finished, stop }: RunResult): SlotEnd {
  if (finished.status === 'ok' || finished.status === 'issues') return { kind: 'done' };
  const reason = stop === null ? 'Its sums do not add up.' : describeStop(stop);
  if (stop?.kind === 'drained') return { kind: 'again', reason, restMs: 0, isLoss: false };
  const isLoss = stop?.kind === 'lease_lost' || stop?.kind === 'database_lost';
  return isLoss ? { kind: 'again', reason, restMs: REST_MS, isLoss } : { kind: 'failed', reason };
}

function endOfThrown(error: unknown, onBug: RunSlotOptions['onBug']): SlotEnd {
  if (isConnectionLost(error))
    return {
      kind: 'again',
      reason: 'The connection to the database was lost.',
      restMs: REST_MS,
      isLoss: true,
    };
  const known = error instanceof KnownError ? error : explainFailure(error);
  if (known === null) {
    onBug(error);
    return { kind: 'failed', reason: 'a bug' };
  }
  const { message: reason, exitCode, code } = known.details;
  if (UNDONE.includes(code)) return { kind: 'again', reason, restMs: REST_MS, isLoss: true };
  if (exitCode === EXIT.interrupted) return { kind: 'again', reason, restMs: 0, isLoss: false };
  if (exitCode === EXIT.alreadyRunning) return { kind: 'again', reason, restMs: REST_MS, isLoss: false };
  return { kind: 'failed', reason };
}

/**
 * Errors with which a transaction changed nothing and may be repeated. The next attempt at the slot repeats
 * it, as after a loss of the connection, and no more often.
 */
const UNDONE: readonly string[] = ['transaction_undone', 'session_exchanged', 'table_changed'];

function exitCodeOf(error: unknown): ExitCode {
  return (error instanceof KnownError ? error : explainFailure(error))?.details.exitCode ?? EXIT.crash;
}
