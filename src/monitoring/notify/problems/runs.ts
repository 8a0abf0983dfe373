import { backfillRunName } from '../../../core/backfill.ts';
import { EXIT } from '../../../core/exit-code.ts';
import { REFUNDS_APART } from '../../../core/held/held-order.ts';
import { countUnknown } from '../../../core/money.ts';
import { plural } from '../../../core/text/plural.ts';
import { PROCESS_GONE } from '../../../ops/run-record.ts';
import { sumRefused } from '../../../reports/doubts/list-doubts.ts';
import { listHoldingJobs } from '../../../reports/held/held-orders.ts';
import { belowZeroPage, sumBelowZero } from '../../../reports/list-orders.ts';
import { sumOtherCurrency } from '../../../reports/money/list-other-currency.ts';
import { lastObservations } from '../../../reports/notices/list-notices.ts';
import {
  type ListedRun,
  listRuns,
  listUnfinishedBackfills,
  type UnfinishedBackfill,
} from '../../../reports/runs/list-runs.ts';
import { listUnrunSlots, type SlotTrouble } from '../../../reports/runs/list-slots.ts';
import {
  addUp,
  countOf,
  type Found,
  type JobRun,
  type ProblemFinder,
  type Situation,
  wordsOf,
} from './problem-finder.ts';

/** Problem codes of runs that could not reach the service or were rejected by it. */
const AWAY: readonly string[] = ['service_unavailable', 'unavailable', 'throttled'];
const OVERDUE: readonly string[] = ['overdue', 'run_overdue'];

/** The cause of a run's end. Each cause is reported as one kind of problem, whatever else follows from it. */
type Cause = 'none' | 'failure' | 'overdue' | 'key' | 'service' | 'ledger';

function causeOf({ status, exitCode, problemCode }: ListedRun): Cause {
  if (status === 'ok' || status === 'issues') return 'none';
  if (exitCode === EXIT.authentication) return 'key';
  if (exitCode === EXIT.ledgerWentBack) return 'ledger';
  if (AWAY.includes(problemCode ?? '')) return 'service';
  return OVERDUE.includes(problemCode ?? '') ? 'overdue' : 'failure';
}

/** Problems that the runs, slots and backfills of jobs show. */
export const runProblems: readonly ProblemFinder[] = [
  {
    kind: 'job_failed',
    severity: 'error',
    title: 'Job failed',
    find: async ({ lastRuns }) =>
      (await lastRuns()).filter(({ run }) => causeOf(run) === 'failure').map(failureOf),
    over: (job) => `A run of ${job} has finished again.`,
  },
  {
    kind: 'job_stalled',
    severity: 'error',
    title: 'Job stalled',
    find: async ({ lastRuns }) =>
      (await lastRuns()).filter(({ run }) => causeOf(run) === 'overdue').map(failureOf),
    over: (job) => `A run of ${job} has finished again.`,
  },
  {
    kind: 'key_refused',
    severity: 'error',
    title: 'API key refused',
    find: async ({ lastRuns }) =>
      lastWord(await lastRuns(), 'key').map((one) =>
        foundIn(
          one,
          `The service refused the API key in run ${one.run.runId} of ${one.job.name}. No job can post until the key is accepted.`,
          { job: null, command: 'npx influencer-sync doctor' },
        ),
      ),
    over: () => 'The service accepts the API key again.',
  },
  {
    kind: 'service_away',
    severity: 'error',
    title: 'Service unavailable',
    find: async ({ lastRuns }) =>
      lastWord(await lastRuns(), 'service').map((one) =>
        foundIn(
          one,
          `Run ${one.run.runId} of ${one.job.name} could not use the service. A later run sends what is left.`,
          { job: null, command: 'npx influencer-sync doctor' },
        ),
      ),
    over: () => 'The service answers again.',
  },
  {
    kind: 'rows_rejected',
    severity: 'warning',
    title: 'Rows rejected',
    find: async ({ lastRuns }) =>
      (await lastRuns()).flatMap((one) => {
        const { runId } = one.run;
        const rejected = numberIn(one.run, 'rejected_rows');
        const what = `Run ${runId} of ${one.job.name} could not use ${plural(rejected, 'row')} in its files.`;
        const command = `npx influencer-sync rejected --run ${runId}`;
        return rejected === 0 ? [] : foundIn(one, what, { command, page: '/rejected' });
      }),
    over: (job) => `The last run of ${job} rejected no rows.`,
  },
  {
    kind: 'budget_low',
    severity: 'warning',
    title: 'Budget too small',
    find: async ({ lastRuns }) =>
      (await lastRuns()).flatMap((one) => {
        const { job, kind, run } = one;
        const left = run.counts === null ? 0 : (kind.watched?.beyondBudget?.(run.counts) ?? 0);
        const what = `Run ${run.runId} of ${job.name} left ${countOf(left, kind.nouns.items)} for later, because its budget was spent.`;
        return left === 0 ? [] : foundIn(one, what, { command: `npx influencer-sync plan ${job.name}` });
      }),
    over: (job) => `The budget of ${job} was enough for its last run.`,
  },
  {
    kind: 'mirror_drifted',
    severity: 'warning',
    title: 'Service changed its answers',
    find: async ({ lastRuns }) =>
      (await lastRuns()).flatMap((one) => {
        const { job, kind, run } = one;
        const fields = run.counts === null ? 0 : (kind.watched?.drift?.(run.counts) ?? 0);
        const what = `Run ${run.runId} of ${job.name} found ${plural(fields, 'field')} that the service sends in another form than before.`;
        return fields === 0 ? [] : foundIn(one, what);
      }),
    over: (job) => `The last run of ${job} found no field that has changed.`,
  },
  {
    kind: 'needs_attention',
    severity: 'warning',
    title: 'Run needs your attention',
    async find({ db, lastRuns, heldFiles }) {
      const found: Found[] = [];
      const waiting = [
        ...(await sumRefused(db)),
        ...(await listHoldingJobs(db)),
        ...(await sumOtherCurrency(db, {})),
      ];
      const explained = new Set(waiting.map(({ job }) => job));
      const belowZero = await sumBelowZero(db);
      for (const one of await lastRuns()) {
        const left = leftOf(one);
        const isExplained = explained.has(one.job.name) || (await heldFiles(one.job)).length > 0;
        if (left.length === 0 && (isExplained || !isUnexplained(one))) continue;
        found.push(
          attentionTo(
            one,
            left,
            belowZero.filter(({ job }) => job === one.job.name),
          ),
        );
      }
      return found;
    },
    over: (job) => `The last run of ${job} needs no attention.`,
  },
  {
    kind: 'job_late',
    severity: 'warning',
    title: 'Job late',
    find: (situation) => findSlots(situation, 'late'),
    over: (job) => `No slot of ${job} is late any more.`,
  },
  {
    kind: 'job_missed',
    severity: 'error',
    title: 'Runs missed',
    find: (situation) => findSlots(situation, 'missed'),
    over: (job) => `${job} has run since it missed slots.`,
  },
  {
    kind: 'backfill_stopped',
    severity: 'error',
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
  },
];

/** A problem that the last run of a job shows. */
function foundIn({ job, run }: JobRun, summary: string, more: Partial<Found> = {}): Found {
  const command = `npx influencer-sync runs --job ${job.name}`;
  return { job: job.name, since: run.startedAt, summary, command, page: `/runs/${run.runId}`, ...more };
}

function failureOf(one: JobRun): Found {
  const { job, run } = one;
  const { runId, exitCode } = run;
  const how =
    run.status === 'failed'
      ? `failed${exitCode === null ? '' : ` with exit code ${exitCode}`}: ${wordsOf(run.problem)}`
      : 'ended because its process died. The next run continues where it stopped.';
  return foundIn(one, `Run ${runId} of ${job.name} ${how}`);
}

/**
 * Returns the last run that shows the state of the service, if it ended for this cause. A run that failed for
 * another reason shows nothing about the service.
 */
function lastWord(runs: readonly JobRun[], cause: 'key' | 'service'): readonly JobRun[] {
  const [last] = runs
    .filter(({ run }) => ['none', 'key', 'service'].includes(causeOf(run)))
    .toSorted((one, other) => Number(other.run.runId) - Number(one.run.runId));
  return last !== undefined && causeOf(last.run) === cause ? [last] : [];
}

/** Returns true for issues that no other kind of problem reports. */
function isUnexplained({ kind, run }: JobRun): boolean {
  if (run.status !== 'issues' || run.exitCode === EXIT.doubts || run.exitCode === EXIT.ok) return false;
  return numberIn(run, 'rejected_rows') === 0 && (kind.watched?.drift?.(run.counts ?? {}) ?? 0) === 0;
}

/** What a run left for a person, each part as a clause: `2 deals could not be read`. */
function leftOf({ kind, run }: JobRun): readonly string[] {
  if (run.status !== 'issues' || run.counts === null) return [];
  const isForPerson = run.exitCode === EXIT.rowsRejected && run.problem !== null;
  return [
    ...(isForPerson ? [wordsOf(run.problem).replace(/\.$/, '')] : []),
    ...(kind.watched?.leftForPerson?.(run.counts) ?? []),
  ];
}

function attentionTo(
  one: JobRun,
  left: readonly string[],
  belowZero: Awaited<ReturnType<typeof sumBelowZero>>,
): Found {
  const { job, run } = one;
  const what = left.length === 0 ? 'The summary of the run lists it' : left.join('; ');
  return foundIn(
    one,
    `Run ${run.runId} of ${job.name} finished, and left work for a person (exit code ${run.exitCode}). ${what}.${belowZero.length === 0 ? '' : ` ${REFUNDS_APART}`}`,
    belowZero.length === 0
      ? {}
      : { amounts: addUp(belowZero), withoutAmount: countUnknown(belowZero), page: belowZeroPage(job.name) },
  );
}

function numberIn({ counts }: Pick<ListedRun, 'counts'>, name: string): number {
  const value: unknown = (counts as Readonly<Record<string, unknown>> | null)?.[name];
  return typeof value === 'number' ? value : 0;
}

const TOLD = {
  late: ({ job, slots }: SlotTrouble) =>
    `${plural(slots, 'slot')} of ${job} ${slots === 1 ? 'is' : 'are'} due, but no process has started ${slots === 1 ? 'it' : 'them'}. Check that \`serve\` runs with this configuration.`,
  missed: ({ job, slots }: SlotTrouble) =>
    `${plural(slots, 'slot')} of ${job} came due while no process ran, and ${slots === 1 ? 'was' : 'were'} not caught up.`,
};

/** Finds slots of configured jobs only. Slots of removed jobs do not matter. */
async function findSlots({ db, config }: Situation, kind: 'late' | 'missed'): Promise<readonly Found[]> {
  const told = await lastObservations(db, 'job_missed');
  const troubles = await listUnrunSlots(db, told);
  return troubles
    .filter((trouble) => trouble.kind === kind && config.jobs[trouble.job] !== undefined)
    .map((trouble) => ({
      job: trouble.job,
      since: trouble.since,
      summary: TOLD[kind](trouble),
      command: kind === 'late' ? 'npx influencer-sync status' : `npx influencer-sync run ${trouble.job}`,
      page: `/schedules?job=${encodeURIComponent(trouble.job)}`,
    }));
}

function hasFailed({ status, problemCode }: ListedRun): boolean {
  return status === 'failed' || status === 'lost' || problemCode === PROCESS_GONE;
}

function whyOf({ problem }: UnfinishedBackfill, run: ListedRun): string {
  if (run.status !== 'failed') return 'its process died.';
  const words = wordsOf(run.problem ?? problem);
  return /[.…]$/.test(words) ? words : `${words}.`;
}
