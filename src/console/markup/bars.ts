import { monthsUntil } from '../../core/time/month.ts';
import { type Html, html } from '../../render/html/html.ts';
import { formatCount } from '../../render/text.ts';

export type Bar = {
  /** Below the bar, if it is one of those for which a phone has room: the first, the last, and some between. */
  readonly label: string;
  readonly value: number;
  /** The part of the value that is drawn in another colour. Default: none. */
  readonly part?: number;
  /** What the bar says: `2026-10: 1,200.00 EUR`. */
  readonly name: string;
  /** Address of the rows behind the bar. */
  readonly href?: string | undefined;
};

const MOST_MONTHS = 36;

/**
 * Draws a bar for each month from the first to the last that is known. The months between have one, too, so that distance
 * is time. Null for fewer than two, of which a picture says nothing.
 */
export function monthChart(
  known: readonly string[],
  { label, barOf }: { label: string; barOf: (month: string) => Omit<Bar, 'label'> },
): Html | null {
  const sorted = known.toSorted();
  const [first = '', last = ''] = [sorted[0], sorted.at(-1)];
  if (first === last) return null;
  const months = monthsUntil(last, MOST_MONTHS).filter((month) => month >= first);
  return barChart(
    months.map((month) => ({ ...barOf(month), label: month })),
    { label },
  );
}

const WIDTH = 900;
const HEIGHT = 180;
/** Room for the number at the top of the scale, whose text is largest on a narrow phone. */
const TOP = 34;
/** Room for a label, which is larger on a phone. */
const BOTTOM = 36;
const BETWEEN_LABELS = 300;

/**
 * Draws bars that lead to their rows. They are not in the tab order: a table or list beside them has the same links.
 *
 * @param options.label what is drawn, for screen readers.
 * @param options.line values of the same scale, drawn as a line over the bars: the period before.
 * @param options.band the bars from `from` to `to` have another background, which `name` explains.
 */
export function barChart(
  bars: readonly Bar[],
  {
    label,
    line = [],
    band = null,
  }: {
    label: string;
    line?: readonly number[];
    band?: { readonly from: number; readonly to: number; readonly name: string } | null;
  },
): Html {
  const highest = Math.max(1, ...bars.map(({ value }) => value), ...line);
  const step = WIDTH / Math.max(bars.length, line.length, 12);
  const gaps = Math.round(((bars.length - 1) * step) / BETWEEN_LABELS);
  const labelled = Array.from({ length: gaps + 1 }, (_, index) =>
    Math.round(((bars.length - 1) * index) / Math.max(1, gaps)),
  );
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.max(0, value) / highest);
  const rect = (index: number, { from, to, color }: { from: number; to: number; color: string }): Html =>
    html`<rect class="${color}" x="${((index + 0.15) * step).toFixed(1)}" width="${(step * 0.7).toFixed(1)}" y="${y(to).toFixed(1)}" height="${Math.max(1, y(from) - y(to)).toFixed(1)}"/>`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="group" aria-label="${label}">
${
  band === null
    ? null
    : html`<g role="img" aria-label="${band.name}"><title>${band.name}</title><rect class="c1" opacity="0.3" x="${(band.from * step).toFixed(1)}" width="${((band.to - band.from + 1) * step).toFixed(1)}" y="${TOP}" height="${HEIGHT - TOP - BOTTOM}"/></g>
`
}<path class="axis" d="M0 ${TOP}H${WIDTH}M0 ${HEIGHT - BOTTOM}H${WIDTH}"/>
<text x="0" y="${TOP - 5}">${formatCount(Math.round(highest))}</text>
${bars.map(({ value, part = 0, name, href }, index) => {
  if (value === 0) return null;
  const drawn = html`<title>${name}</title>${rect(index, { from: part, to: value, color: 'c0' })}${part === 0 ? null : rect(index, { from: 0, to: part, color: 'c2' })}`;
  return href === undefined
    ? html`<g role="img" aria-label="${name}">${drawn}</g>
`
    : html`<a href="${href}" tabindex="-1" aria-label="${name}">${drawn}</a>
`;
})}
${line.length === 0 ? null : html`<path class="before" d="M${line.map((value, index) => `${((index + 0.5) * step).toFixed(1)} ${y(value).toFixed(1)}`).join('L')}"/>`}
${labelled.map((index) => labelMarkup(bars[index]?.label ?? '', { index, count: bars.length, step }))}
</svg>
`;
}

/** A label below its bar. Those of the first and last bar stay within the picture. */
function labelMarkup(
  text: string,
  { index, count, step }: { index: number; count: number; step: number },
): Html {
  const [at, anchor] =
    index === 0
      ? [0.1, 'start']
      : index === count - 1 && count * step > WIDTH - 1
        ? [0.9, 'end']
        : [0.5, 'middle'];
  return html`<text x="${((index + Number(at)) * step).toFixed(1)}" y="${HEIGHT - 7}" text-anchor="${anchor}">${text}</text>`;
}

const SPARK_WIDTH = 120;
const SPARK_HEIGHT = 22;

/** Draws values in a row of a table, oldest first. @param label what they are, for screen readers. */
export function sparkline(values: readonly number[], label: string): Html {
  const highest = Math.max(...values, 0);
  if (highest === 0) return html``;
  const step = SPARK_WIDTH / Math.max(12, values.length);
  return html`<svg class="spark" width="${SPARK_WIDTH}" height="${SPARK_HEIGHT}" viewBox="0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}" role="img" aria-label="${label}">${values.map(
    (value, index) => {
      const height = Math.max(value > 0 ? 1.5 : 0, (Math.max(0, value) / highest) * (SPARK_HEIGHT - 2));
      return height === 0
        ? null
        : html`<rect class="c0" x="${(index * step).toFixed(1)}" y="${(SPARK_HEIGHT - height).toFixed(1)}" width="${(step * 0.75).toFixed(1)}" height="${height.toFixed(1)}"/>`;
    },
  )}</svg>`;
}

/** A part of a whole, with the address of its rows. */
export type Share = { readonly name: string; readonly count: number; readonly href?: string };

const SHARE_HEIGHT = 18;
const COLORS = 'var(--accent) #3b74b8 #b8862b #8a62b5 #b34a6a #6c7a89 #c4502e #7d8f2c #c23fb0'.split(' ');

/** Draws how a whole divides into parts, each counted once, with their numbers as a list below. Parts of 0 are left out. */
export function shareBar(parts: readonly Share[], { label }: { label: string }): Html {
  // A part has its colour whether or not others are left out, so that it is the same in each picture of a kind.
  const shown = parts
    .map((part, index) => ({ ...part, color: COLORS[index % COLORS.length] }))
    .filter(({ count }) => count > 0);
  const whole = shown.reduce((sum, { count }) => sum + count, 0);
  let from = 0;
  return html`<svg viewBox="0 0 ${WIDTH} ${SHARE_HEIGHT}" role="img" aria-label="${label}; the list below has the numbers">${shown.map(
    ({ name, count, color }) => {
      const x = from;
      from += (count / whole) * WIDTH;
      return html`<rect fill="${color}" x="${x.toFixed(1)}" width="${Math.max(1, from - x - 1).toFixed(1)}" height="${SHARE_HEIGHT}"><title>${name}: ${formatCount(count)}</title></rect>`;
    },
  )}</svg>
<ul class="legend">${shown.map(
    ({ name, count, href, color }) =>
      html`<li><svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><rect fill="${color}" width="12" height="12"/></svg> ${href === undefined ? html`${name} ${formatCount(count)}` : html`<a href="${href}">${name} ${formatCount(count)}</a>`}</li>
`,
  )}</ul>
`;
}
