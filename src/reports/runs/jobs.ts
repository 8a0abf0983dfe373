import { formatInstant } from '../../core/text/format-instant.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { wrap } from '../../core/text/wrap.ts';
import { renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
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

/** Renders jobs as a table, and below it who paused which job and why. */
export function renderJobs(
  jobs: readonly ListedJob[],
  { terminal, isServed }: { readonly terminal: Terminal; readonly isServed: boolean },
): string {
  const columns = [
    { title: 'job', cutAt: 'never' },
    { title: 'when', cutAt: 'never' },
    { title: 'next slot (UTC)', cutAt: 'never' },
    { title: 'last run', cutAt: 'never' },
    { title: 'state', cutAt: 'never' },
  ] as const;
  const rows = jobs.map((job) => [
    job.job,
    whenOf(job),
    job.nextSlot === null ? '' : formatInstant(job.nextSlot).slice(0, 16),
    job.lastRun === null ? 'never' : `${job.lastRun.runId} ${job.lastRun.status}`,
    job.paused === null ? '' : 'paused',
  ]);
  const notes = jobs.flatMap(({ job, kind, paused }) =>
    paused === null
      ? []
      : [
          `${job} was paused at ${formatInstant(paused.pausedAt)} UTC by ${paused.pausedBy}: ${paused.reason}${kind === null ? ' It is no longer in the configuration.' : ''}`,
        ],
  );
  if (!isServed && jobs.some(({ nextSlot }) => nextSlot !== null))
    notes.push('No process runs jobs on schedule now. Start one: npx influencer-sync serve');
  const wrapped = notes.map((note) =>
    wrap(toPrintableLine(note), { width: terminal.columns, indent: '  ', firstIndent: '' }),
  );
  return `${[renderTable(columns, rows, { terminal }), ...(wrapped.length === 0 ? [] : ['', ...wrapped])].join('\n')}\n`;
}

function whenOf({ kind, schedule, timeZone, after }: ListedJob): string {
  if (schedule !== null) return `${schedule} ${timeZone}`;
  if (after !== null) return `after ${after}`;
  return kind === null ? '' : 'no schedule';
}
