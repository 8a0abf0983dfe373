import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount, formatDuration } from '../../../render/text.ts';
import { listDeals, readCoverage, stateOfDeal } from '../../../reports/list-deals.ts';
import type { ConsolePage } from '../../console-page.ts';
import { badge, dealAnchor, filterForm, instant, pagedTable, table } from '../../markup/parts.ts';
import { optionOf, PAGE_ROWS, textOf } from '../../read-query.ts';

const PATH = '/deals';
const STATES = ['active', 'inactive', 'gone'] as const;

/** The deals in the mirror, and how complete the mirror is. */
export const dealsPage: ConsolePage = {
  path: PATH,
  place: 'Creators',
  tab: 'Deals',
  async show(visit) {
    const [rows, coverage] = await Promise.all([
      listDeals(visit.db, {
        limit: PAGE_ROWS + 1,
        after: textOf(visit, 'after'),
        handle: textOf(visit, 'handle'),
        brand: textOf(visit, 'brand'),
        state: optionOf(visit, 'state', STATES),
      }),
      readCoverage(visit.db),
    ]);
    return {
      title: 'Deals',
      content: html`<p>The service has no list of deals. This page shows the deals discovered so far; others may exist. Totals are the service's own, in the currency of the account.</p>
${filterForm(visit, [
  { name: 'handle', label: 'Creator' },
  { name: 'brand', label: 'Brand' },
  { name: 'state', label: 'State', options: STATES },
])}
${pagedTable(
  rows,
  [
    column('Deal', ({ dealId }) => dealAnchor(visit, dealId)),
    column(
      'Creator',
      ({ influencerHandle, platform }) => html`${influencerHandle} <small>${platform}</small>`,
    ),
    column('Brand', ({ brandName, brandId }) => brandName ?? brandId),
    column('Campaign', ({ dealflowName }) => dealflowName),
    column('State', (deal) => badge(stateOfDeal(deal))),
    number('Clicks', ({ totalClicks }) => countOf(totalClicks)),
    number('Orders', ({ totalReferrals }) => countOf(totalReferrals)),
    number('Sales', ({ totalSales }) => countOf(totalSales)),
    column('Read', ({ syncedAt }) =>
      syncedAt === null
        ? 'not yet'
        : html`<small>${formatDuration((visit.now.getTime() - syncedAt.getTime()) / 1000)} ago</small>`,
    ),
  ],
  { visit, about: 'Deals', none: 'The mirror has no such deal.', keyOf: ({ dealId }) => dealId },
)}
<h2>How complete the mirror is</h2>
${
  coverage[0] === undefined
    ? html`<p class="none">Nothing has been mirrored yet. A job of the kind mirror-account does that.</p>`
    : html`<p>As of ${instant(coverage[0].publishedAt, visit)}.</p>
${table(
  coverage,
  [
    column('Discovered through', ({ way }) => way.replaceAll('_', ' ')),
    ...(['known', 'fresh', 'stale', 'unread', 'failing', 'deleted'] as const).map((name) =>
      number(name, (row: (typeof coverage)[number]) => formatCount(row[name])),
    ),
  ],
  { about: 'Coverage of the mirror', none: 'None.' },
)}`
}`,
    };
  },
};

/** Formats the service's number with all its digits. */
function countOf(value: string | null): string | null {
  if (value === null) return null;
  const [whole = '', fraction] = value.split('.');
  return fraction === undefined ? formatCount(whole) : `${formatCount(whole)}.${fraction}`;
}
