import { sumMoney } from '../../model/money.ts';
import type { Html } from '../../model/text/html.ts';
import { html } from '../../present/html/html.ts';
import { formatCount } from '../../present/text.ts';
import {
  type DealMonth,
  type DealVersion,
  findDeal,
  listDealMonths,
  listDealVersions,
} from '../../report/console/list-deals.ts';
import type { ConsolePage, Visit } from '../console-page.ts';
import { amountList, figure, instant, table } from '../markup/parts.ts';
import { stackedBars } from '../markup/stacked-bars.ts';

const MONTHS = 36;
const VERSIONS = 100;

/** One deal: its sales according to this project and to the service, and its history. */
export const dealPage: ConsolePage = {
  path: '/deals/:deal',
  navigation: null,
  async show(visit) {
    const { deal: dealId = '' } = visit.params;
    const [deal, months, versions] = await Promise.all([
      findDeal(visit.db, dealId),
      listDealMonths(visit.db, { dealId, limit: MONTHS }),
      listDealVersions(visit.db, { dealId, limit: VERSIONS + 1 }),
    ]);
    if (deal === null && months.length === 0)
      return {
        title: `Deal ${dealId}`,
        content: html`<p>The mirror does not know this deal, and no order was attributed to it.</p>`,
        status: 404,
      };
    const credited = months.reduce((sum, { accepted }) => sum + accepted, 0);
    return {
      title: deal?.influencerHandle ?? `Deal ${dealId}`,
      content: html`<p>Deal ${dealId}${deal === null ? html`, which the mirror has not read yet` : html`: ${deal.platform ?? 'unknown platform'}, brand ${deal.brandName ?? deal.brandId ?? 'unknown'}, dealflow ${deal.dealflowName ?? 'unknown'}, ${deal.isDeleted ? 'gone' : deal.isActive === false ? 'inactive' : 'active'}`}.</p>
<div class="figures">
${figure('Orders credited by this tool', formatCount(credited), { href: visit.link('/orders', { deal: dealId, disposition: 'accepted' }), note: amountsOf(months) })}
${
  deal === null
    ? null
    : html`${figure("Orders, the service's count", deal.totalReferrals ?? 'unknown', { note: 'including orders that other tools posted' })}
${figure("Sales, the service's count", deal.totalSales ?? 'unknown', { note: 'in the currency of the account' })}
${figure('Clicks', deal.totalClicks ?? 'unknown')}
${figure('Commission and fees earned', `${deal.totalCommission ?? '0'} + ${deal.totalFixedFee ?? '0'}`, { note: 'in the currency of the account' })}
${figure('Paid out', deal.totalPayouts ?? 'unknown', { note: 'in the currency of the account' })}`
}
</div>
<h2>Orders by month</h2>
${monthChart(months, { dealId, visit })}
${monthTable(months)}
<h2>History</h2>
${historyTable(versions, visit)}
${versions.length > VERSIONS ? html`<p class="dim">Older versions are in bi.deal_history.</p>` : null}`,
    };
  },
};

function amountsOf(months: readonly DealMonth[]): Html {
  return amountList(
    [...Map.groupBy(months, ({ currency }) => currency)].map(([currency, list]) => ({
      currency,
      amount: sumMoney(list.map(({ amount }) => amount)),
    })),
  );
}

function monthChart(
  months: readonly DealMonth[],
  { dealId, visit }: { readonly dealId: string; readonly visit: Visit },
): Html {
  const labels = [...new Set(months.map(({ month }) => month))].sort();
  if (labels.length === 0) return html``;
  const sum = (month: string, of: 'accepted' | 'open') =>
    months.filter((one) => one.month === month).reduce((total, one) => total + one[of], 0);
  return stackedBars(
    labels,
    [
      { name: 'credited', counts: labels.map((month) => sum(month, 'accepted')) },
      { name: 'not settled', counts: labels.map((month) => sum(month, 'open')) },
    ],
    {
      title: 'Orders of the deal by month',
      unit: 'Month',
      href: (month) => visit.link('/orders', { deal: dealId, from: `${month}-01`, to: lastDayOf(month) }),
    },
  );
}

/** The last day of a month: `2026-02-28` for `2026-02`. */
function lastDayOf(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}

function monthTable(months: readonly DealMonth[]): Html {
  return table(
    [
      { title: 'Month', cell: ({ month }) => month },
      { title: 'Credited', align: 'right', cell: ({ accepted }) => formatCount(accepted) },
      { title: 'Not settled', align: 'right', cell: ({ open }) => formatCount(open) },
      {
        title: 'Credited revenue',
        align: 'right',
        cell: ({ amount, currency }) => amountList([{ amount, currency }]),
      },
    ],
    months,
    { about: 'Orders by month', none: 'No order was attributed to this deal.' },
  );
}

function historyTable(versions: readonly DealVersion[], visit: Visit): Html {
  return table(
    [
      { title: 'From', cell: ({ validFrom }) => instant(validFrom, visit) },
      { title: 'To', cell: ({ validTo }) => (validTo === null ? 'now' : instant(validTo, visit)) },
      { title: 'Handle', cell: ({ influencerHandle }) => influencerHandle },
      {
        title: 'Dealflow',
        cell: ({ dealflowId }) => dealflowId,
      },
      { title: 'Stage', align: 'right', cell: ({ funnelStep }) => funnelStep },
      { title: 'Active', cell: ({ isActive }) => (isActive === null ? 'unknown' : isActive ? 'yes' : 'no') },
      { title: 'Clicks', align: 'right', cell: ({ totalClicks }) => totalClicks },
      { title: 'Orders', align: 'right', cell: ({ totalReferrals }) => totalReferrals },
      { title: 'Sales', align: 'right', cell: ({ totalSales }) => totalSales },
    ],
    versions.slice(0, VERSIONS),
    { about: 'History of the deal', none: 'The mirror has not read this deal yet.' },
  );
}
