import { plural } from '../../../core/text/plural.ts';
import { judgeArrivals } from '../../../reports/checks/judge-arrivals.ts';
import { listFindings } from '../../../reports/checks/read-checks.ts';
import type { Found, ProblemFinder } from './problem-finder.ts';

export const filesUnusual: ProblemFinder = {
  kind: 'files_unusual',
  title: 'Files unusual',
  async find({ db, config, kinds }) {
    const findings = (await listFindings(db)).filter(({ verdict }) => verdict === 'warn');
    return Object.values(config.jobs).flatMap((job): readonly Found[] => {
      const readFor = kinds.find(({ kind }) => kind === job.kind)?.purpose(job)?.readFor;
      const mine = findings.filter((one) => job.sources.includes(one.source) && one.readFor === readFor);
      const oldest = mine.at(-1);
      if (oldest === undefined) return [];
      const checks = [...new Set(mine.map(({ check }) => check))].toSorted().join(', ');
      return [
        {
          job: job.name,
          severity: 'warning',
          since: oldest.foundAt,
          amounts: [],
          summary: `${plural(mine.length, 'check')} found something unusual in files of ${job.name}. The files were not held: ${checks}.`,
          command: 'npx influencer-sync checks',
          page: '/checks',
        },
      ];
    });
  },
  over: (job) => `No unusual file of ${job} needs your attention any more.`,
};

export const filesLate: ProblemFinder = {
  kind: 'files_late',
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
          severity: 'warning',
          since: oldest.since,
          amounts: [],
          summary: `No new file of ${late.map(({ name }) => name).join(', ')} was read by the time that expect.freshness names.`,
          command: 'npx influencer-sync checks',
          page: '/checks',
        },
      ];
    });
  },
  over: (job) => `A new file of every source of ${job} has arrived.`,
};
