import { createInterface } from 'node:readline/promises';
import { shareOf } from '../../../../jobs/attribute-orders/backfill/execute-backfill.ts';
import { renderChanges, renderPlan } from '../../../../jobs/attribute-orders/backfill/render.ts';
import type { BackfillRun } from '../../../../jobs/attribute-orders/backfill/with-backfill-run.ts';
import type { Backfill, PlanChanges } from '../../../model/backfill.ts';
import { plural } from '../../../present/text.ts';
import { listHeldFiles } from '../../../report/files/list-held-files.ts';
import { configOption } from '../../commands/command.ts';
import type { ResumeOptions } from '../../commands/run/backfill.ts';
import type { Output } from '../../terminal/output.ts';
import { planChanged } from './errors.ts';

/** What a process that plans or executes needs beside its run. */
export type CommandContext = { readonly output: Output; readonly options: ResumeOptions };

/** The plan, for a person or a program. `isKept`: it is stored and can be executed by its number. */
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
  output.print(
    renderPlan(backfill, {
      terminal: output.terminal,
      requestsPerSecond,
      isKept,
      command: commandOf(options),
    }),
  );
}

/** A file that is held may state orders of the period: the plan knows nothing of them. @returns whether there is none. */
export async function warnOfHeldFiles(
  { db, job }: BackfillRun,
  { output, options }: CommandContext,
): Promise<boolean> {
  const held = await listHeldFiles(db, { sources: job.sources });
  for (const file of held) output.emit({ event: 'held_file', ...file });
  if (held.length > 0)
    output.warn(
      `${plural(held.length, 'file')} of its sources could not be used, so the plan lacks ${held.length === 1 ? 'its' : 'their'} orders:  ${commandOf(options)('status')}`,
    );
  return held.length === 0;
}

/** Whether the plan is to be executed. One that differs from what a person has seen before is asked about again, also with --yes. */
export async function approve(
  backfill: Backfill,
  changes: PlanChanges | null,
  { output, options }: CommandContext,
): Promise<boolean> {
  if (changes !== null) {
    if (!process.stdin.isTTY) throw planChanged(backfill, changes);
    output.warn(renderChanges(changes, output.terminal));
  } else if (options.yes === true) return true;
  if (!process.stdin.isTTY) return false;
  const count = plural(sumOf(backfill), 'order');
  const question = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await question
    .question(`Post ${count}? You cannot undo orders that the service has accepted. Type "yes" to continue: `)
    .finally(() => question.close());
  return answer.trim().toLowerCase() === 'yes';
}

function sumOf({ plan }: Backfill): number {
  return plan.groups.reduce((sum, { standing, orders }) => (standing === 'to_post' ? sum + orders : sum), 0);
}

/** What was asked for on the command line. */
export function wantedShare({ rate, concurrency }: ResumeOptions) {
  return { requestsPerSecond: rate ?? null, concurrency: concurrency ?? null };
}

/** What is said now counts more than what was said when it was planned. */
export function withShare(backfill: Backfill, options: ResumeOptions) {
  const { requestsPerSecond, concurrency } = wantedShare(options);
  return {
    requestsPerSecond: requestsPerSecond ?? backfill.requestsPerSecond,
    concurrency: concurrency ?? backfill.concurrency,
  };
}

/** What a person types before the name of a command, and behind it, to name the configuration. */
export function commandOf(options: ResumeOptions): (words: string) => string {
  return (words) => `npx influencer-sync ${words}${configOption(options)}`;
}
