import { didOf, jobKinds, kindOf, tallyOf } from '../../../jobs/index.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { backfillRunName } from '../../core/backfill.ts';
import { formatMoney } from '../../core/money.ts';
import type { FileCounts } from '../../core/report.ts';
import type { RunActivity, RunRequests, RunStep } from '../../core/run.ts';
import { fileName } from '../../core/text/file-name.ts';
import { formatInstant, formatMinute } from '../../core/text/format-instant.ts';
import { DAY_MS } from '../../core/time/day.ts';
import { type CountsBlock, column, number } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { capital, cut, formatBytes, formatCount, formatDuration, plural } from '../../render/text.ts';
import { sumBelowZero } from '../../reports/list-orders.ts';
import {
  countRuns,
  findRun,
  findRunBefore,
  type ListedRun,
  listRunFiles,
  listRuns,
  type RunFiles,
  readRunActivity,
} from '../../reports/runs/list-runs.ts';
import { findSlotOfRun, readTimeline, type SlotGroup } from '../../reports/runs/list-slots.ts';
import { readRunUnits } from '../../reports/runs/read-units.ts';
import { answerRun, describeDid, linkToTrace, problemOf, sayLeft } from '../../reports/runs/runs.ts';
import { definePage, type Visit } from '../console-page.ts';
import { type Share, shareBar } from '../markup/bars.ts';
import { byDay, byOption, byText, readFilter } from '../markup/filter.ts';
import {
  amountList,
  anchor,
  answerBox,
  badge,
  countUpTo,
  factList,
  missing,
  noted,
  nothing,
  pagedTable,
  table,
  tablePart,
} from '../markup/parts.ts';
import { COUNT_LIMIT, pageOf, wordOf } from '../read-query.ts';
import { runUnits } from './workers.ts';

const PATH = '/runs';
const STATUSES = ['running', 'ok', 'issues', 'failed', 'interrupted', 'lost'];
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
  const { filter, form } = readFilter(visit, {
    job: byText('Job', []),
    status: byOption('Status', STATUSES),
    from: byDay('From'),
    to: byDay('To'),
  });
  const { job } = filter;
  const scale = scaleOf(filter, visit.now);
  const jobs = Object.keys(visit.config.jobs).filter((name) => job === null || name === job);
  const until = new Date(scale.from.getTime() + scale.spans * scale.spanSeconds * 1000);
  const [groups, rows, count] = await Promise.all([
    readTimeline(db, { ...scale, jobs, until }),
    listRuns(db, { ...filter, ...pageOf(visit) }),
    countRuns(db, { ...filter, limit: COUNT_LIMIT }),
  ]);
  const days = Math.round((until.getTime() - scale.from.getTime()) / DAY_MS);
  return {
    title: 'Runs',
    content: html`${form({ job: runNames(visit.config) })}
<h2>Due times <small>${days === 1 ? 'of' : `${days} days from`} ${scale.from.toISOString().slice(0, 10)}, days in UTC</small></h2>
${
  groups.length === 0
    ? nothing({
        none: html`Nothing was due on these days. <code>serve</code> runs jobs on schedule; the list below also has the runs that were started with a command.`,
      })
    : slotTimeline(jobs, groups, {
        scale,
        hrefOf: (cell) => hrefOf(cell, { visit, days }),
        dayHref: (name, day) => visit.link(PATH, { job: name, from: day, to: day }),
      })
}
<h2>Runs <small>${countUpTo(count, COUNT_LIMIT)}, newest first</small></h2>
${pagedTable({ rows, visit, about: 'Runs', none: 'No job has run yet.', key: 'runId' }, [
  column('Run', ({ runId }) => anchor(visit.link(`${PATH}/${runId}`), runId)),
  column('Job', ({ job }) => job),
  column('Status', ({ status }) => badge(status)),
  column('Started', ({ startedAt }) => visit.instant(startedAt)),
  number('Took', ({ status, seconds }) => (status === 'lost' ? '' : formatDuration(seconds))),
  column('Did', (run) => describeDid(run, didOf)),
  column('Problem', (run) =>
    cut(problemOf(run) ?? (run.status === 'issues' ? sayLeft(run, leftOf(run)) : ''), PROBLEM_LENGTH),
  ),
])}`,
  };
});

/** The names under which runs are recorded: jobs, and their backfills, under names that no job can have. */
function runNames({ jobs }: PipelineConfig): readonly string[] {
  return Object.values(jobs).flatMap((job) =>
    kindOf(job).backfill === 'by_days' ? [job.name, backfillRunName(job.name)] : [job.name],
  );
}

function scaleOf({ from, to }: { from: string | null; to: string | null }, now: Date): TimelineScale {
  const last = Date.parse(to ?? now.toISOString().slice(0, 10));
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
  { visit, days }: { visit: Visit; days: number },
): string {
  const [first] = groups;
  if (groups.length === 1 && first?.slots === 1 && first.runId !== null)
    return visit.link(`${PATH}/${first.runId}`);
  const day = from.toISOString().slice(0, 10);
  return days > 1
    ? visit.link(PATH, { job, from: day, to: day })
    : visit.link('/schedules', { job, from: day, to: day });
}

/** The range of a timeline: days in UTC, divided into spans of equal length. */
type TimelineScale = { readonly from: Date; readonly spans: number; readonly spanSeconds: number };

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
  { scale, row, href }: { scale: TimelineScale; row: number; href: string },
): Html {
  const worst = STATES.find((state) => cell.groups.some((group) => group.state === state)) ?? 'done';
  const label = `${cell.job}, ${formatMinute(cell.from)} to ${formatInstant(cell.until).slice(11, 16)} UTC: ${countStates(cell.groups)}`;
  const x = xOf(cell.from, scale);
  const width = Math.max(3, xOf(cell.until, scale) - x - 1);
  return html`<a href="${href}" tabindex="-1" aria-label="${label}"><title>${label}</title>${shapeOf(worst, { x, y: TOP + row * ROW + 4, width })}</a>
`;
}

/** The shape of a state: full if it ran, hollow if nothing ran, low if it was skipped or is still due. */
function shapeOf(state: string, { x, y, width }: { x: number; y: number; width: number }): Html {
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

const SHOWN_FILES = 50;

/** One run: its files, its results, its activity, and a comparison with the previous run. */
export const runPage = definePage('/runs/:run', async (visit) => {
  const { db } = visit;
  const { run: id = '' } = visit.params;
  const run = /^\d{1,18}$/.test(id) ? await findRun(db, id) : null;
  if (run === null) return missing(`Run ${id}`, 'There is no run with this number.');
  const isReported = run.counts !== null;
  const [files, slot, before, activity, units, belowZero] = await Promise.all([
    listRunFiles(db, { runId: run.runId, isReported, limit: SHOWN_FILES }),
    findSlotOfRun(db, run.runId),
    findRunBefore(db, run),
    readRunActivity(db, run.runId),
    readRunUnits(db, run.runId),
    run.status === 'issues' ? sumBelowZero(db) : [],
  ]);
  const byHand = run.job.startsWith('backfill:') ? 'backfill' : 'by hand';
  return {
    title: `Run ${run.runId} of ${run.job}`,
    content: html`${answerBox(answerRun(run, { did: didOf, left: leftOf(run), hasBelowZero: belowZero.some(({ job }) => job === run.job) }), visit)}
${factList([
  ['Status', badge(run.status)],
  ['Exit code', run.exitCode === null ? null : String(run.exitCode)],
  ['Started', visit.instant(run.startedAt)],
  ['Finished', visit.instant(run.finishedAt)],
  ['Took', run.status === 'lost' ? null : formatDuration(run.seconds)],
  [
    'Due time',
    slot === null
      ? byHand
      : html`${visit.instant(slot.slot)}${slot.requestedBy === null ? null : ` requested by ${slot.requestedBy}`}${slot.attempts > 1 ? ` (${plural(slot.attempts, 'attempt')})` : null}`,
  ],
  ['Service', run.service],
  ['Trace', run.traceId === null ? null : traceOf(run.traceId, visit)],
  ['Job', anchor(visit.link('/runs', { job: run.job }), 'all its runs')],
])}
${accounting(run, visit)}
${filesTable(files, run, visit)}${runActivity(activity, run, visit)}
${runUnits(units, visit)}
${before === null ? html`<p class="none">This is the first run of ${run.job}.</p>` : compareRuns(before, run, visit)}`,
  };
});

function leftOf({ kind, counts }: ListedRun): readonly string[] {
  const { watched } = jobKinds.find((one) => one.kind === kind) ?? {};
  return counts === null ? [] : (watched?.leftForPerson?.(counts) ?? []);
}

/** The trace id, as a link if the configuration has an address for traces. */
function traceOf(traceId: string, { config }: Visit): Html | string {
  return config.console.traceUrl === '' ? traceId : anchor(linkToTrace(traceId, config), traceId);
}

/** What became of every row that the run read, and of every item that the job knows afterwards, each counted once. */
function accounting(run: ListedRun, visit: Visit): Html {
  if (run.counts === null)
    return html`<h2>Accounting</h2>
<p class="none">${run.status === 'running' ? 'The counts appear when the run ends.' : 'The run ended before it counted. The next run counts what it read.'}</p>
`;
  const { counts } = run;
  const sum = tallyOf(run.kind, counts);
  return html`<h2>Accounting</h2>
${
  !hasRows(counts) || counts.rows === 0
    ? html`<p class="none">The run read no rows.</p>`
    : html`<h3>${plural(counts.rows, 'row')} of ${plural(counts.files, 'file')}</h3>
${shareBar(
  [
    { name: 'used', count: counts.rows - counts.rejected_rows },
    { name: 'rejected', count: counts.rejected_rows, href: visit.link('/rejected', { run: run.runId }) },
  ],
  { label: 'Rows of its files' },
)}`
}
${
  sum === null || sum.count === 0
    ? null
    : html`<h3>${sum.whole} <small>after this run, each counted once</small></h3>
${shareBar(outcomes(sum), { label: `Results of ${sum.whole}` })}`
}
${
  (run.amounts ?? []).length === 0
    ? null
    : html`<p>Accepted in this run: ${amountList((run.amounts ?? []).map(({ currency, accepted }) => ({ currency, amount: accepted })))}</p>`
}
`;
}

/** The outcomes of a run. Items in no outcome were lost, so they are shown as unaccounted for. */
function outcomes({ count: whole, lines, parts = lines }: CountsBlock): readonly Share[] {
  const counted = parts.reduce((sum, [, count]) => sum + count, 0);
  return [...parts, ['unaccounted for', whole - counted] as const].map(([name, count]) => ({
    name: wordOf(name.replaceAll(' ', '_')),
    count,
  }));
}

function hasRows(counts: object): counts is FileCounts {
  return ['files', 'rows', 'rejected_rows'].every(
    (name) => typeof (counts as Readonly<Record<string, unknown>>)[name] === 'number',
  );
}

function filesTable({ files, total }: RunFiles, run: ListedRun, visit: Visit): Html {
  const shown = tablePart('Files', { rows: files, about: 'Files of the run' }, [
    column('File', ({ source, uri }) =>
      anchor(visit.link('/files', { source, file: fileName(uri) }), fileName(uri)),
    ),
    column('Source', ({ source }) => source),
    column('State', ({ state, holdMessage }) => noted(badge(state), holdMessage)),
    number('Rows', ({ rows }) => (rows === null ? '' : formatCount(rows))),
    number('Rejected', ({ rejectedRows, runId }) =>
      rejectedRows === 0 ? '0' : anchor(visit.link('/rejected', { run: runId }), formatCount(rejectedRows)),
    ),
    column('Read by', ({ runId }) =>
      runId === run.runId
        ? 'this run'
        : html`${anchor(visit.link(`/runs/${runId}`), `run ${runId}`)}, which ended before its report`,
    ),
  ]);
  return html`${shown}${total > files.length ? html`<p class="dim">and ${formatCount(total - files.length)} more, with fewer rows</p>` : null}
`;
}

type Compared = readonly [name: string, before: Html | string, now: Html | string, difference?: string];

/** Compares two runs of a job: status, duration, and the counts and amounts that differ. */
function compareRuns(before: ListedRun, now: ListedRun, visit: Visit): Html {
  const rows: readonly Compared[] = [
    ['Status', badge(before.status), badge(now.status)],
    ['Took', formatDuration(before.seconds), formatDuration(now.seconds)],
    ...differences(countsOf(before), countsOf(now)),
  ];
  const about = `Run ${now.runId} compared with run ${before.runId}`;
  return html`<h2>Compared with ${anchor(visit.link(`/runs/${before.runId}`), `run ${before.runId}`)}</h2>
${before.counts === null ? html`<p>It stored no counts.</p>` : null}
${table({ rows, about, none: 'Nothing to compare.' }, [
  column('What', ([name]) => name),
  number(`Run ${before.runId}`, ([, value]) => value),
  number(`Run ${now.runId}`, ([, , value]) => value),
  number('Difference', ([, , , difference = '']) => difference),
])}`;
}

/** The counts of a run, and what was accepted in each currency: exact text, of which no difference is computed. */
function countsOf({ counts, amounts }: ListedRun): ReadonlyMap<string, unknown> {
  const accepted = (amounts ?? []).map(({ currency, accepted: amount }) => [
    `${wordOf('accepted')}, ${currency}`,
    formatMoney(amount, currency),
  ]);
  return new Map([...flatten(counts ?? {}), ...flatten(Object.fromEntries(accepted))]);
}

function differences(
  old: ReadonlyMap<string, unknown>,
  current: ReadonlyMap<string, unknown>,
): readonly Compared[] {
  return [...new Set([...current.keys(), ...old.keys()])].flatMap((name): readonly Compared[] => {
    const [one, other] = [old.get(name), current.get(name)];
    // What a run does not count is 0 of it: a job's counts may have grown since.
    if ((one ?? 0) === (other ?? 0)) return [];
    const words = name
      .replace(/^entries: /, '')
      .split(': ')
      .map(wordOf)
      .join(': ');
    if (typeof one !== 'number' || typeof other !== 'number') return [[words, shown(one), shown(other)]];
    const sign = other > one ? '+' : '−';
    return [[words, shown(one), shown(other), `${sign}${formatCount(Math.abs(other - one))}`]];
  });
}

/** Flattens counts: `{entries: {accepted: 3}}` becomes `entries: accepted` with 3. */
function flatten(counts: object, prefix = ''): ReadonlyMap<string, unknown> {
  return new Map(
    Object.entries(counts).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'object' && value !== null
        ? [...flatten(value, `${prefix}${name}: `)]
        : [[`${prefix}${name}`, value] as const],
    ),
  );
}

function shown(value: unknown): string {
  if (typeof value === 'number') return formatCount(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : '';
}

/** Shows what a run did: steps, requests and messages. */
function runActivity({ steps, requests, messages }: RunActivity, run: ListedRun, visit: Visit): Html {
  return html`${tablePart('Steps', { rows: steps, about: 'Steps of the run' }, [
    column(
      'Step',
      ({ label, times }) =>
        html`${label}${times > 1 ? html` <small>and ${formatCount(times - 1)} more</small>` : null}`,
    ),
    column('Began', ({ startedAt }) => visit.instant(startedAt, { seconds: true })),
    number('Took', (step) => html`${formatSeconds(step.seconds)}${endOf(step, run)}`),
    number('Done', describeDone),
    column('Unit', ({ unit }) => unit),
  ])}
${tablePart('Requests to the service', { rows: requests, about: 'Requests to the service of the run' }, [
  column('Operation', ({ operation }) => operation),
  ...(['requests', 'answered', 'refused', 'throttled', 'failed'] as const).map((name) =>
    number(capital(name), (each: RunRequests) => formatCount(each[name])),
  ),
  number('Median', ({ medianMs }) => formatMs(medianMs)),
  number('95 %', ({ p95Ms }) => formatMs(p95Ms)),
  number('Slowest', ({ slowestMs }) => formatMs(slowestMs)),
])}
${
  messages.length === 0
    ? null
    : html`<h2>Messages</h2>
<ol class="messages">${messages.map(({ at, message }) => html`<li>${visit.instant(at, { seconds: true })} ${message}</li>`)}</ol>`
}
`;
}

/** A step without an end is the current one, or the one in which the process died. */
function endOf({ finishedAt }: RunStep, { status }: ListedRun): string | null {
  if (finishedAt !== null) return null;
  return status === 'running' ? ' so far' : '; the process died during this step';
}

function describeDone({ done, total, unit }: RunStep): string {
  const format = unit === 'bytes' ? formatBytes : formatCount;
  if (total === null) return done === 0 ? '' : format(done);
  return done === total ? format(done) : `${format(done)} of ${format(total)}`;
}

function formatSeconds(seconds: number): string {
  return seconds < 10 ? `${seconds.toFixed(1)} s` : formatDuration(seconds);
}

function formatMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${formatCount(Math.round(ms))} ms`;
}
