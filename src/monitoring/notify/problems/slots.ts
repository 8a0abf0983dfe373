import { plural } from '../../../core/text/plural.ts';
import { lastObservations } from '../../../reports/notices/list-notices.ts';
import { listUnrunSlots, type SlotTrouble } from '../../../reports/runs/list-slots.ts';
import type { Found, ProblemFinder, Situation } from './problem-finder.ts';

export const jobLate: ProblemFinder = {
  kind: 'job_late',
  title: 'Job late',
  find: (situation) => findSlots(situation, 'late'),
  over: (job) => `No slot of ${job} is late any more.`,
};

export const jobMissed: ProblemFinder = {
  kind: 'job_missed',
  title: 'Runs missed',
  find: (situation) => findSlots(situation, 'missed'),
  over: (job) => `${job} has run since it missed slots.`,
};

const TOLD = {
  late: {
    severity: 'warning',
    say: ({ job, slots }: SlotTrouble) =>
      `${plural(slots, 'slot')} of ${job} ${slots === 1 ? 'is' : 'are'} due, but no process has started ${slots === 1 ? 'it' : 'them'}. Check that \`serve\` runs with this configuration.`,
  },
  missed: {
    severity: 'error',
    say: ({ job, slots }: SlotTrouble) =>
      `${plural(slots, 'slot')} of ${job} came due while no process ran, and ${slots === 1 ? 'was' : 'were'} not caught up.`,
  },
} as const;

/** Finds slots of configured jobs only. Slots of removed jobs do not matter. */
async function findSlots({ db, config }: Situation, kind: 'late' | 'missed'): Promise<readonly Found[]> {
  const told = await lastObservations(db, 'job_missed');
  const troubles = await listUnrunSlots(db, told);
  return troubles
    .filter((trouble) => trouble.kind === kind && config.jobs[trouble.job] !== undefined)
    .map((trouble) => ({
      job: trouble.job,
      severity: TOLD[kind].severity,
      since: trouble.since,
      amounts: [],
      summary: TOLD[kind].say(trouble),
      command: kind === 'late' ? 'npx influencer-sync status' : `npx influencer-sync run ${trouble.job}`,
      page: `/schedules?job=${encodeURIComponent(trouble.job)}`,
    }));
}
