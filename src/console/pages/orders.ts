import { foldCode } from '../../core/text/fold.ts';
import type { Html } from '../../core/text/html.ts';
import { lastDayOf } from '../../core/time/month.ts';
import { html } from '../../render/html/html.ts';
import { formatCount } from '../../render/text.ts';
import { spellingsOf } from '../../reports/find-handles.ts';
import {
  countFacets,
  countOutcomes,
  listOrders,
  ORDER_FACETS,
  type OrderFacet,
  type OrderFilter,
} from '../../reports/list-orders.ts';
import { definePage, type Visit } from '../console-page.ts';
import { countUpTo, facet, filterForm, orderColumns, pagedTable } from '../markup/parts.ts';
import {
  COUNT_LIMIT,
  dayOf,
  keyOf,
  optionOf,
  PAGE_ROWS,
  queryWithout,
  textOf,
  wordOf,
} from '../read-query.ts';

const PATH = '/orders';
/** Most values of each facet. */
const SHOWN_VALUES = 8;
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
export const ordersPage = definePage(PATH, async (visit) => {
  const order = textOf(visit, 'order');
  if (order !== null) return { redirect: visit.link('/search', { q: order }) };
  const outcome = optionOf(visit, 'outcome', DISPOSITIONS) ?? optionOf(visit, 'disposition', DISPOSITIONS);
  const creator = textOf(visit, 'creator');
  const code = textOf(visit, 'code');
  const link = optionOf(visit, 'link', LINKS);
  const filter: OrderFilter = {
    job: textOf(visit, 'job'),
    source: textOf(visit, 'source'),
    reason: textOf(visit, 'reason')?.toLowerCase().replaceAll(' ', '_') ?? null,
    deal: textOf(visit, 'deal'),
    creator: creator === null ? null : await spellingsOf(visit.db, creator),
    matched: link === null ? code : null,
    matchedWhole: textOf(visit, 'code_is'),
    // The pictures of a code count the orders that carry it, with and without a link.
    code: code === null || link === null ? null : foldCode(code),
    hasLink: link === null ? null : link === 'with',
    from: dayOf(visit, 'from'),
    to: dayOf(visit, 'to'),
  };
  const [rows, { count, facets }, outcomes] = await Promise.all([
    listOrders(visit.db, {
      ...{ ...filter, disposition: outcome },
      ...{
        limit: PAGE_ROWS + 1,
        after: keyOf(visit, { at: 'instant', job: 'text', source: 'text', orderId: 'text' }),
      },
    }),
    countFacets(visit.db, { ...filter, disposition: outcome, limit: COUNT_LIMIT, values: SHOWN_VALUES }),
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
${filterForm(visit, [
  { name: 'outcome', label: '', type: 'hidden', value: outcome === null ? null : wordOf(outcome) },
  { name: 'job', label: '', type: 'hidden' },
  { name: 'source', label: '', type: 'hidden' },
  { name: 'code_is', label: '', type: 'hidden' },
  { name: 'reason', label: 'Reason' },
  { name: 'creator', label: 'Creator' },
  { name: 'deal', label: 'Deal' },
  { name: 'code', label: 'Code' },
  { name: 'link', label: 'Link', options: LINKS },
  { name: 'from', label: 'From', type: 'date' },
  { name: 'to', label: 'To', type: 'date' },
])}
${facetLists(facets, count > COUNT_LIMIT, visit)}
<p class="dim">${countUpTo(count, COUNT_LIMIT)} ${count === 1 ? 'order' : 'orders'}, newest first, as of the last refresh of the reports.</p>
${pagedTable({ rows, visit, about: 'Orders', none: 'There are no orders yet.', key: ['at', 'job', 'source', 'orderId'] }, orderColumns(visit))}`,
  };
});

/** Values of the listed orders by which they can be narrowed, with their counts; the one that is chosen leads back. */
function facetLists(
  facets: Awaited<ReturnType<typeof countFacets>>['facets'],
  isPart: boolean,
  visit: Visit,
): Html | null {
  const lists = ORDER_FACETS.flatMap((name) => {
    const values = facets.filter(({ facet }) => facet === name);
    const chosen = chosenOf(name, visit);
    // One value narrows nothing.
    if (chosen === null && values.length < 2) return [];
    const others = queryWithout(
      visit,
      'after',
      'zone',
      'done',
      ...(name === 'month' ? ['from', 'to'] : name === 'code' ? ['code', 'code_is'] : [name]),
    );
    return html`<nav class="facets" aria-label="By ${name}"><span>${name}</span>${
      chosen !== null
        ? facet(visit.link(PATH, others), chosen, true)
        : values.map(({ value, orders }) =>
            facet(
              visit.link(PATH, {
                ...others,
                ...(name === 'month'
                  ? { from: `${value}-01`, to: lastDayOf(value) }
                  : { [name === 'code' ? 'code_is' : name]: value }),
              }),
              html`${value} <small>${formatCount(orders)}</small>`,
              false,
            ),
          )
    }</nav>
`;
  });
  if (lists.length === 0) return null;
  return html`<details class="filters"><summary>Narrow down</summary>${lists}${isPart ? html`<p class="dim">Of the newest ${formatCount(COUNT_LIMIT)}.</p>` : null}</details>
`;
}

/** The value of a facet that the address has. */
function chosenOf(name: OrderFacet, visit: Visit): string | null {
  if (name === 'code') return textOf(visit, 'code_is') ?? textOf(visit, 'code');
  if (name !== 'month') return textOf(visit, name);
  const [from, to] = [dayOf(visit, 'from'), dayOf(visit, 'to')];
  const month = from?.slice(0, 7) ?? '';
  return from === `${month}-01` && to !== null && to === lastDayOf(month) ? month : null;
}
