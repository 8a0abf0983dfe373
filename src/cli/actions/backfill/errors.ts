import { describeChanges } from '../../../../jobs/attribute-orders/backfill/render.ts';
import type { Backfill, PlanChanges } from '../../../model/backfill.ts';
import { EXIT } from '../../../model/exit-code.ts';
import { KnownError } from '../../../model/known-error.ts';

const NOTHING_SENT = 'Nothing was sent.';

/** The days are missing, or the last comes before the first. */
export function needsDays(job: string): KnownError {
  return new KnownError({
    code: 'usage',
    message: 'A backfill needs its first and its last day, in that order.',
    help: `npx influencer-sync backfill ${job} --from 2023-01-01 --to 2024-12-31 --plan`,
    safe: NOTHING_SENT,
    exitCode: EXIT.configuration,
  });
}

/** A job has one backfill at a time. */
export function backfillUnfinished({ backfillId, state, period }: Backfill): KnownError {
  return new KnownError({
    code: 'backfill_unfinished',
    message: `Backfill ${backfillId} (${period.fromDay} to ${period.toDay}) of this job is ${state} and not at its end.`,
    help: `Go on with it:  npx influencer-sync backfill resume ${backfillId}\nOr end it:      npx influencer-sync backfill cancel ${backfillId}`,
    safe: NOTHING_SENT,
    exitCode: EXIT.configuration,
  });
}

/** What would be posted is not what was planned. */
export function planChanged({ backfillId, job, period }: Backfill, changes: PlanChanges): KnownError {
  return new KnownError({
    code: 'plan_changed',
    message: `What would be posted is no longer what was planned: ${describeChanges(changes).join('; ')}.`,
    where: `backfill ${backfillId}, ${period.fromDay} to ${period.toDay}`,
    help: `Look at a new plan, then have that executed:\n  npx influencer-sync backfill ${job} --from ${period.fromDay} --to ${period.toDay} --plan`,
    safe: NOTHING_SENT,
    exitCode: EXIT.configuration,
  });
}

/** Somebody else was quicker. */
export function planGone({ backfillId }: Backfill): KnownError {
  return new KnownError({
    code: 'plan_gone',
    message: `Plan ${backfillId} was executed, replaced or cancelled meanwhile.`,
    help: 'npx influencer-sync backfill status',
    safe: NOTHING_SENT,
    exitCode: EXIT.configuration,
  });
}

export function needsYes({ backfillId }: Backfill): KnownError {
  return new KnownError({
    code: 'usage',
    message: 'Nobody is there to be asked whether the plan is to be executed.',
    help: `Add --yes if you mean it:  npx influencer-sync backfill resume ${backfillId} --yes`,
    safe: NOTHING_SENT,
    exitCode: EXIT.configuration,
  });
}

export function backfillMissing(id: string | undefined): KnownError {
  return new KnownError({
    code: 'backfill_not_found',
    message: id === undefined ? 'No backfill is under way or planned.' : `There is no backfill ${id}.`,
    help: 'npx influencer-sync backfill status lists them.',
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}

export function notToBeResumed({ backfillId, state }: Backfill): KnownError {
  return new KnownError({
    code: 'backfill_ended',
    message: `Backfill ${backfillId} is ${state}: there is nothing to do that with.`,
    help: 'npx influencer-sync backfill status lists them. Plan a new one for the same days: what is credited is not posted again.',
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}
