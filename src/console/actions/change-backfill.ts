import { z } from 'zod';
import {
  type BackfillChange,
  type Changed,
  cancelBackfill,
  pauseBackfill,
  resumeBackfill,
} from '../../../jobs/attribute-orders/backfill/change-backfill.ts';
import { refreshReporting } from '../../rollups/refresh-reporting.ts';
import { type Change, defineAction, Refused } from '../console-page.ts';
import { idField, reason, understood } from '../form-fields.ts';

const form = z.object({ backfill: idField('backfill'), reason });

/** Pauses a backfill; its process waits. */
export const pauseBackfillAction = defineAction({
  path: '/backfills/pause',
  form,
  perform: async ({ trx, audit }, fields) => done(await pauseBackfill(trx, toChange(fields, audit))),
});

/** Resumes a paused backfill. */
export const resumeBackfillAction = defineAction({
  path: '/backfills/resume',
  form,
  perform: async ({ trx, audit }, fields) => done(await resumeBackfill(trx, toChange(fields, audit))),
});

/** Cancels a backfill. */
export const cancelBackfillAction = defineAction({
  path: '/backfills/cancel',
  form: form.extend({ understood }),
  async perform({ trx, config, audit, afterwards }, fields) {
    const cancelled = await cancelBackfill(trx, { ...toChange(fields, audit), config });
    if (cancelled.kind === 'changed')
      afterwards((db) => refreshReporting(db, { job: cancelled.backfill.job }));
    return done(cancelled);
  },
});

function toChange({ backfill, reason: why }: z.infer<typeof form>, audit: Change['audit']): BackfillChange {
  return { backfillId: backfill, reason: why, audit };
}

function done(changed: Changed): string {
  switch (changed.kind) {
    case 'changed':
      return changed.auditId;
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
