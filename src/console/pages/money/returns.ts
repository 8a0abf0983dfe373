import {
  RETURN_GROUPS,
  type ReturnGroup,
  type ReturnSum,
  SELF_PURCHASE_DAYS,
} from '../../../core/money/returns.ts';
import { sumOrders } from '../../../core/order.ts';
import { lastDayOf, monthBefore, monthsUntil } from '../../../core/time/month.ts';
import { column, number } from '../../../render/block.ts';
import { type Html, html } from '../../../render/html/html.ts';
import { capital, formatCount } from '../../../render/text.ts';
import {
  findNewestMonth,
  listCustomersWon,
  listReturns,
  listSelfPurchases,
  type ReturnFilter,
} from '../../../reports/money/list-returns.ts';
import {
  describeCustomersWon,
  describeMonths,
  describeReturn,
  describeSelfPurchases,
  explainUnknown,
} from '../../../reports/money/returns.ts';
import { definePage, type Visit } from '../../console-page.ts';
import { monthChart } from '../../markup/bars.ts';
import {
  byChoice,
  byCurrency,
  byHandle,
  byMonth,
  byOption,
  byText,
  hidden,
  readFilter,
} from '../../markup/filter.ts';
import { anchor, blockList, creatorLink, facet, figure, pagedTable } from '../../markup/parts.ts';
import { keyedPageOf, PAGE_ROWS, queryWithout, textOf } from '../../read-query.ts';
import { findMonthToClose } from './statements.ts';

const PATH = '/money';
/** Creators first: a person asks for somebody before they ask for a deal. */
const GROUPS: readonly ReturnGroup[] = ['creator', ...RETURN_GROUPS.filter((group) => group !== 'creator')];
/** Months of the pictures. The totals and the list are of the last one, because more would take too long. */
const MONTHS = 12;

/** The revenue and cost of the last month that is over beside the month before, a year in pictures, and who brought it. */
export const returnsPage = definePage(PATH, async (visit) => {
  const { reportingCurrency } = visit.config.statements;
  const convertInto = byOption('Amounts in', reportingCurrency === null ? [] : [reportingCurrency]);
  const asked = readFilter(visit, {
    by: hidden(byChoice('', GROUPS, 'creator').read),
    ...RETURN_FIELDS,
    in: reportingCurrency === null ? hidden(convertInto.read) : convertInto,
  });
  const { by, in: inCurrency } = asked.filter;
  const { filter, months } = await toReturnFilter(asked.filter, visit, { count: 1, isOver: true });
  const last = filter.to ?? filter.from;
  const toClose = (await findMonthToClose(visit))?.month;
  const statement = toClose ?? monthBefore(visit.now, visit.config.statements.timeZone);
  const year = { from: last === null ? null : (monthsUntil(last, MONTHS)[0] ?? null), to: last };
  const ofYear = { ...filter, ...year, by: 'month', inCurrency } as const;
  const asPage = keyedPageOf(visit, RETURN_KEY);
  // Months are compared with each other, so the list has those of the picture.
  const isOfYear = by === 'month' && !visit.query.has('from') && !visit.query.has('to');
  const page = { ...(isOfYear ? ofYear : { ...filter, by, inCurrency }), ...asPage };
  const trending = listReturns(visit.db, { ...ofYear, limit: MONTHS * MOST_CURRENCIES });
  const [trend, rows] = await Promise.all([
    trending,
    isOfYear && asPage.after === null ? trending : listReturns(visit.db, page),
  ]);
  const others = queryWithout(visit, 'by', 'after', 'zone', 'done');
  return {
    title: filter.from === filter.to && last !== null ? `Money in ${last}` : 'Money',
    content: html`<p>Credited orders of ${months}, net of refunds and cancellations, and their cost. The figures say which orders carried a code or link, not what a creator caused.</p>
<p><a class="button" href="${visit.link(`/statements/${statement}`)}">${toClose === undefined ? `Statement of ${statement}` : `Check and close ${toClose}`}</a></p>
${last === null ? null : totals(trend, { last, visit })}
<nav class="facets" id="by" aria-label="Group">${GROUPS.map((group) => facet(`${visit.link(PATH, { ...others, by: group })}#by`, `by ${group}`, group === by))}</nav>
${asked.form()}
${inCurrency === null ? null : html`<p>Amounts in other currencies are converted into ${inCurrency} at the rate of the day of each order. If a rate is missing, the sum is unknown.</p>`}
${returnTable(rows, { by, visit })}
<p class="dim">Cost: commission and fixed fees. ROI: profit in percent of the cost. New customers: whose first known order it is. A number that cannot be known is shown as unknown, never as 0. ${withDeals(explainUnknown(rows), visit)}</p>`,
  };
});

/** Why figures are unknown, with links to the deals. */
export function withDeals(parts: ReturnType<typeof explainUnknown>, visit: Visit): Html {
  return html`${parts.map((part) => (typeof part === 'string' ? part : visit.deal(part.dealId)))}`;
}

const MOST_CURRENCIES = 20;
/** More figures and pictures would hide the list; their months are in the list by month. */
const SHOWN_CURRENCIES = 3;

/** The totals of a month in each currency beside the month before, and a year as bars that lead to their months. */
function totals(trend: readonly ReturnSum[], { last, visit }: { last: string; visit: Visit }): Html {
  const months = monthsUntil(last, MONTHS);
  const kept = queryWithout(visit, 'from', 'to', 'after', 'zone', 'done');
  // The list of orders can only be narrowed by the deal in the same way, so other sums link to none.
  const credited = {
    outcome: 'credited',
    deal: textOf(visit, 'deal'),
    from: `${last}-01`,
    to: lastDayOf(last),
  };
  const hasOrders = ['handle', 'brand', 'currency', 'in'].every((field) => textOf(visit, field) === null);
  const currencies = [...Map.groupBy(trend, ({ currency }) => currency)].toSorted(
    ([, one], [, other]) => sumOrders(other) - sumOrders(one),
  );
  const rest = currencies.slice(SHOWN_CURRENCIES).map(([currency]) => currency);
  return html`${currencies.slice(0, SHOWN_CURRENCIES).map(([currency, sums]) => {
    const [before, now] = months.slice(-2).map((month) => sums.find(({ key }) => key === month));
    const said = now === undefined ? null : describeReturn(now);
    const beside = (of: (sum: ReturnSum) => string | number | null) =>
      now === undefined || before === undefined ? undefined : changeOf(of(now), of(before), before.key);
    return html`<div class="figures">
${figure(`Net revenue, ${currency}`, said?.net ?? 'none', {
  note: beside(({ netAmount }) => netAmount),
  href: hasOrders ? visit.link('/orders', credited) : undefined,
})}
${figure(`Cost, ${currency}`, said?.cost ?? 'none', { note: beside(({ costAmount }) => costAmount) })}
${figure(`Orders in ${currency}`, said?.orders ?? '0', { note: beside(({ orders }) => orders) })}
${figure(`New customers in ${currency}`, said?.newCustomers ?? '0', { note: beside(({ newCustomers, unknownOrders }) => (unknownOrders === 0 ? newCustomers : null)) })}
</div>
${revenueChart(sums, {
  months: [...sums.map(({ key }) => key), last],
  currency,
  hrefOf: (month) => visit.link(PATH, { ...kept, from: month, to: month }),
})}`;
  })}
${rest.length === 0 ? null : html`<p>Also in ${rest.join(', ')}: ${anchor(visit.link(PATH, { ...kept, by: 'month' }), 'see by month')}.</p>`}`;
}

/** Draws the net revenue of months in one currency, with its title. Null if there are fewer than two. */
export function revenueChart(
  sums: readonly ReturnSum[],
  of: {
    readonly months: readonly string[];
    readonly currency: string;
    readonly hrefOf: (month: string) => string;
  },
): Html | null {
  const label = `Net revenue in ${of.currency} by month`;
  const chart = monthChart(of.months, {
    label,
    barOf(month) {
      const sum = sums.find(({ key }) => key === month);
      return {
        value: Number(sum?.netAtLeast ?? 0),
        name: `${month}: ${sum === undefined ? 'none' : describeReturn(sum).net}`,
        href: of.hrefOf(month),
      };
    },
  });
  return chart === null ? null : html`<p class="dim">${label}</p>${chart}`;
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

function returnTable(rows: readonly ReturnSum[], { by, visit }: { by: ReturnGroup; visit: Visit }): Html {
  const described = rows.map((sum) => ({ sum, said: describeReturn(sum) }));
  return pagedTable(
    {
      rows: described,
      visit,
      about: `What each ${by} brought and cost`,
      none: 'No order was credited, and no fee is owed.',
      key: ({ sum: { currency, rank, key } }) => [currency, rank, key],
    },
    [
      column(capital(by), ({ sum }) => nameOf(sum, { by, visit })),
      by === 'deal' ? column('Creator', ({ sum }) => visit.creator(sum.name)) : null,
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
  );
}

/** Renders the name of the group, with a link to the deal or to the deals of the group. */
function nameOf({ key, name }: ReturnSum, { by, visit }: { by: ReturnGroup; visit: Visit }) {
  if (key === '') return by === 'deal' ? 'fees of codes' : 'unknown';
  const kept = Object.fromEntries(
    ['from', 'to', 'currency', 'in'].map((field) => [field, textOf(visit, field)]),
  );
  switch (by) {
    case 'deal':
      return visit.deal(key);
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
export const RETURN_KEY = { currency: 'text', rank: 'amount', key: 'text' } as const;

const WON_PATH = '/money/customers';
const MONTHS_OF_A_YEAR = 12;

/** Page of the new customers that deals won, with the revenue from them since. */
export const customersWonPage = definePage(WON_PATH, async (visit) => {
  const asked = readFilter(visit, { ...RETURN_FIELDS, show: hidden(byOption('', ['own']).read) });
  const { filter, months } = await toReturnFilter(asked.filter, visit, { count: MONTHS_OF_A_YEAR });
  const [rows, own] = await Promise.all([
    listCustomersWon(visit.db, {
      ...filter,
      ...keyedPageOf(visit, { month: 'month', dealId: 'text', brandId: 'text', currency: 'text' }),
    }),
    // Shown on request, because all customers who are influencers are compared with their orders.
    asked.filter.show === 'own'
      ? listSelfPurchases(visit.db, { days: SELF_PURCHASE_DAYS, limit: PAGE_ROWS })
      : null,
  ]);
  const described = rows.map((won) => ({ won, said: describeCustomersWon(won) }));
  return {
    title: 'Customers won',
    content: html`<p>Customers whose first known order was credited in ${months}, and the total of all their orders since, less refunds, with or without a creator. Customers are known only if a source has <code>customer_key</code>.</p>
${asked.form()}
${pagedTable(
  {
    rows: described,
    visit,
    about: 'Customers won',
    key: ({ won: { month, dealId, brandId, currency } }) => [month, dealId, brandId, currency],
    none: 'No order is known to be the first of its customer. In the first 90 days of customer keys this is unknown, because the customer may have ordered before.',
  },
  [
    column('Month', ({ won }) => won.month),
    column('Deal', ({ won }) => visit.deal(won.dealId)),
    column('Creator', ({ won }) => visit.creator(won.influencerHandle)),
    number('New customers', ({ said }) => said.newCustomers),
    number('Ordered again', ({ said }) => said.repeat),
    number('Value after 30 days', ({ said }) => said.worth30),
    number('After 90 days', ({ said }) => said.worth90),
    number('After 365 days', ({ said }) => said.worth365),
  ],
)}
<p class="dim">At least: for some orders of the month, it is unknown whether their customers are new. Not over: the days have not passed for all of the customers.</p>
${
  own === null
    ? html`<p>${anchor(visit.link(WON_PATH, { ...queryWithout(visit, 'show', 'after', 'zone', 'done'), show: 'own' }), 'List orders that creators may have placed themselves')}</p>`
    : own.length === 0
      ? html`<p class="none">No order is known that a creator may have placed. This needs customer_key and look-ups in real time.</p>`
      : blockList(
          describeSelfPurchases(own, { days: SELF_PURCHASE_DAYS, hasMore: own.length === PAGE_ROWS }),
          visit,
        )
}`,
  };
});

/** Fields of the filter of sums. */
export const RETURN_FIELDS = {
  from: byMonth('From month'),
  to: byMonth('To month'),
  deal: byText('Deal'),
  handle: byHandle('Creator'),
  brand: byText('Brand'),
  currency: byCurrency('Currency'),
};

/**
 * Turns what the address asks for into the filter of sums. If it names no month, the filter covers `count` months up to
 * the newest one with orders, because summing up more would take too long for a page.
 *
 * @param options.count number of months that the page shows by default.
 * @param options.isOver whether they end with the last month that is over, if there are orders until then.
 */
export async function toReturnFilter(
  {
    from,
    to,
    deal: dealId,
    brand: brandId,
    ...of
  }: Readonly<Record<keyof typeof RETURN_FIELDS, string | null>>,
  { db, now, config }: Visit,
  { count, isOver = false }: { count: number; isOver?: boolean },
): Promise<{ readonly filter: ReturnFilter; readonly months: string }> {
  const until = isOver ? monthBefore(now, config.statements.timeZone) : null;
  const months = await orNewest({ from, to }, count, () => findNewestMonth(db, until));
  return {
    filter: { ...months, dealId, brandId, handle: of.handle, currency: of.currency },
    months: describeMonths(months),
  };
}

type Months = { readonly from: string | null; readonly to: string | null };

/**
 * The months that were asked for. If there are none, `count` months up to the newest one.
 *
 * @param findNewest returns the newest month that has anything to show, as `2026-10`, or null.
 */
export async function orNewest(
  asked: Months,
  count: number,
  findNewest: () => Promise<string | null>,
): Promise<Months> {
  if (asked.from !== null || asked.to !== null) return asked;
  const newest = await findNewest();
  return { from: newest === null ? null : (monthsUntil(newest, count)[0] ?? null), to: newest };
}
