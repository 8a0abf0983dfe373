import { sayCheck } from '../../../core/checks/expectations.ts';
import { plural } from '../../../core/text/plural.ts';
import { nextSlotOf } from '../../../ops/schedule/next-slots.ts';
import { judgeArrivals, listFindings } from '../../../reports/checks/read-checks.ts';
import { listUnreadEvents } from '../../../reports/list-unread-events.ts';
import { listRuns } from '../../../reports/runs/list-runs.ts';
import type { Found, ProblemFinder, Situation } from './problem-finder.ts';

/** Problems with files, events and the mirror. */
export const dataProblems: readonly ProblemFinder[] = [
  {
    kind: 'files_unusual',
    severity: 'warning',
    title: 'Files unusual',
    async find({ db, config, kinds }) {
      const findings = (await listFindings(db)).filter(({ verdict }) => verdict === 'warn');
      return Object.values(config.jobs).flatMap((job): readonly Found[] => {
        const readFor = kinds.find(({ kind }) => kind === job.kind)?.purpose(job)?.readFor;
        const mine = findings.filter((one) => job.sources.includes(one.source) && one.readFor === readFor);
        const oldest = mine.at(-1);
        if (oldest === undefined) return [];
        const checks = [...new Set(mine.map(({ check }) => sayCheck(check)))].toSorted().join('; ');
        return [
          {
            job: job.name,
            since: oldest.foundAt,
            summary: `${plural(mine.length, 'check')} found something unusual in files of job ${job.name}: ${checks}. The files were not held.`,
            command: 'npx influencer-sync checks',
            page: '/checks',
          },
        ];
      });
    },
    over: (job) => `No unusual file of job ${job} needs your attention any more.`,
  },
  {
    kind: 'files_late',
    severity: 'warning',
    title: 'Files late',
    async find({ db, config, at }) {
      const arrivals = await judgeArrivals(db, { sources: Object.values(config.sources), now: at });
      return Object.values(config.jobs).flatMap((job): readonly Found[] => {
        const late = arrivals.flatMap((arrival) =>
          arrival.verdict === 'late' && job.sources.includes(arrival.source)
            ? [{ name: arrival.source, since: arrival.deadline }]
            : [],
        );
        const [oldest] = late.toSorted((one, other) => one.since.getTime() - other.since.getTime());
        if (oldest === undefined) return [];
        return [
          {
            job: job.name,
            since: oldest.since,
            summary: `No new file of ${late.map(({ name }) => name).join(', ')} was read by the time that expect.freshness names.`,
            command: 'npx influencer-sync checks',
            page: '/checks',
          },
        ];
      });
    },
    over: (job) => `A new file of every source of job ${job} has arrived.`,
  },
  {
    kind: 'files_held',
    severity: 'warning',
    title: 'Files held',
    async find({ config, lastRuns, heldFiles, at }) {
      const runs = await lastRuns();
      const found: Found[] = [];
      for (const job of Object.values(config.jobs)) {
        const held = await heldFiles(job);
        const [first] = held;
        if (first === undefined) continue;
        const codes = [...new Set(held.map(({ code }) => code.replaceAll('_', ' ')))].toSorted().join(', ');
        found.push({
          job: job.name,
          since: runs.find(({ job: { name } }) => name === job.name)?.run.startedAt ?? at,
          summary: `${plural(held.length, 'file')} of job ${job.name} ${held.length === 1 ? 'is' : 'are'} held, and none of ${held.length === 1 ? 'its' : 'their'} rows count: ${codes}.`,
          command: 'npx influencer-sync files --state held',
          page: held.length === 1 ? `/files/${first.id}` : '/files?state=held',
        });
      }
      return found;
    },
    over: (job) => `No file of job ${job} is held any more.`,
  },
  {
    kind: 'events_unread',
    severity: 'warning',
    title: 'Events cannot be read',
    async find({ db }) {
      const unread = await listUnreadEvents(db);
      const [first] = unread;
      if (first === undefined) return [];
      const found: Found = {
        since: first.since,
        summary: unread.map(sayWhy).join(' '),
        command: 'npx influencer-sync doctor --service',
        page: '/',
      };
      return [found];
    },
    over: () => 'An event of the service was read.',
  },
  {
    kind: 'mirror_stale',
    severity: 'warning',
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
          since: new Date(last),
          summary: `No run of job ${job.name} has finished for more than ${hours} hours, so its mirror is out of date.`,
          command: `npx influencer-sync run ${job.name}`,
          page: `/runs?job=${encodeURIComponent(job.name)}`,
        });
      }
      return found;
    },
    over: (job) => `${job} has brought its mirror up to date.`,
  },
];

function sayWhy({ what, events, proposal }: Awaited<ReturnType<typeof listUnreadEvents>>[number]): string {
  return what === 'signature'
    ? `Events are signed with the account's secret, but in another way than service.events says, and were refused. These settings fit: ${proposal ?? ''}.`
    : `${plural(events, 'event')} of orders had no order id where service.events.members says, and settled nothing.`;
}

const HOUR_MS = 3_600_000;

/**
 * Returns true if fewer than two slots have come due since the last run that finished. False for a job
 * without a schedule.
 */
function isFresh(
  { jobs }: Situation['config'],
  { job, last, at }: { job: string; last: Date; at: Date },
): boolean {
  const all = Object.values(jobs);
  const first = nextSlotOf(all, { job, after: last });
  const second = first === null ? null : nextSlotOf(all, { job, after: first });
  return second !== null && second > at;
}
