import { isMonth } from '../../../model/time/month.ts';
import { html } from '../../../present/html/html.ts';
import { describeCustomersWon } from '../../../present/money/returns.ts';
import { listCustomersWon } from '../../../report/money/list-returns.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { anchor, dealLink, filterForm, pager, type TableColumn, table } from '../../markup/parts.ts';
import { keyOf, nextKey, PAGE_ROWS, writeKey } from '../../read-query.ts';
import { RETURN_FIELDS, readReturnFilter } from './return-filter.ts';
import { moneySections } from './sections.ts';

const PATH = '/money/customers';
const MONTHS_OF_A_YEAR = 12;

/** Page of the new customers that deals won, with the revenue from them since. */
export const customersWonPage: ConsolePage = {
  path: PATH,
  navigation: null,
  async show(visit) {
    const { filter, months } = await readReturnFilter(visit, { count: MONTHS_OF_A_YEAR });
    const rows = await listCustomersWon(visit.db, {
      ...filter,
      limit: PAGE_ROWS + 1,
      after: readKey(visit),
    });
    const described = rows.slice(0, PAGE_ROWS).map((won) => ({ won, said: describeCustomersWon(won) }));
    type Row = (typeof described)[number];
    const number = (title: string, name: keyof Row['said']): TableColumn<Row> => ({
      title,
      align: 'right',
      cell: ({ said }) => said[name],
    });
    return {
      title: 'Customers won',
      content: html`${moneySections(visit)}
<p>Customers whose first known order was credited, and the total of all their orders since, less refunds, with or without a creator; ${months}. Customers are known only if a source has <code>customer_key</code>.</p>
${filterForm(visit, PATH, RETURN_FIELDS)}
${table<Row>(
  [
    { title: 'Month', cell: ({ won }) => won.month },
    { title: 'Deal', cell: ({ won }) => anchor(dealLink(visit, won.dealId), won.dealId) },
    { title: 'Creator', cell: ({ won }) => won.influencerHandle },
    number('New customers', 'newCustomers'),
    number('Ordered again', 'repeat'),
    number('Value after 30 days', 'worth30'),
    number('After 90 days', 'worth90'),
    number('After 365 days', 'worth365'),
  ],
  described,
  {
    about: 'Customers won',
    none: 'No order is known to be the first of its customer. In the first 90 days of customer keys this is unknown, because the customer may have ordered before.',
  },
)}
${pager(visit, PATH, {
  after: nextKey(rows, ({ month, dealId, brandId, currency }) => writeKey(month, dealId, brandId, currency)),
})}
<p class="dim">At least: for some orders of the month, it is unknown whether their customers are new. Not over: the days have not passed for all of the customers.</p>`,
    };
  },
};

function readKey(visit: Visit): readonly [string, string, string, string] | null {
  const [month = '', dealId = '', brandId = '', currency = ''] = keyOf(visit, 4) ?? [];
  return isMonth(month) ? [month, dealId, brandId, currency] : null;
}
