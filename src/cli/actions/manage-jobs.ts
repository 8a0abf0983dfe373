import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { controlJob, type JobDecision } from '../../decisions/control-job.ts';
import { nextSlots } from '../../ops/schedule/next-slots.ts';
import { renderJobs } from '../../reports/runs/jobs.ts';
import { listRuns } from '../../reports/runs/list-runs.ts';
import { isServed, listPausedJobs } from '../../reports/runs/list-slots.ts';
import type { ConfigOptions } from '../command.ts';
import type { ControlJobOptions } from '../commands/run/jobs.ts';
import { openConfig, reading, withDatabase } from '../open/open-config.ts';
import type { Output } from '../terminal/output.ts';
import { decidedHere } from '../terminal/read-operator.ts';
import { requireReason } from '../usage-error.ts';

/** Maximum number of jobs. Jobs of earlier configurations have runs too. */
const MAX_JOBS = 1_000;

/** Lists the jobs of the configuration, and paused jobs that are no longer in it. */
export async function showJobs(output: Output, options: ConfigOptions): Promise<ExitCode> {
  const config = await openConfig(options);
  const jobs = Object.values(config.jobs);
  const slots = nextSlots(jobs, new Date());
  const { paused, runs, served } = await withDatabase(
    config,
    async (db) => ({
      paused: await listPausedJobs(db),
      runs: await listRuns(db, { perJob: true, limit: MAX_JOBS }),
      served: await isServed(db),
    }),
    reading(output),
  );
  const names = new Set([...jobs.map(({ name }) => name), ...paused.map(({ job }) => job)]);
  const listed = [...names].map((name) => {
    const { kind = null, schedule = null, timeZone = null, after = null } = config.jobs[name] ?? {};
    return {
      job: name,
      kind,
      schedule,
      timeZone,
      after,
      nextSlot: slots.find(({ job }) => job === name)?.at ?? null,
      lastRun: runs.find(({ job }) => job === name) ?? null,
      paused: paused.find(({ job }) => job === name) ?? null,
    };
  });
  for (const { lastRun, paused: pause, ...job } of listed)
    output.emit({
      event: 'job',
      ...job,
      last_run: lastRun === null ? null : { run_id: lastRun.runId, status: lastRun.status },
      paused: pause === null ? null : { by: pause.pausedBy, since: pause.pausedAt, reason: pause.reason },
    });
  output.print(renderJobs(listed, { terminal: output.terminal, isServed: served }));
  return EXIT.ok;
}

/**
 * Pauses or resumes a job, or requests a run now.
 * @throws KnownError (exit 2) if the decision does not apply to the job's state.
 */
export async function performControl(
  output: Output,
  {
    job,
    decision,
    options,
  }: { readonly job: string; readonly decision: JobDecision; readonly options: ControlJobOptions },
): Promise<ExitCode> {
  const config = await openConfig(options);
  const reason = requireReason(options.reason, { message: 'You must give a reason.', kept: 'in ops.audit' });
  const controlled = await withDatabase(config, (db) =>
    inTransaction(db, (trx) =>
      controlJob(trx, {
        jobs: config.jobs,
        job,
        decision,
        reason,
        ...decidedHere(trx),
      }),
    ),
  );
  if (controlled.kind === 'refused')
    throw new KnownError({
      code: 'job_unchanged',
      message: controlled.why,
      where: job,
      help: 'See the state of each job: npx influencer-sync jobs',
      safe: 'Nothing was changed.',
      exitCode: EXIT.configuration,
    });
  output.emit({ event: 'job_changed', job, decision, audit_id: controlled.auditId });
  output.print(controlled.summary);
  return EXIT.ok;
}
