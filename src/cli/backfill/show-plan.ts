import { shareOf } from '../../../jobs/attribute-orders/backfill/execute-backfill.ts';
import { describeChanges, describePlan } from '../../../jobs/attribute-orders/backfill/render.ts';
import type { BackfillRun } from '../../../jobs/attribute-orders/backfill/with-backfill-run.ts';
import type { Backfill, PlanChanges } from '../../core/backfill.ts';
import { renderBlocks } from '../../render/render-blocks.ts';
import { plural } from '../../render/text.ts';
import { listHeldFiles } from '../../reports/files/list-held-files.ts';
import { confirmByWord } from '../terminal/ask-person.ts';
import type { Output } from '../terminal/output.ts';
import type { ResumeOptions } from './backfill.ts';
import { planChanged } from './errors.ts';

/** What planning and executing need in addition to the run. */
export type CommandContext = { readonly output: Output; readonly options: ResumeOptions };

/**
 * Shows the plan to a person or a program.
 * @param isKept whether the plan is stored, so that it can be executed by its number.
 */
export function showPlan(
  run: BackfillRun,
  backfill: Backfill,
  { output, options, isKept = true }: CommandContext & { readonly isKept?: boolean },
): void {
  run.progress.end();
  const { requestsPerSecond } = shareOf(withShare(backfill, options), run.config.api);
  const { backfillId, job, state, period, planHash, plan } = backfill;
  output.emit({
    event: 'backfill_plan',
    backfillId,
    job,
    state,
    ...period,
    planHash,
    requestsPerSecond,
    isKept,
    ...plan,
  });
  output.show(describePlan(backfill, { requestsPerSecond, isKept }));
}

/**
 * Warns of held files: they may contain orders of the period, which the plan lacks.
 * @returns true if no file is held.
 */
export async function warnOfHeldFiles({ db, job }: BackfillRun, output: Output): Promise<boolean> {
  const held = await listHeldFiles(db, { sources: job.sources });
  for (const file of held) output.emit({ event: 'held_file', ...file });
  if (held.length > 0)
    output.warn(
      `${plural(held.length, 'file')} of its sources could not be used, so the plan lacks ${held.length === 1 ? 'its' : 'their'} orders:  npx influencer-sync status`,
    );
  return held.length === 0;
}

/**
 * Asks whether to execute the plan. If it differs from an earlier plan for the same days, a person must
 * confirm it even with `--yes`.
 */
export async function approve(
  backfill: Backfill,
  changes: PlanChanges | null,
  { output, options }: CommandContext,
): Promise<boolean> {
  if (changes !== null) {
    if (!process.stdin.isTTY) throw planChanged(backfill, changes);
    output.warn(renderBlocks(describeChanges(changes), output.terminal));
  } else if (options.yes === true) return true;
  if (!process.stdin.isTTY) return false;
  const count = plural(sumOf(backfill), 'order');
  return confirmByWord('yes', `Post ${count}? You cannot undo orders that the service has accepted. `);
}

function sumOf({ plan }: Backfill): number {
  return plan.groups.reduce((sum, { standing, orders }) => (standing === 'to_post' ? sum + orders : sum), 0);
}

/** The limits given on the command line; null where absent. */
export function wantedShare({ rate, concurrency }: ResumeOptions) {
  return { requestsPerSecond: rate ?? null, concurrency: concurrency ?? null };
}

/** The limits of a backfill. Those on the command line override those stored with the plan. */
export function withShare(backfill: Backfill, options: ResumeOptions) {
  const { requestsPerSecond, concurrency } = wantedShare(options);
  return {
    requestsPerSecond: requestsPerSecond ?? backfill.requestsPerSecond,
    concurrency: concurrency ?? backfill.concurrency,
  };
}
