import { KnownError } from '../../src/core/known-error.ts';
import type { RunStop } from '../../src/core/run.ts';
import type { UnitPayload } from '../../src/core/work.ts';
import type { OpenLedger } from '../../src/ledger/open-ledger.ts';
import { createBudget } from '../../src/ledger/sending/ask.ts';
import { countAllDue, type DueOptions, type DueRange, dueRanges } from '../../src/mirror/due-deals.ts';
import { openDatabaseClock } from '../../src/mirror/stage.ts';
import type { Run } from '../../src/ops/run.ts';
import {
  openUnitLedger,
  shareSize,
  spreadShares,
  throwIfOnlyHere,
  toUnitAccount,
} from '../../src/runs/workers/share.ts';
import { FETCHING, fetchDeals } from './fetch-account.ts';
import { openQuestions, type Questions } from './open-questions.ts';
import type { MirrorAccountSettings } from './settings.ts';

type MirrorRun = Run<MirrorAccountSettings>;

type Share = DueRange & { readonly deals: number; readonly budget: number };

/**
 * Has workers read the deals that are due, a share each, into the staging tables. What they leave is still
 * due afterwards. A share that failed stops the run, so that it publishes nothing. If one was given up,
 * workers read the others first, so that the next run requests only the rest.
 *
 * @throws KnownError the error of the first share that failed.
 */
export async function spreadDeals(
  run: MirrorRun,
  questions: Questions,
  { due, ledger }: { due: DueOptions; ledger: OpenLedger },
): Promise<void> {
  const { db, progress, config, job } = run;
  let shares: readonly Share[] = [];
  const { ends, problem, givenUp } = await spreadShares(run, {
    kind: 'fetch-deals',
    consequence: 'Some deals were not read, so nothing was published.',
    onStop: questions.stop,
    async cut(places) {
      const left = questions.budget.left();
      const deals = Math.min(await countAllDue(db, due), left);
      if (deals === 0) return [];
      const size = shareSize(config.api, { requests: deals, places });
      const ranges = await dueRanges(db, { ...due, limit: deals, size });
      shares = ranges.map((range) => ({ ...range, budget: Math.floor((left * range.deals) / deals) }));
      if (shares.length > 1) progress.begin({ ...FETCHING, total: deals });
      const forAll = { ...toUnitAccount(run, ledger), collaborations: job.collaborations };
      return shares.map(({ after, upTo, deals, budget }) => ({
        ...forAll,
        afterReadAt: after.readAt,
        afterDealId: after.dealId,
        upToReadAt: upTo.readAt,
        upToDealId: upTo.dealId,
        deals,
        budget,
        now: due.now.toISOString(),
        refreshAfterHours: due.refreshAfterHours,
      }));
    },
  });
  if (givenUp !== null) questions.stop(givenUp);
  if (problem !== null) throw new KnownError(problem);
  for (const [index, end] of (ends ?? []).entries()) {
    const share = shares[index];
    if (end.kind === 'done') questions.budget.spend(Number(end.result.requests));
    else if (share !== undefined) questions.budget.spend(await countStaged(run, due, share));
  }
}

/** Number of deals of a share that were read and are not due any more. */
async function countStaged(
  { db }: MirrorRun,
  due: DueOptions,
  { deals, ...range }: DueRange & { readonly deals: number },
): Promise<number> {
  return Math.max(0, deals - (await countAllDue(db, { ...due, range })));
}

/**
 * Performs the unit `fetch-deals`: reads the deals of a range into the staging tables. Deals that an earlier
 * attempt has staged are not read again, and count towards the budget.
 *
 * @returns the requests that were sent, including those for staged deals.
 */
export async function fetchShare(
  run: MirrorRun,
  payload: UnitPayload,
): Promise<{ readonly stop: RunStop | null; readonly requests: number }> {
  const { client } = await openUnitLedger(run, payload);
  const due = { now: new Date(String(payload.now)), refreshAfterHours: Number(payload.refreshAfterHours) };
  const range = {
    after: { readAt: String(payload.afterReadAt), dealId: String(payload.afterDealId) },
    upTo: { readAt: String(payload.upToReadAt), dealId: String(payload.upToDealId) },
  };
  const budget = createBudget(Number(payload.budget));
  budget.spend(await countStaged(run, due, { ...range, deals: Number(payload.deals) }));
  const questions = openQuestions(run, { client, budget, clock: await openDatabaseClock(run.db) });
  const job = { ...run.job, collaborations: payload.collaborations === true };
  await fetchDeals({ ...run, job }, questions, { ...due, range }).finally(questions.close);
  const stop = questions.stopped();
  throwIfOnlyHere(stop);
  return { stop, requests: budget.used() };
}
