import type { PipelineConfig } from '../../config/schema.ts';
import { BELOW_ZERO } from '../../core/held/held-order.ts';
import { formatAmounts } from '../../core/money.ts';
import { formatInstant, formatMinute } from '../../core/text/format-instant.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import type { NextSlot } from '../../ops/schedule/next-slots.ts';
import { type Block, column, item, number, type Part, section, table, whole } from '../../render/block.ts';
import { clause, formatDuration } from '../../render/text.ts';
import { belowZeroPage } from '../list-orders.ts';
import type { Answer } from '../lives/answer-order.ts';
import type { ListedRun } from './list-runs.ts';
import type { ListedSlot, PausedJob, SlotSummary } from './list-slots.ts';

/**
 * Describes what a run did in a few words, from its kind and counts: `32 posted`. Empty if the kind no longer exists.
 */
export type DidOfRun = (kind: string, counts: object) => string;

const LOST = 'its process does not respond; the next run of the job continues where it stopped';

/** Describes runs as a table, and below it the problems of failed runs. */
export function describeRuns(runs: readonly ListedRun[], did: DidOfRun): readonly Part[] {
  return [
    table(runs, [
      number('run', ({ runId }) => runId),
      whole('job', ({ job }) => job),
      whole('status', ({ status }) => status),
      whole('started (UTC)', ({ startedAt }) => formatMinute(startedAt)),
      number('took', ({ status, seconds }) => (status === 'lost' ? null : formatDuration(seconds))),
      whole('did', (run) => describeDid(run, did)),
    ]),
    ...runs.flatMap((run) => {
      const problem = problemOf(run);
      return problem === null ? [] : [item(`run ${run.runId}: ${problem}`)];
    }),
  ];
}

/**
 * What a run did, with its accepted amounts: `32 posted, 880.80 EUR, 267.52 GBP`. Empty if the run stored no counts.
 */
export function describeDid(run: Pick<ListedRun, 'kind' | 'counts' | 'amounts'>, did: DidOfRun): string {
  if (run.counts === null) return '';
  const accepted = (run.amounts ?? []).map(({ currency, accepted: amount }) => ({ currency, amount }));
  return [did(run.kind, run.counts), formatAmounts(accepted)].filter((part) => part !== '').join(', ');
}

/** The address of a trace, or its id if no address is configured. */
export function linkToTrace(traceId: string, { console: pages }: Pick<PipelineConfig, 'console'>): string {
  return pages.traceUrl === '' ? traceId : pages.traceUrl.replaceAll('{trace_id}', traceId);
}

/** Why a run did not complete; null if it did. */
export function problemOf({ status, problem }: Pick<ListedRun, 'status' | 'problem'>): string | null {
  return status === 'lost' ? LOST : problem;
}

/**
 * How a run ended, in a sentence, and what it left for a person.
 *
 * @param options.left what its kind says that it left, each as a clause.
 * @param options.hasBelowZero whether orders of the job are below zero now (`sumBelowZero`).
 */
export function answerRun(
  run: ListedRun,
  { did, left, hasBelowZero }: { did: DidOfRun; left: readonly string[]; hasBelowZero: boolean },
): Answer {
  const { job, status, exitCode, help } = run;
  const problem = problemOf(run);
  const what = describeDid(run, did);
  const done = what === '' ? '' : `: ${what}`;
  const command = `npx influencer-sync run ${job}`;
  switch (status) {
    case 'running':
      return { text: `It is running since ${formatMinute(run.startedAt)} UTC.`, tone: 'dim', next: null };
    case 'ok':
      return { text: `It finished${done}.`, tone: 'green', next: null };
    case 'issues': {
      const why = problem === null ? '' : ` ${problem}`;
      const text = `It finished${done}.${why} ${sayLeft(run, left)}`;
      const status = 'npx influencer-sync status';
      // What has a line in Fix comes first. Rows below zero have none: they are corrected in the export.
      if (leftIn(run).length > 0 || countIn(run.counts, 'excluded', BELOW_ZERO) === 0)
        return { text, tone: 'yellow', next: { label: 'See what waits', page: '/fix', command: status } };
      const next = { label: 'See the rows below zero', page: belowZeroPage(job), command: status };
      return hasBelowZero
        ? { text, tone: 'yellow', next }
        : { text: `${text} No row of ${job} is below zero any more.`, tone: 'dim', next: null };
    }
    default: {
      const why = problem === null ? 'the reason was not recorded' : problem.replace(/\.$/, '');
      const end =
        status === 'failed' && exitCode !== null
          ? `It failed with exit code ${exitCode}`
          : `It was ${status}`;
      return {
        text: `${end}: ${why}.${help === null ? '' : ` ${help}`}`,
        tone: 'red',
        next: { label: 'Run it again', page: `/schedules?${new URLSearchParams({ job })}`, command },
      };
    }
  }
}

/** What a run with issues left for a person. @param left what its kind says that it left, each as a clause. */
export function sayLeft(run: ListedRun, left: readonly string[]): string {
  const waits = [...left, ...leftIn(run)];
  return waits.length === 0
    ? `Something waits for a person (exit code ${run.exitCode}).`
    : `Left for a person: ${waits.join(', ')}.`;
}

/** What a run of every kind may have left that waits for a person. */
function leftIn({ counts, heldFiles }: ListedRun): readonly string[] {
  const since = 'stated in another currency since';
  return [
    ...clause(heldFiles, 'held file', 'held files'),
    ...clause(countIn(counts, 'entries', 'in_doubt'), 'order in doubt', 'orders in doubt'),
    ...clause(countIn(counts, 'entries', 'rejected'), 'refused order', 'refused orders'),
    ...clause(countIn(counts, 'entries', 'held'), 'held order', 'held orders'),
    ...clause(countIn(counts, 'other_currency'), `order ${since}`, `orders ${since}`),
    ...clause(countIn(counts, 'rejected_rows'), 'rejected row', 'rejected rows'),
  ];
}

/** A count by its path, also of a run of an older version. 0 if the run has not counted it. */
function countIn(counts: object | null, ...path: readonly string[]): number {
  const value = path.reduce<unknown>(
    (from, name) => (from as Record<string, unknown> | null)?.[name],
    counts,
  );
  return typeof value === 'number' ? value : 0;
}

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
      toPrintableLine(
        `${job} was paused at ${formatInstant(paused.pausedAt)} UTC by ${paused.pausedBy}: ${paused.reason}${gone}`,
      ),
    );
  });
  const isIdle = !isServed && jobs.some(({ nextSlot }) => nextSlot !== null);
  return section('Jobs', {
    parts: [
      table(jobs, [
        whole('job', ({ job }) => job),
        whole('when', whenJob),
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

function whenJob({ kind, schedule, timeZone, after }: ListedJob): string {
  if (schedule !== null) return `${schedule} ${timeZone}`;
  if (after !== null) return `after ${after}`;
  return kind === null ? '' : 'no schedule';
}

/** Describes the next slots and the results of past ones. Empty if no job runs on schedule. */
export function describeSchedule(
  next: readonly NextSlot[],
  { slots, pausedJobs }: { slots: readonly SlotSummary[]; pausedJobs: readonly PausedJob[] },
): readonly Block[] {
  if (next.length === 0) return [];
  const rows = next.map((job) => ({ ...job, last: slots.find((one) => one.job === job.job)?.last ?? null }));
  return section('Schedule (kept by `serve`)', {
    parts: [
      table(rows, [
        column('job', ({ job }) => job),
        column('when', ({ schedule, timeZone, after }) =>
          schedule === null ? `after ${after}` : timeZone === 'UTC' ? schedule : `${schedule} ${timeZone}`,
        ),
        whole('next slot (UTC)', ({ at }) => formatMinute(at)),
        whole('last slot (UTC)', ({ last }) => formatMinute(last?.slot ?? null)),
        whole('was', ({ last }) => last?.state ?? null),
      ]),
      ...pausedJobs.map(({ job, pausedBy, reason, pausedAt }) =>
        item(
          `${job}: paused since ${formatMinute(pausedAt)} by ${pausedBy}: ${reason}. Its slots are skipped. Resume it with npx influencer-sync jobs resume, or in the console.`,
          null,
          'yellow',
        ),
      ),
      ...slots.flatMap(describeTrouble),
    ],
  });
}

function describeTrouble({ job, last, ...counts }: SlotSummary): readonly Part[] {
  const parts = (['missed', 'skipped', 'failed'] as const).flatMap((state) =>
    clause(counts[state], `slot ${state}`, `slots ${state}`),
  );
  if (parts.length === 0) return [];
  const why = last.reason === null || last.state === 'due' ? '' : ` The last one: ${last.reason}`;
  return [item(`${job}: ${parts.join(', ')} in the last 7 days.${why}`, null, 'yellow')];
}

/** Describes slots that did not run or did not complete, each with its reason. Empty if there are none. */
export function describeSlotTroubles(slots: readonly ListedSlot[]): readonly Block[] {
  return section('Slots that did not succeed (UTC)', {
    parts: slots.map(({ job, slot, state, reason, runId }) => {
      const run = runId === null ? '' : ` (run ${runId})`;
      return item(`${formatMinute(slot)} ${job} ${state}${run}: ${reason ?? ''}`);
    }),
  });
}
