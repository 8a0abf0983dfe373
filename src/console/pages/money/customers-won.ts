import { SELF_PURCHASE_DAYS, type SelfPurchase } from '../../../core/money/returns.ts';
import { formatMoney } from '../../../core/money.ts';
import { isMonth } from '../../../core/time/month.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { listCustomersWon, listSelfPurchases } from '../../../reports/money/list-returns.ts';
import { describeCustomersWon } from '../../../reports/money/returns.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { anchor, dealAnchor, filterForm, orderLink, pagedTable, table } from '../../markup/parts.ts';
import { keyOf, optionOf, PAGE_ROWS, writeKey } from '../../read-query.ts';
import { RETURN_FIELDS, readReturnFilter } from './return-filter.ts';

const PATH = '/money/customers';
const MONTHS_OF_A_YEAR = 12;

/** Page of the new customers that deals won, with the revenue from them since. */
export const customersWonPage: ConsolePage = {
  path: PATH,
  place: 'Money',
  tab: 'Customers won',
  async show(visit) {
    const { filter, months } = await readReturnFilter(visit, { count: MONTHS_OF_A_YEAR });
    const isReview = optionOf(visit, 'show', ['own']) !== null;
    const [rows, own] = await Promise.all([
      listCustomersWon(visit.db, { ...filter, limit: PAGE_ROWS + 1, after: readKey(visit) }),
      // Shown on request, because all customers who are influencers are compared with their orders.
      isReview ? listSelfPurchases(visit.db, { days: SELF_PURCHASE_DAYS, limit: PAGE_ROWS }) : null,
    ]);
    const described = rows.map((won) => ({ won, said: describeCustomersWon(won) }));
    return {
      title: 'Customers won',
      content: html`<p>Customers whose first known order was credited in ${months}, and the total of all their orders since, less refunds, with or without a creator. Customers are known only if a source has <code>customer_key</code>.</p>
${filterForm(visit, RETURN_FIELDS)}
${pagedTable(
  described,
  [
    column('Month', ({ won }) => won.month),
    column('Deal', ({ won }) => dealAnchor(visit, won.dealId)),
    column('Creator', ({ won }) => won.influencerHandle),
    number('New customers', ({ said }) => said.newCustomers),
    number('Ordered again', ({ said }) => said.repeat),
    number('Value after 30 days', ({ said }) => said.worth30),
    number('After 90 days', ({ said }) => said.worth90),
    number('After 365 days', ({ said }) => said.worth365),
  ],
  {
    ...{ visit, about: 'Customers won' },
    keyOf: ({ won: { month, dealId, brandId, currency } }) => writeKey(month, dealId, brandId, currency),
    none: 'No order is known to be the first of its customer. In the first 90 days of customer keys this is unknown, because the customer may have ordered before.',
  },
)}
<p class="dim">At least: for some orders of the month, it is unknown whether their customers are new. Not over: the days have not passed for all of the customers.</p>
<h2>Orders that creators may have placed themselves <small>last ${SELF_PURCHASE_DAYS} days</small></h2>
<p>The service identified the customer as the credited influencer. Such an order may be a gift, a test, or allowed. Nothing is withheld.</p>
${own === null ? html`<p>${anchor(visit.link(PATH, { show: 'own' }), 'List them')}</p>` : ownTable(own, visit)}`,
    };
  },
};

function ownTable(own: readonly SelfPurchase[], visit: Visit) {
  return table(
    own,
    [
      column('Day', ({ day }) => day),
      column('Order', (order) => anchor(orderLink(visit, order), order.orderId)),
      column('Deal', ({ dealId }) => (dealId === null ? '' : dealAnchor(visit, dealId))),
      column('Creator', ({ influencerHandle }) => influencerHandle),
      number('Amount', ({ amount, currency }) => formatMoney(amount, currency)),
    ],
    {
      about: 'Orders that creators may have placed themselves',
      none: 'None is known. This needs customer_key and look-ups in real time.',
    },
  );
}

function readKey(visit: Visit): readonly [string, string, string, string] | null {
  const [month = '', dealId = '', brandId = '', currency = ''] = keyOf(visit, 4) ?? [];
  return isMonth(month) ? [month, dealId, brandId, currency] : null;
}
