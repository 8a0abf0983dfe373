import { formatInstant, formatMinute } from '../../core/text/format-instant.ts';
import type { Html } from '../../core/text/html.ts';
import { column } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { cut, formatCount } from '../../render/text.ts';
import type { SlotGroup } from '../../reports/runs/read-timeline.ts';
import { anchor, table } from './parts.ts';

/** The range of a timeline: days in UTC, divided into spans of equal length. */
export type TimelineScale = {
  readonly from: Date;
  readonly spans: number;
  readonly spanSeconds: number;
};

export type TimelineCell = {
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
const DAY_MS = 86_400_000;
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
export function slotTimeline(
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
${table(
  days,
  [
    column('Day', (day: string) => day),
    ...jobs.map((job) =>
      column(job, (day: string) => {
        const ofDay = cells.filter((cell) => cell.job === job && dayOf(cell.from) === day);
        const counts = countStates(ofDay.flatMap((cell) => cell.groups));
        return counts === '' ? '' : anchor(dayHref(job, day), counts);
      }),
    ),
  ],
  { about: 'Slots by day and job', none: 'None.' },
)}</details>
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
  return Array.from({ length: days }, (_, index) => dayOf(new Date(from.getTime() + index * DAY_MS)));
}

function dayOf(at: Date): string {
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
