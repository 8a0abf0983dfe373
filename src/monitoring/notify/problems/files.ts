import { plural } from '../../../core/text/plural.ts';
import type { Found, ProblemFinder } from './problem-finder.ts';

export const filesHeld: ProblemFinder = {
  kind: 'files_held',
  title: 'Files held',
  async find({ config, lastRuns, heldFiles, at }) {
    const runs = await lastRuns();
    const found: Found[] = [];
    for (const job of Object.values(config.jobs)) {
      const held = await heldFiles(job);
      if (held.length === 0) continue;
      const codes = [...new Set(held.map(({ code }) => code))].toSorted().join(', ');
      found.push({
        job: job.name,
        severity: 'warning',
        since: runs.find(({ job: { name } }) => name === job.name)?.run.startedAt ?? at,
        amounts: [],
        summary: `${plural(held.length, 'file')} of ${job.name} ${held.length === 1 ? 'is' : 'are'} held, and none of ${held.length === 1 ? 'its' : 'their'} rows count: ${codes}.`,
        command: 'npx influencer-sync files --state held',
        page: '/files?state=held',
      });
    }
    return found;
  },
  over: (job) => `No file of ${job} is held any more.`,
};
