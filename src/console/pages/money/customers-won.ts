import { isMonth } from '../../../earnings/statement.ts';
import type { CustomersWon } from '../../../model/money/returns.ts';
import { html } from '../../../present/html/html.ts';
import { describeCustomersWon } from '../../../present/money/returns.ts';
import { listCustomersWon } from '../../../report/money/list-returns.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { anchor, dealLink, filterForm, pager, type TableColumn, table } from '../../markup/parts.ts';
import { keyOf, nextKey, PAGE_ROWS, textOf, writeKey } from '../../read-query.ts';
import { readMonths } from './read-months.ts';
import { moneySections } from './sections.ts';

const PATH = '/money/customers';
const MONTHS_OF_A_YEAR = 12;

/** Customers whom deals won, and what they have ordered since. */
export const customersWonPage: ConsolePage = {
  path: PATH,
  navigation: null,
  async show(visit) {
    const { from, to, said } = await readMonths(visit, { count: MONTHS_OF_A_YEAR });
    const rows = await listCustomersWon(visit.db, {
      ...{ from, to },
      dealId: textOf(visit, 'deal'),
      brandId: textOf(visit, 'brand'),
      handle: textOf(visit, 'handle'),
      currency: textOf(visit, 'currency'),
      limit: PAGE_ROWS + 1,
      after: readKey(visit),
    });
    const number = (
      title: string,
      name: keyof ReturnType<typeof describeCustomersWon>,
    ): TableColumn<CustomersWon> => ({
      title,
      align: 'right',
      cell: (won) => describeCustomersWon(won)[name],
    });
    return {
      title: 'Customers won',
      content: html`${moneySections(visit)}
<p>Customers whose first known order was credited, and the total of all their orders since, less refunds, with or without a creator; ${said}. Customers are known only if a source has <code>customer_key</code>.</p>
${filterForm(visit, PATH, [
  { name: 'from', label: 'From month' },
  { name: 'to', label: 'To month' },
  { name: 'deal', label: 'Deal' },
  { name: 'handle', label: 'Creator' },
  { name: 'brand', label: 'Brand id' },
  { name: 'currency', label: 'Currency' },
])}
${table<CustomersWon>(
  [
    { title: 'Month', cell: ({ month }) => month },
    { title: 'Deal', cell: ({ dealId }) => anchor(dealLink(visit, dealId), dealId) },
    { title: 'Creator', cell: ({ influencerHandle }) => influencerHandle },
    number('New customers', 'newCustomers'),
    number('Ordered again', 'repeat'),
    number('Value after 30 days', 'worth30'),
    number('After 90 days', 'worth90'),
    number('After 365 days', 'worth365'),
  ],
  rows.slice(0, PAGE_ROWS),
  { about: 'Customers won', none: 'No order is known to be the first of its customer.' },
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
