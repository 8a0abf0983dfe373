import { z } from 'zod';
import type { JobSettings, PipelineConfig } from '../../model/config.ts';
import { pauseJob, requestRun, resumeJob } from '../../schedule/control-jobs.ts';
import { defineAction, Refused } from '../console-page.ts';
import { reason, text } from '../form-fields.ts';

const form = z.object({ job: text, reason });

/** Asks `serve` for a run of a job now. */
export const runNowAction = defineAction({
  path: '/schedules/run-now',
  form,
  async perform({ trx, config, actor, audit }, { job: name, reason: why }) {
    const { name: job } = findScheduled(config, name);
    const request = await requestRun(trx, { job, requestedBy: actor.name });
    if (request.kind === 'paused') throw new Refused(`${job} is paused. Resume it first.`);
    if (request.kind === 'under_way')
      throw new Refused(
        `${job} is running, or is about to. See its last run before you ask for another one.`,
      );
    if (request.kind === 'nobody_serves')
      throw new Refused(
        `No process runs jobs by their schedule now. Start \`serve\`, or run it by hand: npx influencer-sync run ${job}`,
      );
    return audit({
      action: 'request_run',
      subjectKind: 'job',
      subject: job,
      summary: `A run of ${job} was requested. \`serve\` begins it within seconds.`,
      reason: why,
      after: { slot: request.slot.toISOString() },
    });
  },
});

/** Has the slots of a job skipped, until it is resumed. */
export const pauseJobAction = defineAction({
  path: '/schedules/pause',
  form,
  async perform({ trx, config, actor, audit }, { job: name, reason: why }) {
    const { name: job } = findScheduled(config, name);
    if (!(await pauseJob(trx, { job, pausedBy: actor.name, reason: why })))
      throw new Refused(`${job} is paused already.`);
    return audit({
      action: 'pause_job',
      subjectKind: 'job',
      subject: job,
      summary: `${job} is paused: its slots are skipped until somebody resumes it. A run that is going on ends as usual.`,
      reason: why,
      before: { paused: false },
      after: { paused: true },
    });
  },
});

/** Has the next slots of a job run again. A job that is gone from the configuration can be resumed, too. */
export const resumeJobAction = defineAction({
  path: '/schedules/resume',
  form,
  async perform({ trx, audit }, { job, reason: why }) {
    if (!(await resumeJob(trx, job))) throw new Refused(`${job} is not paused.`);
    return audit({
      action: 'resume_job',
      subjectKind: 'job',
      subject: job,
      summary: `${job} is resumed: its next slot is run.`,
      reason: why,
      before: { paused: true },
      after: { paused: false },
    });
  },
});

/** A job that `serve` runs. */
function findScheduled(config: PipelineConfig, name: string): JobSettings {
  const job = config.jobs[name];
  if (job === undefined) throw new Refused(`There is no job ${name}.`);
  if (job.schedule === null && job.after === null)
    throw new Refused(
      `${name} has no schedule, so \`serve\` does not run it. Run it by hand: npx influencer-sync run ${name}`,
    );
  return job;
}
