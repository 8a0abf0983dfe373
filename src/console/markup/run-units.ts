import type { Html } from '../../core/text/html.ts';
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
${table<RunUnits>(
  [
    { title: 'Kind', cell: ({ kind }) => kind },
    { title: 'What a unit does', cell: ({ kind }) => DOES[kind] ?? null },
    {
      title: 'Units done',
      cell: ({ done, units: all }) =>
        html`<progress max="${all}" value="${done}" aria-label="Units done">${done} of ${all}</progress> ${formatCount(done)} of ${formatCount(all)}`,
    },
    { title: 'Being done', align: 'right', cell: ({ active }) => formatCount(active) },
    { title: 'Waiting', align: 'right', cell: ({ waiting }) => formatCount(waiting) },
    {
      title: 'Failed',
      align: 'right',
      cell: ({ failed }) => (failed === 0 ? '0' : anchor(visit.link('/workers'), formatCount(failed))),
    },
    { title: 'Not needed', align: 'right', cell: ({ cancelled }) => formatCount(cancelled) },
    { title: 'Amount', align: 'right', cell: ({ kind, counted }) => unitCount(kind, counted) },
  ],
  units,
  { about: 'Units of work of the run', none: '' },
)}
`;
}
