import { backfillRunName } from '../../../core/backfill.ts';
import { plural } from '../../../core/text/plural.ts';
import { PROCESS_GONE } from '../../../ops/run-record.ts';
import {
  listUnfinishedBackfills,
  type UnfinishedBackfill,
} from '../../../reports/list-unfinished-backfills.ts';
import { type ListedRun, listRuns } from '../../../reports/runs/list-runs.ts';
import { addUp } from '../amounts.ts';
import { type Found, type ProblemFinder, wordsOf } from './problem-finder.ts';

export const backfillStopped: ProblemFinder = {
  kind: 'backfill_stopped',
  title: 'Backfill stopped',
  async find({ db }) {
    const found: Found[] = [];
    for (const backfill of await listUnfinishedBackfills(db)) {
      const { backfillId, job, left, isPaused, problem } = backfill;
      // A person who pauses a backfill or stops its process knows that it has stopped.
      if (isPaused && problem === null) continue;
      const runs = await listRuns(db, { job: backfillRunName(job), limit: 2 });
      // While a process continues it, its outcome is not known yet.
      const run = runs.find(({ status }) => status !== 'running');
      if (run === undefined || !hasFailed(run)) continue;
      const orders = left.reduce((sum, { orders: some }) => sum + some, 0);
      found.push({
        job,
        severity: 'error',
        since: run.finishedAt ?? run.startedAt,
        amounts: addUp(left),
        summary: `Backfill ${backfillId} of ${job} stopped before its end: ${whyOf(backfill, run)} ${plural(orders, 'order')} of its plan ${orders === 1 ? 'is' : 'are'} not posted yet. It does not continue by itself.`,
        command: `npx influencer-sync backfill resume ${backfillId}`,
        page: `/backfills/${backfillId}`,
      });
    }
    return found;
  },
  over: (job) => `The backfill of ${job} has finished, was cancelled, or was stopped by a person.`,
};

function hasFailed({ status, problemCode }: ListedRun): boolean {
  return status === 'failed' || status === 'lost' || problemCode === PROCESS_GONE;
}

function whyOf({ problem }: UnfinishedBackfill, run: ListedRun): string {
  if (run.status !== 'failed') return 'its process died.';
  const words = wordsOf(run.problem ?? problem);
  return /[.…]$/.test(words) ? words : `${words}.`;
}
