import { formatMoney } from '../../core/money.ts';
import type { Html } from '../../core/text/html.ts';
import { html } from '../../render/html/html.ts';

/** An amount of each day of a month, by the number of the day from 1. */
export type DaysOfMonth = ReadonlyMap<number, string>;

const WIDTH = 900;
const HEIGHT = 150;
const TOP = 8;
const BOTTOM = 22;

/**
 * Draws a month by day: bars that lead to the orders of their day, and the month before as a line.
 *
 * @param options.days number of days of the month.
 */
export function monthChart(
  { now, before }: { readonly now: DaysOfMonth; readonly before: DaysOfMonth },
  {
    currency,
    days,
    label,
    href,
  }: {
    readonly currency: string;
    readonly days: number;
    readonly label: string;
    readonly href: (day: number) => string;
  },
): Html {
  const highest = Math.max(1, ...[...now.values(), ...before.values()].map(Number));
  const step = WIDTH / Math.max(days, 31);
  const y = (amount: string | undefined) =>
    TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.max(0, Number(amount ?? 0)) / highest);
  const all = Array.from({ length: Math.max(days, 31) }, (_, index) => index + 1);
  const line = all
    .map((day) => `${((day - 0.5) * step).toFixed(1)} ${y(before.get(day)).toFixed(1)}`)
    .join('L');
  return html`<svg class="month" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="group" aria-label="${label}">
<path class="axis" d="M0 ${HEIGHT - BOTTOM}H${WIDTH}"/>
${all.map((day) => {
  const amount = now.get(day);
  if (amount === undefined) return null;
  const x = (day - 1) * step + step * 0.15;
  const name = `${day}: ${formatMoney(amount, currency)}`;
  return html`<a href="${href(day)}" tabindex="-1" aria-label="${name}"><title>${name}</title><rect class="c0" x="${x.toFixed(1)}" width="${(step * 0.7).toFixed(1)}" y="${y(amount).toFixed(1)}" height="${Math.max(1, HEIGHT - BOTTOM - y(amount)).toFixed(1)}" rx="2"/></a>
`;
})}
${before.size === 0 ? null : html`<path class="before" d="M${line}"/>`}
${all
  .filter((day) => day === 1 || day % 5 === 0)
  .map(
    (day) =>
      html`<text x="${((day - 0.5) * step).toFixed(1)}" y="${HEIGHT - 5}" text-anchor="middle">${day}</text>`,
  )}
</svg>
`;
}
