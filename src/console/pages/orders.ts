import { foldCode } from '../../core/text/fold.ts';
import { html } from '../../render/html/html.ts';
import { formatCount } from '../../render/text.ts';
import {
  countOrders,
  countOutcomes,
  listOrders,
  type OrderFilter,
  type OrderKey,
} from '../../reports/list-orders.ts';
import type { ConsolePage, Visit } from '../console-page.ts';
import { countUpTo, facet, filterForm, orderColumns, pagedTable, stateOf, wordOf } from '../markup/parts.ts';
import { COUNT_LIMIT, dayOf, keyOf, PAGE_ROWS, queryWithout, textOf, writeKey } from '../read-query.ts';

const PATH = '/orders';
const DISPOSITIONS = [
  'accepted',
  'ready',
  'in_doubt',
  'rejected',
  'held',
  'unattributed',
  'excluded',
  'organic',
];

const LINKS = ['with', 'without'] as const;

/** Orders by outcome. */
export const ordersPage: ConsolePage = {
  path: PATH,
  place: 'Orders',
  tab: 'Orders',
  async show(visit) {
    const order = textOf(visit, 'order');
    if (order !== null) return { redirect: visit.link('/search', { q: order }) };
    const outcome = stateOf(textOf(visit, 'outcome') ?? textOf(visit, 'disposition'));
    const code = textOf(visit, 'code');
    const link = LINKS.find((one) => one === textOf(visit, 'link')) ?? null;
    const filter: OrderFilter = {
      job: textOf(visit, 'job'),
      source: textOf(visit, 'source'),
      reason: textOf(visit, 'reason')?.toLowerCase().replaceAll(' ', '_') ?? null,
      deal: textOf(visit, 'deal'),
      code: code === null ? null : foldCode(code),
      hasLink: link === null ? null : link === 'with',
      from: dayOf(visit, 'from'),
      to: dayOf(visit, 'to'),
    };
    const [rows, count, outcomes] = await Promise.all([
      listOrders(visit.db, {
        ...{ ...filter, disposition: outcome },
        ...{ limit: PAGE_ROWS + 1, after: readKey(visit) },
      }),
      countOrders(visit.db, { ...filter, disposition: outcome, limit: COUNT_LIMIT }),
      countOutcomes(visit.db, filter),
    ]);
    const others = queryWithout(visit, 'outcome', 'disposition', 'after', 'zone', 'done');
    return {
      title: 'Orders',
      content: html`<nav class="facets" aria-label="Outcomes">${facet(visit.link(PATH, others), 'all', outcome === null)}${DISPOSITIONS.flatMap(
        (state) => {
          const orders = outcomes?.find(({ disposition }) => disposition === state)?.orders ?? 0;
          if (outcomes !== null && orders === 0 && state !== outcome) return [];
          const word = wordOf(state);
          return facet(
            visit.link(PATH, { ...others, outcome: word }),
            html`${word}${outcomes === null ? null : html` <small>${formatCount(orders)}</small>`}`,
            state === outcome,
          );
        },
      )}</nav>
${filterForm(visit, PATH, [
  { name: 'outcome', label: '', type: 'hidden', value: outcome === null ? null : wordOf(outcome) },
  { name: 'job', label: 'Job', options: Object.keys(visit.config.jobs) },
  { name: 'source', label: 'Source', options: Object.keys(visit.config.sources) },
  { name: 'reason', label: 'Reason' },
  { name: 'deal', label: 'Deal' },
  { name: 'code', label: 'Code' },
  { name: 'link', label: 'Link', options: LINKS },
  { name: 'from', label: 'From', type: 'date' },
  { name: 'to', label: 'To', type: 'date' },
])}
<p class="dim">${countUpTo(count, COUNT_LIMIT)} ${count === 1 ? 'order' : 'orders'}, newest first, as of the last refresh of the reports.</p>
${pagedTable(rows, orderColumns(visit), {
  visit,
  about: 'Orders',
  none: 'There are no orders yet.',
  keyOf: ({ at, job, source, orderId }) => writeKey(at, job, source, orderId),
})}`,
    };
  },
};

/** Null if the query has no valid key; the list then starts at the beginning. */
function readKey(visit: Visit): OrderKey | null {
  const [at = '', job = '', source = '', orderId = ''] = keyOf(visit, 4) ?? [];
  return /^\d{4}-/.test(at) && !Number.isNaN(Date.parse(at)) ? { at, job, source, orderId } : null;
}
