import { sayStateReason } from '../../core/held/held-order.ts';
import { formatMoney } from '../../core/money.ts';
import { fileName } from '../../core/text/file-name.ts';
import { foldCode } from '../../core/text/fold.ts';
import { foldOrderId } from '../../core/text/order-key.ts';
import { shellWord } from '../../core/text/printable.ts';
import { lastDayOf } from '../../core/time/month.ts';
import { column, number } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { capital, formatCount, plural } from '../../render/text.ts';
import { countRejected } from '../../reports/files/list-rejected.ts';
import { spellingsOf } from '../../reports/find-handles.ts';
import {
  countFacets,
  countOutcomes,
  listOrders,
  ORDER_FACETS,
  type OrderFacet,
  type OrderFilter,
} from '../../reports/list-orders.ts';
import { answerOrder } from '../../reports/lives/answer-order.ts';
import type { EntryLife } from '../../reports/lives/entry-lives.ts';
import { explainOrder, type OrderAttribution, type OrderVersion } from '../../reports/lives/explain-order.ts';
import { factsOfVersion, roleOf } from '../../reports/lives/lives.ts';
import { definePage, type ShownPage, type Visit } from '../console-page.ts';
import { byDay, byOption, byText, byWord, hidden, readFilter } from '../markup/filter.ts';
import {
  anchor,
  answerBox,
  badge,
  countUpTo,
  facet,
  factList,
  lifeList,
  missing,
  noted,
  orderColumns,
  pagedTable,
  tablePart,
} from '../markup/parts.ts';
import { COUNT_LIMIT, dayOf, keyedPageOf, optionOf, queryWithout, textOf, wordOf } from '../read-query.ts';

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

/** Whether an order carries a link beside the code. Each of them is about the orders that carry the code. */
const LINKS = ['with', 'without', 'either'] as const;

/** Orders by outcome. */
export const ordersPage = definePage(PATH, async (visit) => {
  const order = textOf(visit, 'order');
  if (order !== null) return { redirect: visit.link('/search', { q: order }) };
  const asked = readFilter(visit, {
    outcome: hidden(
      (asked, name) => optionOf(asked, name, DISPOSITIONS) ?? optionOf(asked, 'disposition', DISPOSITIONS),
    ),
    job: hidden(textOf),
    source: hidden(textOf),
    code_is: hidden(textOf),
    reason: byWord('Reason'),
    creator: byText('Creator'),
    deal: byText('Deal'),
    code: byText('Code'),
    link: byOption('Link', LINKS),
    from: byDay('From'),
    to: byDay('To'),
  });
  const { outcome, code_is: matchedWhole, reason, creator, code, link, ...of } = asked.filter;
  const filter: OrderFilter = {
    ...of,
    matchedWhole,
    reason,
    creator: creator === null ? null : await spellingsOf(visit.db, creator),
    matched: link === null ? code : null,
    // The pictures of a code count the orders that carry it, with and without a link.
    code: code === null || link === null ? null : foldCode(code),
    hasLink: link === null || link === 'either' ? null : link === 'with',
  };
  const [rows, { count, facets }, outcomes] = await Promise.all([
    listOrders(visit.db, {
      ...filter,
      disposition: outcome,
      ...keyedPageOf(visit, { at: 'instant', job: 'text', source: 'text', orderId: 'text' }),
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
${asked.form()}
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
              noted(value, formatCount(orders)),
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

/** The history of one order, from the line in the file to the service's answer. */
export const orderPage = definePage('/orders/:source/:order', async (visit) => {
  const { source = '', order = '' } = visit.params;
  const lives = await explainOrder(visit.db, {
    ...(source === '-' ? { order } : { order, source }),
    isWhole: true,
  });
  const life = lives.find(({ orderId }) => orderId === order || orderId === foldOrderId(order)) ?? lives[0];
  if (life === undefined) return notFound(visit, { source, order });
  const { orderId, orderName } = life;
  const name = orderName === null || orderName === orderId ? '' : ` (${orderName})`;
  return {
    title: `Order ${orderId}${name}`,
    content: html`${answerBox(answerOrder(life), visit)}
<p class="dim">Source ${life.source ?? 'unknown'}. <code>npx influencer-sync explain order ${shellWord(orderId)}</code> shows the same.</p>
${tablePart('Compare with', { rows: life.alike }, [
  column('Order', (row) => visit.order(row, row.orderName ?? row.orderId)),
  column('Source', ({ source }) => source),
  column('Placed', ({ placedAt }) => visit.instant(placedAt)),
  number('Amount', ({ amount, currency }) => amount && formatMoney(amount, currency)),
  column('State', ({ state }) => (state === null ? null : badge(state))),
])}
<h2>Source</h2>
${life.versions.length === 0 ? html`<p class="none">No known file.</p>` : html`<ol class="life">${life.versions.map((version) => versionItem(version, visit))}</ol>`}
${life.rejected.map(({ uri, line, sourceFileId, record, reason, isSettled }) => html`<p>${anchor(visit.link(`/rejected/${sourceFileId}/${record}`), `${fileName(uri)} line ${line}`)} could not be used${isSettled ? ', and a later file settled it' : ''}: ${reason}</p>`)}
<h2>Attributed</h2>
${life.attributions.length === 0 ? html`<p class="none">Not yet.</p>` : html`<ol class="life">${life.attributions.map((one) => attributionItem(one, visit))}</ol>`}
<h2>Posted</h2>
${life.entries.length === 0 ? html`<p class="none">Nothing was sent for it${life.attributions.length > 0 && life.attributions.every(({ outcome }) => outcome === 'organic' || outcome === 'excluded') ? ', and nothing will be unless it changes' : ' yet'}.</p>` : life.entries.map((entry) => entrySection(entry, visit))}`,
  };
});

/** A row that could not be used may be the order, but only its file knows its id. */
async function notFound(
  visit: Visit,
  { source, order }: { source: string; order: string },
): Promise<ShownPage> {
  const rejected = await countRejected(visit.db, {
    limit: COUNT_LIMIT,
    isOpen: true,
    sources: source === '-' ? null : [source],
  });
  return missing(
    `Order ${order}`,
    html`No row of the files that were read and no entry of the ledger has this order.${rejected === 0 ? null : html` ${anchor(visit.link('/rejected', { source: source === '-' ? null : source }), `${countUpTo(rejected, COUNT_LIMIT)} ${rejected === 1 ? 'row' : 'rows'}`)} could not be used, and one of them may be.`}`,
  );
}

function versionItem(version: OrderVersion, visit: Visit): Html {
  const facts = factsOfVersion(version).map(
    ([name, value]) =>
      [
        capital(name).replace(':', ''),
        value instanceof Date ? visit.instant(value) : (value ?? null),
      ] as const,
  );
  return html`<li><p>${visit.instant(version.firstSeenAt)} <strong>${fileName(version.uri)}</strong> line ${version.line}, ${plural(version.rows, 'row')}, run ${anchor(visit.link(`/runs/${version.runId}`), version.runId)} <small>${roleOf(version).replace('in force', 'current')}</small></p>${factList(facts)}</li>
`;
}

function attributionItem(one: OrderAttribution, visit: Visit): Html {
  const { dealId } = one;
  const facts: readonly (readonly [string, string | Html | null])[] = [
    ['Matched by', one.matchedBy === null ? null : `${one.matchedBy} ${one.matchedValue ?? ''}`],
    ['Tried', one.matchedBy === null ? one.matchedValue : null],
    ['Evidence for several owners', one.claims],
    ['Creator', visit.creator(one.influencerHandle)],
    ['Deal', visit.deal(dealId)],
    ['Collaboration', one.collabId],
    ['Brand', one.brandId],
    ['Amount', one.amount === null ? null : formatMoney(one.amount, one.currency)],
  ];
  return html`<li><p>${visit.instant(one.decidedAt)} ${badge(one.outcome)}${one.reason === null ? null : html` ${one.reason.replaceAll('_', ' ')}`} <small>job ${one.job}</small></p>${factList(facts)}</li>
`;
}

function entrySection(entry: EntryLife, visit: Visit): Html {
  const { dealId } = entry;
  return html`<section><h3>Entry ${entry.entryId} ${badge(entry.state)} <small>since ${visit.instant(entry.stateChangedAt)}</small></h3>
${factList([
  ['Amount', entry.amount === null ? null : formatMoney(entry.amount, entry.currency)],
  ['Deal', visit.deal(dealId)],
  ['Collaboration', entry.collabId],
  ['Why', sayStateReason(entry.stateReason)],
])}
${lifeList(entry.events, visit)}
${entry.state === 'in_doubt' ? html`<p>${anchor(visit.link('/doubts', { entry: entry.entryId }), 'Settle it')}</p>` : null}</section>
`;
}
