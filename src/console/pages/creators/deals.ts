import { sumMoney } from '../../../core/money.ts';
import { lastDayOf } from '../../../core/time/month.ts';
import { column, number } from '../../../render/block.ts';
import { type Html, html } from '../../../render/html/html.ts';
import { capital, formatCount, formatDuration, plural } from '../../../render/text.ts';
import {
  type ClicksOfMonth,
  type DealMonth,
  type DealVersion,
  findDeal,
  type ListedDeal,
  listDealClicks,
  listDealMonths,
  listDeals,
  listDealVersions,
  readCoverage,
  sayWay,
  stateOfDeal,
} from '../../../reports/list-deals.ts';
import { definePage, type Visit } from '../../console-page.ts';
import { monthChart } from '../../markup/bars.ts';
import { byHandle, byOption, byText, readFilter } from '../../markup/filter.ts';
import {
  amountList,
  anchor,
  badge,
  factList,
  figure,
  missing,
  noted,
  pagedTable,
  table,
} from '../../markup/parts.ts';
import { PAGE_ROWS, textOf } from '../../read-query.ts';

const STATES = ['active', 'inactive', 'gone'] as const;

/** What every list of deals says of each. */
export function dealColumns(visit: Visit) {
  return [
    column('Deal', ({ dealId }: ListedDeal) => visit.deal(dealId)),
    column('Brand', ({ brandName, brandId }: ListedDeal) => brandName ?? brandId),
    column('Campaign', ({ dealflowName }: ListedDeal) => dealflowName),
    column('State', (deal: ListedDeal) => badge(stateOfDeal(deal))),
  ];
}

/** The deals in the mirror, and how complete the mirror is. */
export const dealsPage = definePage('/deals', async (visit) => {
  const { filter, form } = readFilter(visit, {
    handle: byHandle('Creator'),
    brand: byText('Brand'),
    state: byOption('State', STATES),
  });
  const [rows, coverage] = await Promise.all([
    listDeals(visit.db, { ...filter, limit: PAGE_ROWS + 1, after: textOf(visit, 'after') }),
    readCoverage(visit.db),
  ]);
  return {
    title: 'Deals',
    content: html`<p>The service has no list of deals. This page shows the deals discovered so far; others may exist. Totals are the service's own, in the currency of the account.</p>
${form()}
${pagedTable({ rows, visit, about: 'Deals', none: 'The mirror has no such deal.', key: 'dealId' }, [
  ...dealColumns(visit),
  column('Creator', ({ influencerHandle, platform }) => noted(influencerHandle, platform)),
  number('Clicks', ({ totalClicks }) => countOf(totalClicks)),
  number('Orders', ({ totalReferrals }) => countOf(totalReferrals)),
  number('Sales', ({ totalSales }) => countOf(totalSales)),
  column('Read', ({ syncedAt }) =>
    syncedAt === null
      ? 'not yet'
      : html`<small>${formatDuration((visit.now.getTime() - syncedAt.getTime()) / 1000)} ago</small>`,
  ),
])}
<h2>How complete the mirror is</h2>
${
  coverage[0] === undefined
    ? html`<p class="none">Nothing has been mirrored yet. A job of the kind mirror-account does that.</p>`
    : html`<p>As of ${visit.instant(coverage[0].publishedAt)}.</p>
${table({ rows: coverage, about: 'Coverage of the mirror', none: 'None.' }, [
  column('Discovered through', ({ way }) => sayWay(way)),
  ...(['known', 'fresh', 'stale', 'unread', 'failing', 'deleted'] as const).map((name) =>
    number(capital(name), (row: (typeof coverage)[number]) => formatCount(row[name])),
  ),
])}`
}`,
  };
});

/** Formats the service's number with all its digits. */
function countOf(value: string | null): string | null {
  if (value === null) return null;
  const [whole = '', fraction] = value.split('.');
  return fraction === undefined ? formatCount(whole) : `${formatCount(whole)}.${fraction}`;
}

const MONTHS = 36;
const VERSIONS = 100;

/** One deal: its sales according to this project and to the service, and its history. */
export const dealPage = definePage('/deals/:deal', async (visit) => {
  const { deal: dealId = '' } = visit.params;
  const [deal, months, clicks, versions] = await Promise.all([
    findDeal(visit.db, dealId),
    listDealMonths(visit.db, { dealId, limit: MONTHS }),
    listDealClicks(visit.db, { dealId, limit: MONTHS }),
    listDealVersions(visit.db, { dealId, limit: VERSIONS + 1 }),
  ]);
  if (deal === null && months.length === 0)
    return missing(
      `Deal ${dealId}`,
      'The mirror does not know this deal, and no order was attributed to it.',
    );
  const credited = months.reduce((sum, { accepted }) => sum + accepted, 0);
  return {
    title: deal?.influencerHandle == null ? `Deal ${dealId}` : `Deal ${dealId} of ${deal.influencerHandle}`,
    content: html`${deal === null ? html`<p>The mirror has not read this deal yet.</p>` : null}
${factList([
  ['Creator', visit.creator(deal?.influencerHandle ?? null)],
  ['Platform', deal?.platform ?? null],
  ['Brand', deal?.brandName ?? deal?.brandId ?? null],
  ['Campaign', deal?.dealflowName ?? null],
  ['State', deal === null ? null : badge(stateOfDeal(deal))],
])}
<div class="figures">
${figure('Orders credited by this tool', formatCount(credited), { href: visit.link('/orders', { deal: dealId, disposition: 'accepted' }), note: amountsOf(months) })}
${
  deal === null
    ? null
    : html`${figure("Orders, the service's count", countOf(deal.totalReferrals) ?? 'unknown', { href: visit.link('/money/reconciliation', { deal: dealId }), note: 'including orders that other tools posted; compare them' })}
${figure("Sales, the service's count", countOf(deal.totalSales) ?? 'unknown', { note: 'in the currency of the account' })}
${figure("Clicks, the service's count", countOf(deal.totalClicks) ?? 'unknown')}
${figure("Commission and fees, the service's count", deal.totalCommission === null && deal.totalFixedFee === null ? 'unknown' : `${countOf(deal.totalCommission) ?? 'unknown'} + ${countOf(deal.totalFixedFee) ?? 'unknown'}`, { note: 'in the currency of the account' })}
${figure("Paid out, the service's count", countOf(deal.totalPayouts) ?? 'unknown', { note: 'in the currency of the account' })}`
}
</div>
<h2>Orders by month${months.some(({ open }) => open > 0) ? html` <small>the lower part of a bar is not settled</small>` : null}</h2>
${orderChart(months, { dealId, visit })}
${monthTable(months, { dealId, visit })}
<h2>Clicks by month <small>the service's count</small></h2>
${clickChart(clicks)}
<h2>History <small>what changed, as the mirror read it</small></h2>
${table(
  {
    rows: versions
      .slice(0, VERSIONS)
      .map((version, index) => ({ version, before: versions[index + 1] ?? null })),
    about: 'History of the deal',
    none: 'The mirror has not read this deal yet.',
  },
  [
    column('From', ({ version }) => visit.instant(version.validFrom)),
    column('To', ({ version: { validTo } }) => (validTo === null ? 'now' : visit.instant(validTo))),
    column(
      'What changed',
      ({ version, before }) => html`${changesOf(version, before).map((change) => html`${change}<br>`)}`,
    ),
  ],
)}
${versions.length > VERSIONS ? html`<p class="dim">Older versions are in bi.deal_history.</p>` : null}`,
  };
});

function amountsOf(months: readonly DealMonth[]): Html {
  return amountList(
    [...Map.groupBy(months, ({ currency }) => currency)].map(([currency, list]) => ({
      currency,
      amount: sumMoney(list.map(({ amount }) => amount)),
    })),
  );
}

function orderChart(
  months: readonly DealMonth[],
  { dealId, visit }: { dealId: string; visit: Visit },
): Html | null {
  const sum = (month: string, of: 'accepted' | 'open') =>
    months.filter((one) => one.month === month).reduce((total, one) => total + one[of], 0);
  return monthChart(
    months.map(({ month }) => month),
    {
      label: 'Orders of the deal by month',
      barOf: (month) => ({
        value: sum(month, 'accepted') + sum(month, 'open'),
        part: sum(month, 'open'),
        name: `${month}: ${plural(sum(month, 'accepted'), 'order')} credited, ${sum(month, 'open')} not settled`,
        href: visit.link('/orders', { deal: dealId, from: `${month}-01`, to: lastDayOf(month) }),
      }),
    },
  );
}

function clickChart(clicks: readonly ClicksOfMonth[]): Html {
  if (clicks.length === 0)
    return html`<p class="none">The count has not changed since it was first read.</p>`;
  return html`${monthChart(
    clicks.map(({ month }) => month),
    {
      label: 'Clicks of the deal by month',
      barOf(month) {
        const value = clicks.find((one) => one.month === month)?.clicks;
        return {
          value: value ?? 0,
          name: `${month}: ${value === undefined ? 'no change of the count was read' : plural(value, 'click')}`,
        };
      },
    },
  )}${factList(clicks.toReversed().map(({ month, clicks: value }) => [month, formatCount(value)]))}`;
}

function monthTable(months: readonly DealMonth[], { dealId, visit }: { dealId: string; visit: Visit }): Html {
  return table({ rows: months, about: 'Orders by month', none: 'No order was attributed to this deal.' }, [
    column('Month', ({ month }) =>
      anchor(visit.link('/orders', { deal: dealId, from: `${month}-01`, to: lastDayOf(month) }), month),
    ),
    number('Credited', ({ accepted }) => formatCount(accepted)),
    number('Not settled', ({ open }) => formatCount(open)),
    number('Credited revenue', ({ amount, currency }) => amountList([{ amount, currency }])),
  ]);
}

/** Every field of a deal that has a history, by its name on the page. Amounts are in the currency of the account. */
const FIELDS: Readonly<Record<string, (version: DealVersion) => string | number | null>> = {
  handle: ({ influencerHandle }) => influencerHandle,
  platform: ({ platform }) => platform,
  brand: ({ brandId }) => brandId,
  campaign: ({ dealflowId }) => dealflowId,
  stage: ({ funnelStep }) => funnelStep,
  active: ({ isActive }) => (isActive === null ? null : isActive ? 'yes' : 'no'),
  clicks: ({ totalClicks }) => totalClicks,
  orders: ({ totalReferrals }) => totalReferrals,
  sales: ({ totalSales }) => totalSales,
  commission: ({ totalCommission }) => totalCommission,
  'fixed fees': ({ totalFixedFee }) => totalFixedFee,
  'paid out': ({ totalPayouts }) => totalPayouts,
};

/** Describes what a version changed: `clicks: 3 → 6`. Of the first version, every known field: `clicks: 3`. */
function changesOf(version: DealVersion, before: DealVersion | null): readonly string[] {
  const changes = Object.entries(FIELDS).flatMap(([name, read]) => {
    const now = read(version);
    if (before === null) return now === null ? [] : [`${name}: ${now}`];
    const earlier = read(before);
    return now === earlier ? [] : [`${name}: ${earlier ?? 'unknown'} → ${now ?? 'unknown'}`];
  });
  return changes.length === 0 ? ['a field that has no column here'] : changes;
}
