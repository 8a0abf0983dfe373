import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { PipelineConfig } from '../../../src/config/schema.ts';
import { backfillRunName } from '../../../src/core/backfill.ts';
import { EXIT, type ExitCode } from '../../../src/core/exit-code.ts';
import { KnownError } from '../../../src/core/known-error.ts';
import type { Progress } from '../../../src/core/progress.ts';
import type { RunTarget } from '../../../src/core/run.ts';
import type { Spread } from '../../../src/core/work.ts';
import type { Database } from '../../../src/db/connect.ts';
import { explainFailure } from '../../../src/db/server/explain-failure.ts';
import { acquireLease, releaseLeases, startHeartbeat } from '../../../src/ops/lease.ts';
import { explainAbort, type Run } from '../../../src/ops/run.ts';
import { inRunPhase } from '../../../src/ops/run-phase.ts';
import { beginRun, endRun, settleDeadRuns } from '../../../src/ops/run-record.ts';
import { explainFolder } from '../../../src/runs/explain-folder.ts';
import { recordActivity } from '../../../src/runs/record-activity.ts';
import { continueRenamedJob } from '../../../src/runs/renamed-job.ts';
import type { UnitsOf } from '../../../src/runs/workers/units.ts';
import type { Client } from '../../../src/service/client.ts';
import type { SourceClients } from '../../../src/store/source-clients.ts';
import { attributeOrders } from '../index.ts';
import type { AttributeOrdersSettings } from '../settings.ts';
import { reportBackfill } from './report.ts';

export type BackfillRun = Run<AttributeOrdersSettings>;

export type BackfillSurroundings = {
  readonly config: PipelineConfig;
  readonly job: AttributeOrdersSettings;
  readonly db: Database;
  /** Null for a plan, which sends nothing. */
  readonly client: Client | null;
  readonly sourceClients: SourceClients;
  readonly progress: Progress;
  readonly draining: AbortSignal;
  /** Opens the distribution of units to workers. Omitted if the process does all the work itself. */
  readonly openSpread?: ((of: UnitsOf) => Spread) | undefined;
  readonly onTarget?: (target: RunTarget) => void;
};

/**
 * Runs the work of a process that plans or executes backfills of a job. Only one such process per job runs at
 * a time. It can run at the same time as the job's own runs, because it has its own run record and lease.
 *
 * @param work returns the exit code.
 * @throws KnownError `already_running` (exit 5), and whatever `work` throws. The run record shows the failure
 * too.
 */
export function withBackfillRun(
  options: BackfillSurroundings,
  work: (run: BackfillRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  return inRunPhase(options, (progress) => runInPhase({ ...options, progress }, work));
}

async function runInPhase(
  options: BackfillSurroundings,
  work: (run: BackfillRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { db, job, config, draining } = options;
  if (options.client !== null) await continueRenamedJob(db, { ...options, kind: attributeOrders });
  const holder = { owner: randomUUID(), host: hostname(), pid: process.pid };
  const ttlMs = config.api.leaseSeconds * 1_000;
  const name = backfillRunName(job.name);
  const answer = await acquireLease(db, { ...holder, name: `job:${name}`, ttlMs });
  if (answer.kind === 'busy') throw atWork(job.name, answer.holder);
  const heartbeat = startHeartbeat(db, { owner: holder.owner, ttlMs, leases: 1 });
  try {
    const service = options.client === null ? {} : { service: config.api.url };
    const runId = await beginRun(db, { job: name, kind: 'backfill', ...service });
    await settleDeadRuns(db, { job: name, currentRunId: runId });
    const activity = recordActivity(db, { ...options, runId });
    const run = {
      ...options,
      progress: activity.progress,
      client: activity.client,
      runId,
      owner: holder.owner,
      // A source without files is not a failure, because the plan shows that the source has none.
      options: { limit: null, file: null, allowEmpty: true },
      isLeaseHeld: heartbeat.isHeld,
      spread: options.openSpread?.({ runId, owner: holder.owner, job: job.name }),
      nouns: attributeOrders.nouns,
    };
    try {
      const exitCode = await work(run);
      const report = await reportBackfill(db, runId);
      const status = statusOf(exitCode);
      await activity.stop();
      await endRun(db, {
        runId,
        status,
        exitCode,
        report,
        problem: null,
        problemCode: null,
      });
      return exitCode;
    } catch (cause) {
      const error = explainFolder(cause, config.database.dataFolder) ?? explainAbort(cause, draining);
      const details = (error instanceof KnownError ? error : explainFailure(error))?.details;
      const exitCode = details?.exitCode ?? EXIT.crash;
      const status = exitCode === EXIT.interrupted ? 'interrupted' : 'failed';
      const problem = details?.message ?? 'a bug';
      await activity.stop();
      const problemCode = details?.code ?? 'crash';
      await endRun(db, { runId, status, exitCode, report: null, problem, problemCode }).catch(() => {});
      throw error;
    }
  } finally {
    options.progress.end();
    heartbeat.stop();
    // If the database is unreachable, the leases expire by themselves.
    await releaseLeases(db, holder.owner).catch(() => {});
  }
}

function statusOf(exitCode: ExitCode) {
  if (exitCode === EXIT.ok) return 'ok';
  if (exitCode === EXIT.interrupted) return 'interrupted';
  return exitCode === EXIT.doubts || exitCode === EXIT.rowsRejected ? 'issues' : 'failed';
}

function atWork(job: string, { host, pid }: { readonly host: string; readonly pid: number }): KnownError {
  return new KnownError({
    code: 'already_running',
    message: `A backfill of ${job} is running in process ${pid} on ${host}.`,
    help: 'See its progress:  npx influencer-sync backfill status\nOr cancel it first: npx influencer-sync backfill cancel',
    safe: 'Nothing was read or sent.',
    exitCode: EXIT.alreadyRunning,
  });
}
