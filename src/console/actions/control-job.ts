import { z } from 'zod';
import {
  type Changed,
  cancelBackfill,
  pauseBackfill,
  resumeBackfill,
} from '../../../jobs/attribute-orders/backfill/change-backfill.ts';
import { controlJob, type JobDecision } from '../../decisions/control-job.ts';
import { refreshReporting } from '../../rollups/refresh-reporting.ts';
import type { ActionPath } from '../access/permissions.ts';
import { type ConsoleAction, defineAction, Refused } from '../console-page.ts';
import { idField, text, understood } from '../form-fields.ts';

function actionOf(path: ActionPath, decision: JobDecision) {
  return defineAction({
    path,
    form: z.object({ job: text }),
    async perform({ trx, config: { jobs }, by }, { job }) {
      const controlled = await controlJob(trx, { jobs, job, decision, ...by });
      if (controlled.kind === 'refused') throw new Refused(controlled.why);
    },
  });
}

const form = z.object({ backfill: idField('backfill') });

function requireDone(changed: Changed): void {
  switch (changed.kind) {
    case 'changed':
      return;
    case 'unknown':
      throw new Refused('There is no backfill with this number.');
    case 'does_not_apply':
      throw new Refused(
        `Backfill ${changed.backfill.backfillId} is ${changed.backfill.state}, so this does not apply.`,
      );
    case 'no_process':
      throw new Refused(
        `No process works on backfill ${changed.backfill.backfillId}. Start one: npx influencer-sync backfill resume ${changed.backfill.backfillId}`,
      );
  }
}

function backfillAction(path: ActionPath, change: typeof pauseBackfill) {
  return defineAction({
    path,
    form,
    perform: async ({ trx, by }, { backfill }) =>
      requireDone(await change(trx, { backfillId: backfill, ...by })),
  });
}

export const jobActions: readonly ConsoleAction[] = [
  /** Requests a run of a job from `serve`. */
  actionOf('/schedules/run-now', 'run_now'),
  /** Pauses a job: its slots are skipped until it is resumed. */
  actionOf('/schedules/pause', 'pause'),
  actionOf('/schedules/resume', 'resume'),
  /** Pauses a backfill; its process waits. */
  backfillAction('/backfills/pause', pauseBackfill),
  backfillAction('/backfills/resume', resumeBackfill),
  defineAction({
    path: '/backfills/cancel',
    form: form.extend({ understood }),
    async perform({ trx, config, by, afterwards }, { backfill }) {
      const cancelled = await cancelBackfill(trx, { backfillId: backfill, config, ...by });
      if (cancelled.kind === 'changed')
        afterwards((db) => refreshReporting(db, { job: cancelled.backfill.job }));
      requireDone(cancelled);
    },
  }),
];
