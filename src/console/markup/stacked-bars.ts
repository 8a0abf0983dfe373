import { scaleBand, scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';
import type { Html } from '../../core/text/html.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { formatCount } from '../../render/text.ts';
import { anchor, table } from './parts.ts';

export type BarSeries = {
  readonly name: string;
  /** One count per bar. */
  readonly counts: readonly number[];
  /** Number of its colour, from 0, if the same name has the same colour in other charts. Default: its position. */
  readonly color?: number;
};

const WIDTH = 900;
const HEIGHT = 220;
const LEFT = 48;
const BOTTOM = 24;
/** Colours of the style sheet: `.c0` to `.c8`. */
const COLORS = 9;

/**
 * Draws stacked bars, one per label, with the same numbers in a table below.
 *
 * @param options.title what is counted, for screen readers.
 * @param options.unit the unit of a label, `Day` by default.
 * @param options.href address of the rows behind one number; none if nothing lists them.
 */
export function stackedBars(
  labels: readonly string[],
  series: readonly BarSeries[],
  {
    title,
    unit = 'Day',
    href,
  }: {
    readonly title: string;
    readonly unit?: string;
    readonly href?: (label: string, series: string) => string;
  },
): Html {
  const rows = labels.map((_, index) =>
    Object.fromEntries(series.map(({ name, counts }) => [name, counts[index] ?? 0])),
  );
  const highest = Math.max(
    1,
    ...rows.map((row) => Object.values(row).reduce((sum, count) => sum + count, 0)),
  );
  const x = scaleBand(labels, [LEFT, WIDTH]).padding(0.2);
  const y = scaleLinear([0, highest], [HEIGHT - BOTTOM, 8]).nice(4);
  const colorOf = (index: number): number => (series[index]?.color ?? index) % COLORS;
  const layers = stack<Record<string, number>>().keys(series.map(({ name }) => name))(rows);
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}; the table below has the numbers">
${y.ticks(4).map(
  (tick) =>
    html`<path class="axis" d="M${LEFT} ${y(tick)}H${WIDTH}"/><text x="${LEFT - 6}" y="${y(tick) + 4}" text-anchor="end">${formatCount(tick)}</text>
`,
)}
${layers.map((layer, position) =>
  layer.map(([from, to], index) =>
    to === from
      ? null
      : html`<rect class="c${colorOf(position)}" x="${(x(labels[index] ?? '') ?? 0).toFixed(1)}" width="${x.bandwidth().toFixed(1)}" y="${y(to).toFixed(1)}" height="${(y(from) - y(to)).toFixed(1)}"><title>${labels[index]}: ${formatCount(to - from)} ${layer.key.replaceAll('_', ' ')}</title></rect>
`,
  ),
)}
${labels.map((label, index) =>
  index % Math.ceil(labels.length / 8) === 0
    ? html`<text x="${((x(label) ?? 0) + x.bandwidth() / 2).toFixed(1)}" y="${HEIGHT - 6}" text-anchor="middle">${label}</text>
`
    : null,
)}
</svg>
<ul class="legend">${series.map(
    (
      { name },
      position,
    ) => html`<li><svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><rect class="c${colorOf(position)}" width="12" height="12"/></svg> ${name.replaceAll('_', ' ')}</li>
`,
  )}</ul>
<details><summary>The numbers</summary>
${table(
  labels.map((_, index) => index),
  [
    column(unit, (index: number) => labels[index]),
    ...series.map(({ name, counts }) =>
      number(name.replaceAll('_', ' '), (index: number) => {
        const count = formatCount(counts[index] ?? 0);
        return href === undefined || counts[index] === 0
          ? count
          : anchor(href(labels[index] ?? '', name), count);
      }),
    ),
  ],
  { about: title, none: 'None.' },
)}</details>
`;
}
