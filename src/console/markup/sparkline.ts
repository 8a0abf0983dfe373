import type { Html } from '../../core/text/html.ts';
import { html } from '../../render/html/html.ts';

const WIDTH = 120;
const HEIGHT = 24;

/** Draws values in a row of a table, oldest first. @param label what they are, for screen readers. */
export function sparkline(values: readonly number[], label: string): Html {
  const highest = Math.max(...values, 0);
  if (highest === 0) return html``;
  const step = WIDTH / Math.max(12, values.length);
  return html`<svg class="spark" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">${values.map(
    (value, index) => {
      const height = Math.max(value > 0 ? 1.5 : 0, (Math.max(0, value) / highest) * (HEIGHT - 2));
      return html`<rect class="c0" x="${(index * step).toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}" width="${(step * 0.75).toFixed(1)}" height="${height.toFixed(1)}"/>`;
    },
  )}</svg>`;
}
