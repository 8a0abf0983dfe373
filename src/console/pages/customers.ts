import { column, number } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { formatCount } from '../../render/text.ts';
import { listInfluencers, listRefusals, readLookups } from '../../reports/money/read-customers.ts';
import { type CustomerGroup, countCustomers } from '../../reports/status/status.ts';
import { definePage } from '../console-page.ts';
import { byText, readFilter } from '../markup/filter.ts';
import { amountList, noted, pagedTable, table } from '../markup/parts.ts';
import { keyedPageOf } from '../read-query.ts';

const SHOWN_REFUSALS = 20;

/** The states of customers, and the influencers among them. No e-mail address is shown. */
export const customersPage = definePage('/customers', async (visit) => {
  const { filter, form } = readFilter(visit, { brand: byText('Brand') });
  const [groups, lookups, refusals, influencers] = await Promise.all([
    countCustomers(visit.db),
    readLookups(visit.db),
    listRefusals(visit.db, { limit: SHOWN_REFUSALS }),
    listInfluencers(visit.db, {
      ...filter,
      ...keyedPageOf(visit, { followers: 'whole', platform: 'text', userId: 'text', brandId: 'text' }),
    }),
  ]);
  return {
    title: 'Customers',
    content: html`<h2>From read to identified</h2>
<p>Submitted means that the service has queued them; it does not say when it has processed each customer. Addresses are stored only until a batch is accepted, and never shown.</p>
${funnel(groups, lookups)}
<h2>Refused by the service</h2>
${table({ rows: refusals, about: 'Refusals', none: 'The service refused no customer.' }, [
  column('Reason', ({ message }) => message),
  number('Customers', ({ customers }) => formatCount(customers)),
  column('Brand', ({ brandId: brand }) => brand),
])}
<h2>Influencers among customers</h2>
<p>Found by look-ups in real time. The service shows influencers that it finds later on its own pages.</p>
${form()}
${pagedTable(
  {
    rows: influencers,
    visit,
    about: 'Influencers among customers',
    none: 'No look-up has found an influencer yet.',
    key: ({ key }) => [key.followers, key.platform, key.userId, key.brandId],
  },
  [
    column('Creator', ({ username, platform }) => noted(username, platform)),
    number('Followers', ({ followers }) => (followers === null ? null : formatCount(followers))),
    number('Orders', ({ orders }) => orders),
    number('Spent', ({ spent, currency }) =>
      spent === null ? null : amountList([{ amount: spent, currency }]),
    ),
    column('Deal', ({ dealId }) => (dealId === null ? 'none' : visit.deal(dealId))),
    column('Looked up', ({ lookedUpAt }) => visit.instant(lookedUpAt)),
    column('Brand', ({ brandName, brandId }) => brandName ?? brandId),
  ],
)}`,
  };
});

function funnel(groups: readonly CustomerGroup[], lookups: Awaited<ReturnType<typeof readLookups>>): Html {
  const brands = [...new Set([...groups, ...lookups].map(({ brandId }) => brandId))].sort();
  const counts = (title: string, ...states: readonly string[]) =>
    number(title, (brand: string) => {
      const counted = groups.filter(({ brandId, state }) => brandId === brand && states.includes(state));
      return formatCount(counted.reduce((sum, { customers }) => sum + customers, 0));
    });
  return table({ rows: brands, about: 'Customers by state', none: 'No customers were read yet.' }, [
    column('Brand', (brand) => brand),
    counts('Read', 'staged', 'submitted', 'refused', 'unsubscribed'),
    counts('To be submitted', 'staged'),
    counts('Unsubscribed', 'unsubscribed'),
    counts('Refused', 'refused'),
    counts('Submitted', 'submitted'),
    number('Looked up in real time', (brand) => {
      const found = lookups.find(({ brandId }) => brandId === brand);
      return found === undefined ? '0' : formatCount(found.influencers + found.noMatch + found.refused);
    }),
    number('Influencers', (brand) =>
      formatCount(lookups.find(({ brandId }) => brandId === brand)?.influencers ?? 0),
    ),
  ]);
}
