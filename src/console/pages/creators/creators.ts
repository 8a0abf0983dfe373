import { monthsUntil } from '../../../core/time/month.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount } from '../../../render/text.ts';
import { listReturns } from '../../../reports/money/list-returns.ts';
import { listCreatorMonths } from '../../../reports/money/read-creators.ts';
import { describeReturn } from '../../../reports/money/returns.ts';
import type { ConsolePage } from '../../console-page.ts';
import { sparkline } from '../../markup/bars.ts';
import { anchor, creatorLink, filterForm, pagedTable } from '../../markup/parts.ts';
import { keyOf, PAGE_ROWS, writeKey } from '../../read-query.ts';
import { readReturnFilter } from '../money/return-filter.ts';

const PATH = '/creators';
const MONTHS = 12;

/** The creators by the net revenue of the last months. */
export const creatorsPage: ConsolePage = {
  path: PATH,
  place: 'Creators',
  tab: 'Creators',
  async show(visit) {
    const { filter, months } = await readReturnFilter(visit, { count: MONTHS });
    const [currency = '', rank = '', key = ''] = keyOf(visit, 3) ?? [];
    const after = /^-?\d{1,20}(\.\d{1,4})?$/.test(rank) ? { currency, rank, key } : null;
    const rows = await listReturns(visit.db, { ...filter, by: 'creator', limit: PAGE_ROWS + 1, after });
    const creators = rows.slice(0, PAGE_ROWS).map((row) => row.key);
    const series = await listCreatorMonths(visit.db, { creators, from: filter.from });
    const from = filter.from ?? series[0]?.month;
    // A row can show three years.
    const shown =
      filter.to === null ? [] : monthsUntil(filter.to, 36).filter((month) => month >= (from ?? ''));
    return {
      title: 'Creators',
      content: html`<p>Credited orders of ${months}, less refunds and cancellations. In each currency, the most revenue is first.</p>
${filterForm(visit, [
  { name: 'handle', label: 'Creator' },
  { name: 'from', label: 'From month' },
  { name: 'to', label: 'To month' },
])}
${pagedTable(
  rows,
  [
    column('Creator', ({ key: creator, name }) =>
      creator === '' ? 'unknown' : anchor(creatorLink(visit, creator), name ?? creator),
    ),
    number('Orders', ({ orders }) => formatCount(orders)),
    number('Net revenue', (sum) => describeReturn(sum).net),
    number('Earned', (sum) => describeReturn(sum).cost),
    column('By month', ({ key: creator, currency: of }) =>
      sparkline(
        shown.map((month) =>
          Number(
            series.find((one) => one.creator === creator && one.month === month && one.currency === of)
              ?.net ?? 0,
          ),
        ),
        `Net revenue in ${of} by month, ${shown[0] ?? ''} to ${shown.at(-1) ?? ''}`,
      ),
    ),
  ],
  {
    visit,
    about: 'Creators',
    none: 'No order was credited yet.',
    keyOf: (sum) => writeKey(sum.currency, sum.rank, sum.key),
  },
)}`,
    };
  },
};
