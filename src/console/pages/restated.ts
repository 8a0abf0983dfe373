import { formatAmounts, formatKnown, formatMoney } from '../../core/money.ts';
import { column, number } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { formatCount, plural } from '../../render/text.ts';
import { findOrderIds } from '../../reports/lives/explain-order.ts';
import {
  digestOtherCurrency,
  listOtherCurrency,
  sumOtherCurrency,
} from '../../reports/money/list-other-currency.ts';
import { RESTATED_WHY } from '../../reports/money/other-currency.ts';
import { definePage, type Visit } from '../console-page.ts';
import { actColumn, actionForm, notOffered } from '../markup/action-form.ts';
import { byText, readFilter } from '../markup/filter.ts';
import { anchor, pagedTable } from '../markup/parts.ts';
import { keyedPageOf } from '../read-query.ts';

const PATH = '/restated';

/**
 * Page of posted orders that an export states in another currency since. Those of a source, or a single one, are decided
 * about as `statement restated` does.
 */
export const restatedPage = definePage(PATH, async (visit) => {
  const asked = readFilter(visit, { source: byText('Source'), order: byText('Order') });
  const { order } = asked.filter;
  const orderIds = order === null ? null : await findOrderIds(visit.db, order);
  const source = asked.filter.source ?? (await onlySource(visit, orderIds));
  const filter = { source, orderIds };
  const mayDecide = visit.may('POST /restated/settle');
  // First: what changes while the rest is read makes the forms those of other orders.
  const forms =
    mayDecide && source !== null && (orderIds?.length ?? 1) === 1
      ? await settleForms(visit, { source, orderIds })
      : null;
  const sums = await sumOtherCurrency(visit.db, filter);
  const rows = await listOtherCurrency(visit.db, {
    ...filter,
    ...keyedPageOf(visit, { source: 'text', orderId: 'text', entryId: 'text' }),
  });
  return {
    title: 'Posted, and stated in another currency since',
    content: html`<p>${RESTATED_WHY} Check in the shop what was paid and refunded. Export these orders again in the currency that was sent, and the next run settles them.${mayDecide ? ' If that is not possible, choose a source or an order here, and decide.' : html` ${notOffered(visit, 'POST /restated/settle', 'decide about them')}`}${order !== null && source === null && rows.length > 0 ? ' Several sources have this order: choose one.' : null}</p>
${asked.form()}
${
  rows.length === 0 && forms !== null
    ? html`<p>It was decided before. Another decision replaces that one.</p>`
    : pagedTable(
        { rows: sums, visit, about: 'Orders by source', none: 'No posted order waits to be settled.' },
        [
          column('Source', (sum) => anchor(visit.link(PATH, { source: sum.source }), sum.source)),
          column('Job', ({ job }) => job),
          number('Orders', ({ orders }) => formatCount(orders)),
          number('Sent', ({ amount, currency }) => formatMoney(amount, currency)),
        ],
      )
}
${forms}
${
  rows.length === 0
    ? null
    : html`<h2>Orders</h2>
${pagedTable({ rows, visit, about: 'Orders in another currency', key: ['source', 'orderId', 'entryId'] }, [
  column('Order', (row) => visit.order(row)),
  column('Source', (row) => row.source),
  column('Deal', ({ dealId }) => visit.deal(dealId)),
  number('Sent', ({ sentAmount, currency }) => formatMoney(sentAmount, currency)),
  number('Stated now', ({ total, statedIn }) => formatKnown(total, statedIn)),
  number('Refunded', ({ refunded, statedIn }) => formatKnown(refunded, statedIn)),
  actColumn(visit, '/restated/settle', [
    'Decide',
    (row) => anchor(visit.link(PATH, { source: row.source, order: row.orderId }), 'Decide about it alone'),
  ]),
])}`
}`,
  };
});

/** The source of the orders that are named. Null: none is named, or several sources state one of them. */
async function onlySource({ db }: Visit, orderIds: readonly string[] | null): Promise<string | null> {
  if (orderIds === null) return null;
  const found = await listOtherCurrency(db, { orderIds, isToDecide: true });
  const [source = null, ...others] = new Set(found.map((one) => one.source));
  return others.length === 0 ? source : null;
}

/** The two decisions about all orders of a filter, exactly as they are now. Null: there are none. */
export async function settleForms(
  visit: Visit,
  filter: { readonly source: string; readonly orderIds: readonly string[] | null },
): Promise<Html | null> {
  const orders = await listOtherCurrency(visit.db, { ...filter, isToDecide: true });
  if (orders.length === 0) return null;
  const sent = formatAmounts(orders.map(({ sentAmount: amount, currency }) => ({ amount, currency })));
  const which = orders.length === 1 ? 'it' : `all ${formatCount(orders.length)}`;
  const hidden = {
    source: filter.source,
    order: [...(filter.orderIds ?? [])],
    shown: digestOtherCurrency(orders),
  };
  return html`<h2>Decide about ${plural(orders.length, 'order')} of ${filter.source}, sent with ${sent}</h2>
${actionForm(visit, '/restated/settle', {
  hidden: { ...hidden, as: 'sent' },
  reasonLabel: 'How you know that what was sent still holds, less refunds in its currency',
  button: `Keep what ${which} earned before`,
  isMain: true,
})}
${actionForm(visit, '/restated/settle', {
  hidden: { ...hidden, as: 'returned' },
  reasonLabel: 'How you know that all was paid back',
  confirm: 'All was paid back. The next statement takes back what a closed one paid.',
  button: `Let ${which} earn nothing`,
})}`;
}
