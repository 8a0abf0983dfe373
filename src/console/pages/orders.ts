import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { countOrders, listOrders, type OrderFilter, type OrderKey } from '../../reports/list-orders.ts';
import { explainOrder } from '../../reports/lives/explain-order.ts';
import type { ConsolePage, Shown, Visit } from '../console-page.ts';
import {
  amountList,
  anchor,
  badge,
  countUpTo,
  dealAnchor,
  filterForm,
  instant,
  orderLink,
  pagedTable,
  table,
} from '../markup/parts.ts';
import { COUNT_LIMIT, dayOf, keyOf, PAGE_ROWS, textOf, writeKey } from '../read-query.ts';

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

/** Orders by outcome, or the orders with a given id or name. */
export const ordersPage: ConsolePage = {
  path: PATH,
  navigation: 'Orders',
  async show(visit) {
    const order = textOf(visit, 'order');
    return order === null ? showList(visit) : find(visit, order);
  },
};

async function find(visit: Visit, order: string): Promise<Shown> {
  const lives = await explainOrder(visit.db, { order });
  const [only] = lives;
  if (only !== undefined && lives.length === 1) return { redirect: orderLink(visit, only) };
  return {
    title: `Orders called ${order}`,
    content: table(
      lives,
      [
        column('Order', (life) => anchor(orderLink(visit, life), life.orderName ?? life.orderId)),
        column('Id', ({ orderId }) => orderId),
        column('Source', ({ source }) => source),
      ],
      {
        about: 'Orders found',
        none: 'Neither the files that were read nor the ledger have this order. Blanks, quotes and invisible characters around or in an id do not matter, anything else must match; you can enter a name with or without #.',
      },
    ),
    ...(lives.length === 0 ? { status: 404 } : {}),
  };
}

async function showList(visit: Visit): Promise<Shown> {
  const filter: OrderFilter = {
    job: textOf(visit, 'job'),
    source: textOf(visit, 'source'),
    disposition: textOf(visit, 'disposition'),
    reason: textOf(visit, 'reason'),
    deal: textOf(visit, 'deal'),
    from: dayOf(visit, 'from'),
    to: dayOf(visit, 'to'),
  };
  const [rows, count] = await Promise.all([
    listOrders(visit.db, { ...filter, limit: PAGE_ROWS + 1, after: readKey(visit) }),
    countOrders(visit.db, { ...filter, limit: COUNT_LIMIT }),
  ]);
  return {
    title: 'Orders',
    content: html`<p>${countUpTo(count, COUNT_LIMIT)} ${count === 1 ? 'order' : 'orders'}, newest day first, as of the last refresh of the reports.</p>
${filterForm(visit, PATH, [
  { name: 'job', label: 'Job', options: Object.keys(visit.config.jobs) },
  { name: 'source', label: 'Source', options: Object.keys(visit.config.sources) },
  { name: 'disposition', label: 'Outcome', options: DISPOSITIONS },
  { name: 'reason', label: 'Reason' },
  { name: 'deal', label: 'Deal' },
  { name: 'from', label: 'From', type: 'date' },
  { name: 'to', label: 'To', type: 'date' },
])}
${pagedTable(
  rows,
  [
    column('Order', (row) => anchor(orderLink(visit, row), row.orderName ?? row.orderId)),
    column('Ordered', ({ orderedAt }) => instant(orderedAt, visit)),
    column(
      'Outcome',
      ({ disposition, reason }) =>
        html`${badge(disposition)}${reason === null ? null : html` <small>${reason.replaceAll('_', ' ')}</small>`}`,
    ),
    column('By', ({ matchedBy, matchedValue }) =>
      matchedBy === null ? matchedValue : `${matchedBy} ${matchedValue ?? ''}`,
    ),
    column('Influencer', ({ influencerHandle }) => influencerHandle),
    column('Deal', ({ dealId }) => (dealId === null ? null : dealAnchor(visit, dealId))),
    number('Amount', ({ amount, currency }) => (amount === null ? null : amountList([{ amount, currency }]))),
    column('Source', ({ source, job }) => html`${source} <small>${job}</small>`),
  ],
  {
    visit,
    about: 'Orders',
    none: 'No order matches the filter.',
    keyOf: ({ day, job, source, orderId }) => writeKey(day, job, source, orderId),
  },
)}`,
  };
}

/** Null if the query has no valid key; the list then starts at the beginning. */
function readKey(visit: Visit): OrderKey | null {
  const [day = '', job = '', source = '', orderId = ''] = keyOf(visit, 4) ?? [];
  return Number.isNaN(Date.parse(day)) ? null : { day, job, source, orderId };
}
