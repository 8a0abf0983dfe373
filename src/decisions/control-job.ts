import type { JobSettings } from '../config/job-fields.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import type { AuditRecord, DecidedWhy } from '../ops/record-audit.ts';
import { pauseJob, requestRun, resumeJob } from '../ops/schedule/control-jobs.ts';

/** What a person can do with the schedule of a job. */
export type JobDecision = 'run_now' | 'pause' | 'resume';

export type JobControl = DecidedWhy & {
  readonly jobs: Readonly<Record<string, Pick<JobSettings, 'schedule' | 'after'>>>;
  /** Name of the job. A job that was removed from the configuration can only be resumed. */
  readonly job: string;
  readonly decision: JobDecision;
};

export type Controlled =
  /** `summary` describes the change in a sentence. */
  | { readonly kind: 'done'; readonly auditId: string; readonly summary: string }
  /** Nothing was changed. `why` explains the reason and what to do, in a sentence or two. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Requests a run of a job, or pauses or resumes the job, and records who did it. Commands and the console
 * both call this function.
 */
export async function controlJob(trx: DatabaseTransaction, control: JobControl): Promise<Controlled> {
  const { jobs, job, decision, decidedBy, reason } = control;
  if (decision === 'resume') {
    if (!(await resumeJob(trx, job))) return refused(`${job} is not paused.`);
    return audited(control, {
      action: 'resume_job',
      summary: `${job} is resumed, from its next slot on.`,
      before: { paused: true },
      after: { paused: false },
    });
  }
  const settings = jobs[job];
  if (settings === undefined) return refused(`There is no job ${job}.`);
  if (settings.schedule === null && settings.after === null)
    return refused(
      `${job} has no schedule, so \`serve\` does not run it. Run it yourself: npx influencer-sync run ${job}`,
    );
  if (decision === 'pause') {
    if (!(await pauseJob(trx, { job, pausedBy: decidedBy, reason })))
      return refused(`${job} is paused already.`);
    return audited(control, {
      action: 'pause_job',
      summary: `${job} is paused: its slots are skipped until somebody resumes it. A run that has started ends as usual.`,
      before: { paused: false },
      after: { paused: true },
    });
  }
  const request = await requestRun(trx, { job, requestedBy: decidedBy });
  if (request.kind !== 'requested') return refused(whyNoRun(job, request.kind));
  return audited(control, {
    action: 'request_run',
    summary: `A run of ${job} was requested. \`serve\` starts it within seconds.`,
    after: { slot: request.slot.toISOString() },
  });
}

/**
 * Records that a person has started a run themselves, and why: a run that does what failed units left undone
 * has a reason, as a run has that was requested with `run_now`.
 *
 * @returns the id of the audit record.
 */
export function recordOwnRun({
  job,
  runId,
  reason,
  audit,
}: Pick<JobControl, 'job' | 'reason' | 'audit'> & { readonly runId: string }): Promise<string> {
  return audit({
    action: 'start_run',
    subjectKind: 'job',
    subject: job,
    summary: `Run ${runId} of ${job} was started.`,
    reason,
    after: { run_id: runId },
  });
}

function refused(why: string): Controlled {
  return { kind: 'refused', why };
}

async function audited(
  { job, reason, audit }: JobControl,
  record: Pick<AuditRecord, 'action' | 'before' | 'after'> & { readonly summary: string },
): Promise<Controlled> {
  const auditId = await audit({ ...record, subjectKind: 'job', subject: job, reason });
  return { kind: 'done', auditId, summary: record.summary };
}

function whyNoRun(job: string, kind: 'under_way' | 'paused' | 'nobody_serves'): string {
  switch (kind) {
    case 'paused':
      return `${job} is paused. Resume it first.`;
    case 'under_way':
      return `${job} is running, or is about to run. Check that run before you request another one.`;
    case 'nobody_serves':
      return `No process runs jobs on schedule now. Start \`serve\`, or run the job yourself: npx influencer-sync run ${job}`;
  }
}
