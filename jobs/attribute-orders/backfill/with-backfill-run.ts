import { backfillRunName } from '../../../src/core/backfill.ts';
import { EXIT, type ExitCode } from '../../../src/core/exit-code.ts';
import { KnownError } from '../../../src/core/known-error.ts';
import type { RunStatus } from '../../../src/core/run.ts';
import type { Run } from '../../../src/ops/run.ts';
import { inRunPhase } from '../../../src/ops/run-phase.ts';
import { type RunSurroundings, recordRun } from '../../../src/runs/record-run.ts';
import { continueRenamedJob } from '../../../src/runs/renamed-job.ts';
import { attributeOrders } from '../index.ts';
import type { AttributeOrdersSettings } from '../settings.ts';
import { reportBackfill } from './report.ts';

export type BackfillRun = Run<AttributeOrdersSettings>;

/**
 * Runs the work of a process that plans or executes backfills of a job. Only one such process per job runs at
 * a time. It can run at the same time as the job's own runs, because it has its own run record and lease.
 *
 * @param work returns the exit code.
 * @throws KnownError `already_running` (exit 5), and whatever `work` throws. The run record shows the failure
 * too.
 */
export async function withBackfillRun(
  options: RunSurroundings<AttributeOrdersSettings>,
  work: (run: BackfillRun) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { db, job } = options;
  const name = backfillRunName(job.name);
  return inRunPhase(options, async (progress) => {
    if (options.client !== null) await continueRenamedJob(db, { ...options, kind: attributeOrders });
    return recordRun(
      {
        ...options,
        progress,
        kind: attributeOrders,
        // A source without files is not a failure, because the plan shows that the source has none.
        options: { limit: null, file: null, allowEmpty: true },
        record: { job: name, kind: 'backfill' },
        leases: [`job:${name}`],
        explainBusy: ({ host, pid }) =>
          new KnownError({
            code: 'already_running',
            message: `A backfill of ${job.name} is running in process ${pid} on ${host}.`,
            help: 'See its progress:  npx influencer-sync backfill status\nOr cancel it first: npx influencer-sync backfill cancel',
            safe: 'Nothing was read or sent.',
            exitCode: EXIT.alreadyRunning,
          }),
      },
      async (run) => {
        const exitCode = await work(run);
        const report = await reportBackfill(db, run.runId);
        const end = { status: statusOf(exitCode), exitCode, report, problem: null, problemCode: null };
        return { result: exitCode, end };
      },
    );
  });
}

function statusOf(exitCode: ExitCode): RunStatus {
  if (exitCode === EXIT.ok) return 'ok';
  if (exitCode === EXIT.interrupted) return 'interrupted';
  return exitCode === EXIT.doubts || exitCode === EXIT.rowsRejected ? 'issues' : 'failed';
}
