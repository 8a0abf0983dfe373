import { formatMoney, sumMoney } from '../../../core/money.ts';
import { foldHandle } from '../../../core/text/fold.ts';
import type { Html } from '../../../core/text/html.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount, plural } from '../../../render/text.ts';
import { spellingsOf } from '../../../reports/find-handles.ts';
import { type ListedDeal, listDeals, stateOfDeal } from '../../../reports/list-deals.ts';
import { listReturns } from '../../../reports/money/list-returns.ts';
import { listCreatorCodes, listUnpaid, type Unpaid } from '../../../reports/money/read-creators.ts';
import { describeReturn } from '../../../reports/money/returns.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { amountList, anchor, badge, dealAnchor, instant, missing, table } from '../../markup/parts.ts';

const MONTHS = 36;
const SHOWN = 100;

/** One creator: what they brought and earned by month, what is not paid yet, their codes and deals. */
export const creatorPage: ConsolePage = {
  path: '/creators/:creator',
  place: 'Creators',
  tab: null,
  async show(visit) {
    const { db } = visit;
    const creator = foldHandle(visit.params.creator ?? '');
    const spellings = await spellingsOf(db, creator);
    const filter = { from: null, to: null, spellings };
    const [months, sums, unpaid, deals] = await Promise.all([
      listReturns(db, { ...filter, by: 'month', limit: MONTHS }),
      listReturns(db, { ...filter, by: 'creator', limit: SHOWN }),
      listUnpaid(db, spellings),
      listDeals(db, { spellings, limit: SHOWN }),
    ]);
    const codes = await listCreatorCodes(db, {
      creator,
      deals: deals.map(({ dealId }) => dealId),
      limit: SHOWN,
    });
    if (months.length + deals.length + codes.length === 0)
      return missing(creator, 'No deal, code or credited order names this creator.');
    return {
      title: sums[0]?.name ?? deals[0]?.influencerHandle ?? creator,
      content: html`<div class="answer"><p>${answer(
        sums.map((sum) => ({ ...describeReturn(sum), count: sum.orders })),
        unpaid,
      )}</p></div>
<h2>By month</h2>
${table(
  months.map((sum) => ({ sum, said: describeReturn(sum) })),
  [
    column('Month', ({ sum }) => anchor(visit.link(`/statements/${sum.key}`), sum.key)),
    number('Orders', ({ said }) => said.orders),
    number('Net revenue', ({ said }) => said.net),
    number('Earned', ({ said }) => said.cost),
    number('New customers', ({ said }) => said.newCustomers),
    column('Unknown', ({ said }) => said.why),
  ],
  { about: 'By month', none: 'No order was credited yet.' },
)}
<h2>Not in a closed statement <small>by the month whose statement will contain it</small></h2>
${table(
  unpaid,
  [
    column('Month', ({ month }) => anchor(visit.link(`/statements/${month}`), month)),
    number('Orders', ({ orders }) => formatCount(orders)),
    number('Earned', ({ amount, currency }) => amountList([{ amount, currency }])),
  ],
  {
    about: 'Not in a closed statement',
    none: 'Nothing: every order is in a closed statement, or has no rate.',
  },
)}
<h2>Codes</h2>
${table(
  codes,
  [
    column('Code', ({ code }) => anchor(visit.link('/codes', { show: 'owned', code }), code)),
    column('Valid', ({ validFrom, validTo }) =>
      validFrom === null && validTo === null
        ? 'always'
        : html`${validFrom === null ? 'always' : instant(validFrom, visit)} to ${validTo === null ? 'open' : instant(validTo, visit)}`,
    ),
    column('Job', ({ job }) => job),
  ],
  { about: 'Codes', none: 'No code names this creator or one of their deals.' },
)}
<h2>Deals</h2>
${dealTable(deals, visit)}`,
    };
  },
};

/** The whole answer in a sentence: what was brought and earned, and what is not paid yet. */
function answer(
  sums: readonly { readonly count: number; readonly net: string; readonly cost: string }[],
  unpaid: readonly Unpaid[],
): string {
  const brought = sums.map(({ count, net, cost }) => `${plural(count, 'order')}, ${net} (earned ${cost})`);
  const open = [...Map.groupBy(unpaid, ({ currency }) => currency)].map(([currency, list]) => {
    return formatMoney(sumMoney(list.map(({ amount }) => amount)), currency);
  });
  return `${brought.length === 0 ? 'Nothing was credited yet' : `Brought ${brought.join('; ')}`}. ${open.length === 0 ? 'Nothing waits to be paid' : `Not in a closed statement yet: ${open.join(', ')}`}.`;
}

function dealTable(deals: readonly ListedDeal[], visit: Visit): Html {
  return table(
    deals,
    [
      column('Deal', ({ dealId }) => dealAnchor(visit, dealId)),
      column('Brand', ({ brandName, brandId }) => brandName ?? brandId),
      column('Campaign', ({ dealflowName }) => dealflowName),
      column('State', (deal) => badge(stateOfDeal(deal))),
      column('Orders', ({ dealId }) => anchor(visit.link('/orders', { deal: dealId }), 'its orders')),
      number("Clicks, the service's count", ({ totalClicks }) => totalClicks),
    ],
    { about: 'Deals', none: 'The mirror knows no deal of this creator.' },
  );
}
