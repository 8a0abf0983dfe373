import { z } from 'zod';
import { controlJob, type JobDecision } from '../../decisions/control-job.ts';
import type { ActionPath } from '../access/permissions.ts';
import { defineAction, Refused } from '../console-page.ts';
import { reason, text } from '../form-fields.ts';

/** Requests a run of a job from `serve`. */
export const runNowAction = actionOf('/schedules/run-now', 'run_now');
/** Pauses a job: its slots are skipped until it is resumed. */
export const pauseJobAction = actionOf('/schedules/pause', 'pause');
/** Resumes a paused job. */
export const resumeJobAction = actionOf('/schedules/resume', 'resume');

function actionOf(path: ActionPath, decision: JobDecision) {
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
