import { RETURN_GROUPS, type ReturnGroup, type ReturnSum } from '../../../core/money/returns.ts';
import type { Html } from '../../../core/text/html.ts';
import { lastDayOf, monthBefore, monthsUntil } from '../../../core/time/month.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount } from '../../../render/text.ts';
import { listReturns } from '../../../reports/money/list-returns.ts';
import { describeReturn, explainUnknown } from '../../../reports/money/returns.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { barChart, labelOf } from '../../markup/bars.ts';
import { anchor, creatorLink, dealLink, facet, figure, filterForm, pagedTable } from '../../markup/parts.ts';
import { keyOf, optionOf, PAGE_ROWS, queryWithout, textOf, writeKey } from '../../read-query.ts';
import { RETURN_FIELDS, readReturnFilter } from './return-filter.ts';

const PATH = '/money';
/** Creators first: a person asks for somebody before they ask for a deal. */
const GROUPS: readonly ReturnGroup[] = ['creator', ...RETURN_GROUPS.filter((group) => group !== 'creator')];
/** Months of the pictures. The totals and the list are of the last one, because more would take too long. */
const MONTHS = 12;

/** The revenue and cost of the last month that is over beside the month before, a year in pictures, and who brought it. */
export const returnsPage: ConsolePage = {
  path: PATH,
  place: 'Money',
  tab: 'Returns',
  async show(visit) {
    const by = optionOf(visit, 'by', GROUPS) ?? 'creator';
    const { filter, months } = await readReturnFilter(visit, { count: 1, isOver: true });
    const last = filter.to ?? filter.from;
    const over = monthBefore(visit.now, visit.config.statements.timeZone);
    const year = { from: last === null ? null : (monthsUntil(last, MONTHS)[0] ?? null), to: last };
    const { reportingCurrency } = visit.config.statements;
    const inCurrency = optionOf(visit, 'in', reportingCurrency === null ? [] : [reportingCurrency]);
    const [trend, rows] = await Promise.all([
      listReturns(visit.db, { ...filter, ...year, by: 'month', inCurrency, limit: MONTHS * MOST_CURRENCIES }),
      listReturns(visit.db, {
        ...filter,
        // Months are compared with each other, so the list has those of the picture.
        ...(by === 'month' && !visit.query.has('from') && !visit.query.has('to') ? year : {}),
        ...{ by, inCurrency },
        limit: PAGE_ROWS + 1,
        after: readKey(visit),
      }),
    ]);
    const others = queryWithout(visit, 'by', 'after', 'zone', 'done');
    return {
      title: filter.from === filter.to && last !== null ? `Money in ${last}` : 'Money',
      content: html`<p>Credited orders of ${months}, net of refunds and cancellations, and their cost. The figures say which orders carried a code or link, not what a creator caused.</p>
<p><a class="button" href="${visit.link(`/statements/${over}`)}">Statement of ${over}</a></p>
${last === null ? null : totals(trend, { last, visit })}
<nav class="facets" aria-label="Group">${GROUPS.map((group) => facet(visit.link(PATH, { ...others, by: group }), `by ${group}`, group === by))}</nav>
${filterForm(visit, [
  { name: 'by', label: '', type: 'hidden' },
  ...RETURN_FIELDS,
  ...(reportingCurrency === null
    ? []
    : [{ name: 'in', label: 'Convert into', options: [reportingCurrency] }]),
])}
${inCurrency === null ? null : html`<p>Amounts in other currencies are converted into ${inCurrency} at the rate of the day of each order. If a rate is missing, the sum is unknown.</p>`}
${returnTable(rows, { by, visit })}
<p class="dim">Cost: commission and fixed fees. ROI: profit in percent of the cost. New customers: whose first known order it is. A number that cannot be known is shown as unknown, never as 0. ${explainUnknown(rows)}</p>`,
    };
  },
};

const MOST_CURRENCIES = 20;
/** More figures and pictures would hide the list; their months are in the list by month. */
const SHOWN_CURRENCIES = 3;

/** The totals of a month in each currency beside the month before, and a year as bars that lead to their months. */
function totals(
  trend: readonly ReturnSum[],
  { last, visit }: { readonly last: string; readonly visit: Visit },
): Html {
  const months = monthsUntil(last, MONTHS);
  const kept = queryWithout(visit, 'from', 'to', 'after', 'zone', 'done');
  return html`${[...Map.groupBy(trend, ({ currency }) => currency)]
    .slice(0, SHOWN_CURRENCIES)
    .map(([currency, sums]) => {
      const [before, now] = months.slice(-2).map((month) => sums.find(({ key }) => key === month));
      const said = now === undefined ? null : describeReturn(now);
      const beside = (of: (sum: ReturnSum) => string | number | null) =>
        now === undefined || before === undefined ? undefined : changeOf(of(now), of(before), before.key);
      return html`<div class="figures">
${figure(`Net revenue, ${currency}`, said?.net ?? 'none', {
  note: beside(({ netAmount }) => netAmount),
  href: visit.link('/orders', { outcome: 'credited', from: `${last}-01`, to: lastDayOf(last) }),
})}
${figure('Cost', said?.cost ?? 'none', { note: beside(({ costAmount }) => costAmount), href: visit.link(`/statements/${last}`) })}
${figure('Orders', said?.orders ?? '0', { note: beside(({ orders }) => orders) })}
${figure('New customers', said?.newCustomers ?? '0', { note: beside(({ newCustomers, unknownOrders }) => (unknownOrders === 0 ? newCustomers : null)) })}
</div>
${barChart(
  months.map((month, index) => {
    const sum = sums.find(({ key }) => key === month);
    return {
      label: labelOf(month, { index, count: MONTHS }),
      value: Number(sum?.netAtLeast ?? 0),
      name: `${month}: ${sum === undefined ? 'none' : describeReturn(sum).net}`,
      href: visit.link(PATH, { ...kept, from: month, to: month }),
    };
  }),
  { label: `Net revenue in ${currency} by month` },
)}`;
    })}`;
}

/** How an amount has changed since the month before, in percent. Nothing if one of them is not known. */
function changeOf(
  now: string | number | null,
  before: string | number | null,
  month: string,
): string | undefined {
  if (now === null || before === null || Number(before) === 0) return undefined;
  const percent = Math.round((Number(now) / Number(before) - 1) * 100);
  return `${percent < 0 ? '−' : '+'}${formatCount(Math.abs(percent))} % on ${month}`;
}

function returnTable(
  rows: readonly ReturnSum[],
  { by, visit }: { readonly by: ReturnGroup; readonly visit: Visit },
): Html {
  const described = rows.map((sum) => ({ sum, said: describeReturn(sum) }));
  return pagedTable(
    described,
    [
      column(`${by.charAt(0).toUpperCase()}${by.slice(1)}`, ({ sum }) => nameOf(sum, { by, visit })),
      ...(by === 'deal' ? [column('Creator', ({ sum }: (typeof described)[number]) => sum.name)] : []),
      number('Orders', ({ said }) => said.orders),
      number('Net revenue', ({ said }) => said.net),
      number('Cost', ({ said }) => said.cost),
      number('Profit', ({ said }) => said.profit),
      number('ROI', ({ said }) => said.roi),
      number('New customers', ({ said }) => said.newCustomers),
      number('Returning', ({ said }) => said.returning),
      number('Cost per new customer', ({ said }) => said.perNewCustomer),
      column('Not known', ({ said }) => said.why),
    ],
    {
      ...{
        visit,
        about: `What each ${by} brought and cost`,
        none: 'No order was credited, and no fee is owed.',
      },
      keyOf: ({ sum: { currency, rank, key } }) => writeKey(currency, rank, key),
    },
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
      return anchor(visit.link(PATH, { ...kept, from: key, to: key }), key);
  }
}

function readKey(visit: Visit) {
  const [currency = '', rank = '', key = ''] = keyOf(visit, 3) ?? [];
  return /^-?\d{1,20}(\.\d{1,4})?$/.test(rank) ? { currency, rank, key } : null;
}
