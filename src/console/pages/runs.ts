import { didOf, kindOf } from '../../../jobs/index.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { backfillRunName } from '../../core/backfill.ts';
import type { Html } from '../../core/text/html.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { cut, formatDuration } from '../../render/text.ts';
import { countRuns, type ListedRun, listRuns } from '../../reports/runs/list-runs.ts';
import { readTimeline } from '../../reports/runs/read-timeline.ts';
import { describeDid, problemOf } from '../../reports/runs/runs.ts';
import type { ConsolePage, Visit } from '../console-page.ts';
import { anchor, badge, countUpTo, filterForm, instant, pagedTable } from '../markup/parts.ts';
import { slotTimeline, type TimelineCell, type TimelineScale } from '../markup/slot-timeline.ts';
import { COUNT_LIMIT, dayOf, idOf, optionOf, PAGE_ROWS, textOf } from '../read-query.ts';

const PATH = '/runs';
const STATUSES = ['running', 'ok', 'issues', 'failed', 'interrupted', 'lost'];
const DAY_MS = 86_400_000;
/** Default number of days of the timeline. */
const DAYS = 7;
/** In a longer timeline, marks would be too narrow to click. */
const DAYS_AT_MOST = 92;
const SPANS_AT_MOST = 100;
/** Lengths of spans. Each divides a day, so that a span lies within one day. */
const SPAN_MINUTES = [15, 30, 60, 120, 240, 480, 720, 1_440];
const PROBLEM_LENGTH = 160;

/** When jobs ran or should have run, and what each run did. */
export const runsPage: ConsolePage = {
  path: PATH,
  place: 'System',
  tab: 'Runs',
  async show(visit) {
    const { db } = visit;
    const job = textOf(visit, 'job');
    const filter = {
      job,
      status: optionOf(visit, 'status', STATUSES),
      from: dayOf(visit, 'from'),
      to: dayOf(visit, 'to'),
    };
    const scale = scaleOf(visit);
    const jobs = Object.keys(visit.config.jobs).filter((name) => job === null || name === job);
    const until = new Date(scale.from.getTime() + scale.spans * scale.spanSeconds * 1000);
    const [groups, rows, count] = await Promise.all([
      readTimeline(db, { ...scale, jobs, until }),
      listRuns(db, { ...filter, limit: PAGE_ROWS + 1, after: idOf(visit, 'after') }),
      countRuns(db, { ...filter, limit: COUNT_LIMIT }),
    ]);
    const days = Math.round((until.getTime() - scale.from.getTime()) / DAY_MS);
    return {
      title: 'Runs',
      content: html`${filterForm(visit, [
        { name: 'job', label: 'Job', options: withChosen(runNames(visit.config), job) },
        { name: 'status', label: 'Status', options: STATUSES },
        { name: 'from', label: 'From', type: 'date' },
        { name: 'to', label: 'To', type: 'date' },
      ])}
<h2>Due times <small>${days === 1 ? 'of' : `${days} days from`} ${scale.from.toISOString().slice(0, 10)}, days in UTC</small></h2>
${
  groups.length === 0
    ? html`<p class="none">No slot was due on these days. <code>serve</code> runs jobs on schedule; the list below also has the runs that were started with a command.</p>`
    : slotTimeline(jobs, groups, {
        scale,
        hrefOf: (cell) => hrefOf(cell, { visit, days }),
        dayHref: (name, day) => visit.link(PATH, { job: name, from: day, to: day }),
      })
}
<h2>Runs <small>${countUpTo(count, COUNT_LIMIT)}, newest first</small></h2>
${runsTable(rows, visit)}`,
    };
  },
};

/** The names under which runs are recorded: jobs, and their backfills, under names that no job can have. */
function runNames({ jobs }: PipelineConfig): readonly string[] {
  return Object.values(jobs).flatMap((job) =>
    kindOf(job).backfill === 'by_days' ? [job.name, backfillRunName(job.name)] : [job.name],
  );
}

/** Adds the chosen job, which may no longer be in the configuration. */
function withChosen(names: readonly string[], chosen: string | null): readonly string[] {
  return chosen === null || names.includes(chosen) ? names : [...names, chosen];
}

function scaleOf(visit: Visit): TimelineScale {
  const today = visit.now.toISOString().slice(0, 10);
  const last = Date.parse(dayOf(visit, 'to') ?? today);
  const from = dayOf(visit, 'from');
  const first = from === null ? last - (DAYS - 1) * DAY_MS : Date.parse(from);
  const days = Math.min(DAYS_AT_MOST, Math.max(1, Math.round((last - first) / DAY_MS) + 1));
  const minutes = SPAN_MINUTES.find((length) => (days * 1_440) / length <= SPANS_AT_MOST) ?? 1_440;
  return {
    from: new Date(last - (days - 1) * DAY_MS),
    spans: (days * 1_440) / minutes,
    spanSeconds: minutes * 60,
  };
}

/**
 * The page behind a mark: the run if it is a single one, else a closer view, first of the day, then of its
 * slots with the reasons.
 */
function hrefOf(
  { job, from, groups }: TimelineCell,
  { visit, days }: { readonly visit: Visit; readonly days: number },
): string {
  const [first] = groups;
  if (groups.length === 1 && first?.slots === 1 && first.runId !== null)
    return visit.link(`${PATH}/${first.runId}`);
  const day = from.toISOString().slice(0, 10);
  return days > 1
    ? visit.link(PATH, { job, from: day, to: day })
    : visit.link('/schedules', { job, from: day, to: day });
}

function runsTable(runs: readonly ListedRun[], visit: Visit): Html {
  return pagedTable(
    runs,
    [
      column('Run', ({ runId }) => anchor(visit.link(`${PATH}/${runId}`), runId)),
      column('Job', ({ job }) => job),
      column('Status', ({ status }) => badge(status)),
      column('Started', ({ startedAt }) => instant(startedAt, visit)),
      number('Took', ({ status, seconds }) => (status === 'lost' ? '' : formatDuration(seconds))),
      column('Did', (run) => describeDid(run, didOf)),
      column('Problem', (run) => cut(problemOf(run) ?? '', PROBLEM_LENGTH)),
    ],
    { visit, about: 'Runs', none: 'No job has run yet.', keyOf: ({ runId }) => runId },
  );
}
