import { listChanges } from '../../../jobs/attribute-orders/backfill/render.ts';
import type { Backfill, PlanChanges } from '../../core/backfill.ts';
import type { KnownError } from '../../core/known-error.ts';
import { refusal } from '../usage-error.ts';

const NOTHING_SENT = 'Nothing was sent.';

/** Thrown if a day is missing, or the last day comes before the first. */
export function needsDays(job: string): KnownError {
  return refusal({
    code: 'usage',
    message: 'A backfill needs a first and a last day, in that order.',
    help: `npx influencer-sync backfill ${job} --from 2023-01-01 --to 2024-12-31 --plan`,
    safe: NOTHING_SENT,
  });
}

/** Thrown if the job already has an unfinished backfill. */
export function backfillUnfinished({ backfillId, state, period }: Backfill): KnownError {
  return refusal({
    code: 'backfill_unfinished',
    message: `Backfill ${backfillId} (${period.fromDay} to ${period.toDay}) of this job is ${state} and not finished.`,
    help: `Continue it:  npx influencer-sync backfill resume ${backfillId}\nOr cancel it: npx influencer-sync backfill cancel ${backfillId}`,
    safe: NOTHING_SENT,
  });
}

/** Thrown if the orders to post differ from the plan. */
export function planChanged({ backfillId, job, period }: Backfill, changes: PlanChanges): KnownError {
  return refusal({
    code: 'plan_changed',
    message: `What would be posted no longer matches the plan: ${listChanges(changes).join('; ')}.`,
    where: `backfill ${backfillId}, ${period.fromDay} to ${period.toDay}`,
    help: `Make a new plan, read it, then execute it:\n  npx influencer-sync backfill ${job} --from ${period.fromDay} --to ${period.toDay} --plan`,
    safe: NOTHING_SENT,
  });
}

/** Thrown if another process executed, replaced or cancelled the plan. */
export function planGone({ backfillId }: Backfill): KnownError {
  return refusal({
    code: 'plan_gone',
    message: `Plan ${backfillId} was executed, replaced or cancelled in the meantime.`,
    help: 'npx influencer-sync backfill status',
    safe: NOTHING_SENT,
  });
}

export function needsYes({ backfillId }: Backfill): KnownError {
  return refusal({
    code: 'usage',
    message: 'This is not a terminal, so you cannot confirm the plan.',
    help: `To confirm it, add --yes:  npx influencer-sync backfill resume ${backfillId} --yes`,
    safe: NOTHING_SENT,
  });
}

export function backfillMissing(id: string | undefined): KnownError {
  return refusal({
    code: 'backfill_not_found',
    message: id === undefined ? 'No backfill is running or planned.' : `There is no backfill ${id}.`,
    help: 'npx influencer-sync backfill status lists them.',
  });
}

export function notToBeResumed({ backfillId, state }: Backfill): KnownError {
  return refusal({
    code: 'backfill_ended',
    message: `Backfill ${backfillId} is ${state}, so this command does not apply.`,
    help: 'npx influencer-sync backfill status lists them. You can plan a new one for the same days: credited orders are not posted again.',
  });
}
