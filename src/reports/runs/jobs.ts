import { formatInstant, formatMinute } from '../../core/text/format-instant.ts';
import { type Block, item, section, table, whole } from '../../render/block.ts';
import type { ListedRun } from './list-runs.ts';
import type { PausedJob } from './list-slots.ts';

/** A job in a list. */
export type ListedJob = {
  readonly job: string;
  /** Null if the job is no longer in the configuration. */
  readonly kind: string | null;
  readonly schedule: string | null;
  readonly timeZone: string | null;
  readonly after: string | null;
  readonly nextSlot: Date | null;
  readonly lastRun: Pick<ListedRun, 'runId' | 'status'> | null;
  readonly paused: PausedJob | null;
};

/** Describes jobs as a table, and below it who paused which job and why. */
export function describeJobs(jobs: readonly ListedJob[], isServed: boolean): readonly Block[] {
  const notes = jobs.flatMap(({ job, kind, paused }) => {
    if (paused === null) return [];
    const gone = kind === null ? ' It is no longer in the configuration.' : '';
    return item(
      `${job} was paused at ${formatInstant(paused.pausedAt)} UTC by ${paused.pausedBy}: ${paused.reason}${gone}`,
    );
  });
  const isIdle = !isServed && jobs.some(({ nextSlot }) => nextSlot !== null);
  return section('Jobs', {
    parts: [
      table(jobs, [
        whole('job', ({ job }) => job),
        whole('when', whenOf),
        whole('next slot (UTC)', ({ nextSlot }) => formatMinute(nextSlot)),
        whole('last run', ({ lastRun }) =>
          lastRun === null ? 'never' : `${lastRun.runId} ${lastRun.status}`,
        ),
        whole('state', ({ paused }) => (paused === null ? null : 'paused')),
      ]),
      ...notes,
      ...(isIdle ? [item('No process runs jobs on schedule now. Start one: npx influencer-sync serve')] : []),
    ],
  });
}

function whenOf({ kind, schedule, timeZone, after }: ListedJob): string {
  if (schedule !== null) return `${schedule} ${timeZone}`;
  if (after !== null) return `after ${after}`;
  return kind === null ? '' : 'no schedule';
}
