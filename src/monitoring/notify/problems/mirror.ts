import { plural } from '../../../core/text/plural.ts';
import { nextSlotOf } from '../../../ops/schedule/next-slots.ts';
import { listRuns } from '../../../reports/runs/list-runs.ts';
import type { Found, ProblemFinder, Situation } from './problem-finder.ts';

const HOUR_MS = 3_600_000;

export const mirrorStale: ProblemFinder = {
  kind: 'mirror_stale',
  title: 'Mirror stale',
  async find({ db, config, lastRuns, at }) {
    const found: Found[] = [];
    for (const { job, kind } of await lastRuns()) {
      const hours = kind.watched?.staleAfterHours?.(job);
      if (hours === undefined) continue;
      const ends = [
        ...(await listRuns(db, { job: job.name, status: 'ok', limit: 1 })),
        ...(await listRuns(db, { job: job.name, status: 'issues', limit: 1 })),
      ].map(({ finishedAt }) => finishedAt?.getTime() ?? 0);
      const last = Math.max(0, ...ends);
      // A job that never completed a run has no data that could be stale. Another kind of problem reports its
      // failures.
      if (last === 0 || at.getTime() - last < hours * HOUR_MS) continue;
      // One that reads every deal each night is not old by day.
      if (isFresh(config, { job: job.name, last: new Date(last), at })) continue;
      found.push({
        job: job.name,
        severity: 'warning',
        since: new Date(last),
        amounts: [],
        summary: `No run of ${job.name} has finished for more than ${plural(hours, 'hour')}, so its mirror is out of date.`,
        command: `npx influencer-sync run ${job.name}`,
        page: `/runs?job=${encodeURIComponent(job.name)}`,
      });
    }
    return found;
  },
  over: (job) => `${job} has brought its mirror up to date.`,
};

/**
 * Returns true if fewer than two slots have come due since the last run that finished. False for a job
 * without a schedule.
 */
function isFresh(
  { jobs }: Situation['config'],
  { job, last, at }: { readonly job: string; readonly last: Date; readonly at: Date },
): boolean {
  const all = Object.values(jobs);
  const first = nextSlotOf(all, { job, after: last });
  const second = first === null ? null : nextSlotOf(all, { job, after: first });
  return second !== null && second > at;
}
