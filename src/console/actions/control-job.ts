import { z } from 'zod';
import { controlJob, type JobDecision } from '../../pipeline/decisions/control-job.ts';
import { defineAction, Refused } from '../console-page.ts';
import { reason, text } from '../form-fields.ts';

/** Asks `serve` for a run of a job now. */
export const runNowAction = actionOf('/schedules/run-now', 'run_now');
/** Has the slots of a job skipped, until it is resumed. */
export const pauseJobAction = actionOf('/schedules/pause', 'pause');
/** Has the next slots of a job run again. */
export const resumeJobAction = actionOf('/schedules/resume', 'resume');

function actionOf(path: string, decision: JobDecision) {
  return defineAction({
    path,
    form: z.object({ job: text, reason }),
    async perform({ trx, config, actor, audit }, form) {
      const { jobs } = config;
      const controlled = await controlJob(trx, { jobs, ...form, decision, decidedBy: actor.name, audit });
      if (controlled.kind === 'refused') throw new Refused(controlled.why);
      return controlled.auditId;
    },
  });
}
