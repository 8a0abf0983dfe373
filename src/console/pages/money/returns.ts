import { RETURN_GROUPS, type ReturnGroup, type ReturnSum } from '../../../core/money/returns.ts';
import type { Html } from '../../../core/text/html.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { listReturns } from '../../../reports/money/list-returns.ts';
import { describeReturn, explainUnknown } from '../../../reports/money/returns.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { anchor, creatorLink, dealLink, filterForm, pager, table } from '../../markup/parts.ts';
import { keyOf, nextKey, PAGE_ROWS, textOf, writeKey } from '../../read-query.ts';
import { RETURN_FIELDS, readReturnFilter } from './return-filter.ts';

const PATH = '/money';
/**
 * Number of months that the page shows by default: the newest one, or several if months are compared. More
 * would take too long.
 */
const SHOWN_MONTHS = { one: 1, several: 3 } as const;

/** Page of the revenue and cost of deals, creators, brands, campaigns and months. */
export const returnsPage: ConsolePage = {
  path: PATH,
  place: 'Money',
  tab: 'Returns',
  async show(visit) {
    const chosen = textOf(visit, 'by');
    const by = RETURN_GROUPS.find((group) => group === chosen) ?? 'deal';
    const { filter, months } = await readReturnFilter(visit, {
      count: by === 'month' ? SHOWN_MONTHS.several : SHOWN_MONTHS.one,
    });
    const { reportingCurrency } = visit.config.statements;
    const inCurrency =
      reportingCurrency !== null && textOf(visit, 'in') === reportingCurrency ? reportingCurrency : null;
    const rows = await listReturns(visit.db, {
      ...filter,
      ...{ by, inCurrency },
      limit: PAGE_ROWS + 1,
      after: readKey(visit),
    });
    return {
      title: 'What creators brought and cost',
      content: html`<p>Credited orders net of refunds and cancellations, and what they cost; ${months}. It says which orders carried a code or link, not what a creator caused.</p>
${filterForm(visit, PATH, [
  { name: 'by', label: 'For each', options: RETURN_GROUPS, required: true },
  ...RETURN_FIELDS,
  ...(reportingCurrency === null
    ? []
    : [{ name: 'in', label: 'Convert into', options: [reportingCurrency] }]),
])}
${inCurrency === null ? null : html`<p>Amounts in other currencies are converted into ${inCurrency} at the rate of the day of each order. If a rate is missing, the sum is unknown.</p>`}
${returnTable(rows.slice(0, PAGE_ROWS), { by, visit })}
${pager(visit, PATH, { after: nextKey(rows, ({ currency, rank, key }) => writeKey(currency, rank, key)) })}
<p class="dim">Cost: commission and fixed fees. ROI: profit in percent of the cost. New customers: whose first known order it is. A number that cannot be known is shown as unknown, never as 0. ${explainUnknown(rows)}</p>`,
    };
  },
};

function returnTable(
  rows: readonly ReturnSum[],
  { by, visit }: { readonly by: ReturnGroup; readonly visit: Visit },
): Html {
  const described = rows.map((sum) => ({ sum, said: describeReturn(sum) }));
  return table(
    described,
    [
      column(`For each ${by}`, ({ sum }) => nameOf(sum, { by, visit })),
      ...(by === 'deal' ? [column('Creator', ({ sum }: (typeof described)[number]) => sum.name)] : []),
      number('Orders', ({ said }) => said.orders),
      number('Net revenue', ({ said }) => said.net),
      number('Cost', ({ said }) => said.cost),
      number('Profit', ({ said }) => said.profit),
      number('ROI', ({ said }) => said.roi),
      number('Revenue per 1 of cost', ({ said }) => said.netPerCost),
      number('New customers', ({ said }) => said.newCustomers),
      number('Returning', ({ said }) => said.returning),
      number('Cost per new one', ({ said }) => said.perNewCustomer),
      column('Unknown', ({ said }) => said.why),
    ],
    { about: `What each ${by} brought and cost`, none: 'No order was credited, and no fee is owed.' },
  );
}

/** Renders the name of the group, with a link to the deal or to the deals of the group. */
function nameOf(
  { key, name }: ReturnSum,
  { by, visit }: { readonly by: ReturnGroup; readonly visit: Visit },
) {
  if (key === '') return by === 'deal' ? 'fees of codes' : 'unknown';
  const kept = Object.fromEntries(
    ['from', 'to', 'currency', 'in'].map((field) => [field, textOf(visit, field)]),
  );
  switch (by) {
    case 'deal':
      return anchor(dealLink(visit, key), key);
    case 'creator':
      return anchor(creatorLink(visit, key), name ?? key);
    case 'brand':
      return anchor(visit.link(PATH, { ...kept, by: 'deal', brand: key }), name ?? key);
    case 'campaign':
      return name ?? key;
    case 'month':
      return anchor(visit.link(PATH, { ...kept, by: 'deal', from: key, to: key }), key);
  }
}

function readKey(visit: Visit) {
  const [currency = '', rank = '', key = ''] = keyOf(visit, 3) ?? [];
  return /^-?\d{1,20}(\.\d{1,4})?$/.test(rank) ? { currency, rank, key } : null;
}
