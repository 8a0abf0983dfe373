import { didOf, kindOf } from '../../../jobs/index.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { backfillRunName } from '../../core/backfill.ts';
import { formatInstant, formatMinute } from '../../core/text/format-instant.ts';
import type { Html } from '../../core/text/html.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { cut, formatCount, formatDuration } from '../../render/text.ts';
import { countRuns, type ListedRun, listRuns } from '../../reports/runs/list-runs.ts';
import { readTimeline, type SlotGroup } from '../../reports/runs/read-timeline.ts';
import { describeDid, problemOf } from '../../reports/runs/runs.ts';
import { definePage, type Visit } from '../console-page.ts';
import { anchor, badge, countUpTo, filterForm, instant, pagedTable, table } from '../markup/parts.ts';
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
export const runsPage = definePage(PATH, async (visit) => {
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
});

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
  return pagedTable({ rows: runs, visit, about: 'Runs', none: 'No job has run yet.', key: 'runId' }, [
    column('Run', ({ runId }) => anchor(visit.link(`${PATH}/${runId}`), runId)),
    column('Job', ({ job }) => job),
    column('Status', ({ status }) => badge(status)),
    column('Started', ({ startedAt }) => instant(startedAt, visit)),
    number('Took', ({ status, seconds }) => (status === 'lost' ? '' : formatDuration(seconds))),
    column('Did', (run) => describeDid(run, didOf)),
    column('Problem', (run) => cut(problemOf(run) ?? '', PROBLEM_LENGTH)),
  ]);
}

/** The range of a timeline: days in UTC, divided into spans of equal length. */
type TimelineScale = {
  readonly from: Date;
  readonly spans: number;
  readonly spanSeconds: number;
};

type TimelineCell = {
  readonly job: string;
  readonly from: Date;
  readonly until: Date;
  readonly groups: readonly SlotGroup[];
};

const WIDTH = 960;
const LEFT = 170;
const ROW = 26;
const TOP = 20;
const CELL = 18;
/** Maximum number of day labels that fit. */
const LABELS = 8;

/**
 * States from worst to best. The worst state of a span determines its mark. Marks also differ in shape,
 * because not everyone can distinguish the colours.
 */
const STATES = ['failed', 'missed', 'late', 'skipped', 'running', 'due', 'waiting', 'done'] as const;

/**
 * Draws a timeline with a row per job and a mark for each span that has slots, and the same data as a table
 * by day below.
 *
 * @param options.hrefOf address of the page behind a mark.
 * @param options.dayHref address of the page for a job and a day, such as `2026-04-10`.
 */
function slotTimeline(
  jobs: readonly string[],
  groups: readonly SlotGroup[],
  options: {
    readonly scale: TimelineScale;
    readonly hrefOf: (cell: TimelineCell) => string;
    readonly dayHref: (job: string, day: string) => string;
  },
): Html {
  const { scale, hrefOf, dayHref } = options;
  const height = TOP + jobs.length * ROW;
  const cells = cellsOf(groups, scale);
  const days = daysOf(scale);
  return html`<section class="wide" tabindex="0" aria-label="Timeline of slots"><svg class="timeline" viewBox="0 0 ${WIDTH} ${height}" role="group" aria-label="Slots of each job, from ${days[0] ?? ''} to ${days.at(-1) ?? ''}; the table below has the numbers">
${days.map((day, index) => {
  const x = xOf(new Date(day), scale).toFixed(1);
  return html`<path class="axis" d="M${x} ${TOP - 6}V${height}"/>${index % Math.ceil(days.length / LABELS) === 0 ? html`<text x="${x}" y="${TOP - 8}">${day}</text>` : null}
`;
})}
${jobs.map(
  (job, index) => html`<text x="0" y="${TOP + index * ROW + 17}">${cut(job, 24)}<title>${job}</title></text>
`,
)}
${cells.map((cell) => markOf(cell, { scale, row: jobs.indexOf(cell.job), href: hrefOf(cell) }))}
</svg></section>
<ul class="legend">${STATES.filter((state) => groups.some((group) => group.state === state)).map(
    (state) =>
      html`<li><svg width="14" height="18" viewBox="0 0 14 18" aria-hidden="true">${shapeOf(state, { x: 1, y: 0, width: 12 })}</svg> ${state}</li>
`,
  )}</ul>
<details><summary>The numbers</summary>
${table({ rows: days, about: 'Slots by day and job', none: 'None.' }, [
  column('Day', (day: string) => day),
  ...jobs.map((job) =>
    column(job, (day: string) => {
      const ofDay = cells.filter((cell) => cell.job === job && startOfDay(cell.from) === day);
      const counts = countStates(ofDay.flatMap((cell) => cell.groups));
      return counts === '' ? '' : anchor(dayHref(job, day), counts);
    }),
  ),
])}</details>
`;
}

function cellsOf(
  groups: readonly SlotGroup[],
  { from, spanSeconds }: TimelineScale,
): readonly TimelineCell[] {
  const cells = new Map<string, SlotGroup[]>();
  for (const group of groups) {
    const key = JSON.stringify([group.job, group.span]);
    cells.set(key, [...(cells.get(key) ?? []), group]);
  }
  return [...cells.values()].flatMap((some) => {
    const [first] = some;
    if (first === undefined) return [];
    const begin = from.getTime() + first.span * spanSeconds * 1000;
    return [
      { job: first.job, from: new Date(begin), until: new Date(begin + spanSeconds * 1000), groups: some },
    ];
  });
}

function daysOf({ from, spans, spanSeconds }: TimelineScale): readonly string[] {
  const days = Math.round((spans * spanSeconds * 1000) / DAY_MS);
  return Array.from({ length: days }, (_, index) => startOfDay(new Date(from.getTime() + index * DAY_MS)));
}

function startOfDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function xOf(at: Date, { from, spans, spanSeconds }: TimelineScale): number {
  return LEFT + ((at.getTime() - from.getTime()) / (spans * spanSeconds * 1000)) * (WIDTH - LEFT);
}

/** Draws a mark. It is not in the tab order, because the table offers the same links with fewer stops. */
function markOf(
  cell: TimelineCell,
  { scale, row, href }: { readonly scale: TimelineScale; readonly row: number; readonly href: string },
): Html {
  const worst = STATES.find((state) => cell.groups.some((group) => group.state === state)) ?? 'done';
  const label = `${cell.job}, ${formatMinute(cell.from)} to ${formatInstant(cell.until).slice(11, 16)} UTC: ${countStates(cell.groups)}`;
  const x = xOf(cell.from, scale);
  const width = Math.max(3, xOf(cell.until, scale) - x - 1);
  return html`<a href="${href}" tabindex="-1" aria-label="${label}"><title>${label}</title>${shapeOf(worst, { x, y: TOP + row * ROW + 4, width })}</a>
`;
}

/** The shape of a state: full if it ran, hollow if nothing ran, low if it was skipped or is still due. */
function shapeOf(
  state: string,
  { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
): Html {
  const height = state === 'skipped' || state === 'waiting' || state === 'due' ? CELL / 2 : CELL;
  return html`<rect class="slot ${state}" x="${x.toFixed(1)}" y="${(y + CELL - height).toFixed(1)}" width="${width.toFixed(1)}" height="${height}"/>`;
}

/** Counts slots by state as text: `22 done, 1 missed`. */
function countStates(groups: readonly SlotGroup[]): string {
  return STATES.map((state) => ({
    state,
    slots: groups.filter((group) => group.state === state).reduce((sum, group) => sum + group.slots, 0),
  }))
    .filter(({ slots }) => slots > 0)
    .map(({ state, slots }) => `${formatCount(slots)} ${state}`)
    .join(', ');
}
