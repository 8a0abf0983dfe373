import type { Html } from '../../core/text/html.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { formatCount, plural } from '../../render/text.ts';
import type { RunUnits } from '../../reports/runs/read-units.ts';
import type { Visit } from '../console-page.ts';
import { anchor, table } from './parts.ts';

/** What a unit of each kind does. */
export const DOES: Readonly<Record<string, string>> = {
  'read-source': 'reads the new files of a source',
  'post-share': 'posts a share of the orders of a run',
  'post-backfill': 'posts a share of the orders of a backfill',
  'fetch-deals': 'reads a share of the deals of a mirror',
  'submit-batches': 'submits a share of the customers of a brand',
};

const COUNTS: Readonly<Record<string, string>> = {
  'read-source': 'row',
  'fetch-deals': 'deal',
  'submit-batches': 'customer',
};

/** How much units of a kind have done: `120 orders`. */
export function unitCount(kind: string, count: number): string {
  return plural(count, COUNTS[kind] ?? 'order');
}

/** Shows what a run has handed out to workers. Empty if it did all of its work itself. */
export function runUnits(units: readonly RunUnits[], visit: Visit): Html | null {
  if (units.length === 0) return null;
  return html`<h2>Done by workers <small>in units of work</small></h2>
${table(
  units,
  [
    column('Kind', ({ kind }) => kind),
    column('What a unit does', ({ kind }) => DOES[kind] ?? null),
    column(
      'Units done',
      ({ done, units: all }) =>
        html`<progress max="${all}" value="${done}" aria-label="Units done">${done} of ${all}</progress> ${formatCount(done)} of ${formatCount(all)}`,
    ),
    number('Being done', ({ active }) => formatCount(active)),
    number('Waiting', ({ waiting }) => formatCount(waiting)),
    number('Failed', ({ failed }) =>
      failed === 0 ? '0' : anchor(visit.link('/workers'), formatCount(failed)),
    ),
    number('Not needed', ({ cancelled }) => formatCount(cancelled)),
    number('Amount', ({ kind, counted }) => unitCount(kind, counted)),
  ],
  { about: 'Units of work of the run', none: '' },
)}
`;
}
