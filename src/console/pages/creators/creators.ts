import type { Html } from '../../../core/text/html.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount } from '../../../render/text.ts';
import { listReturns } from '../../../reports/money/list-returns.ts';
import { listCreatorMonths } from '../../../reports/money/read-creators.ts';
import { describeReturn } from '../../../reports/money/returns.ts';
import type { ConsolePage } from '../../console-page.ts';
import { anchor, creatorLink, filterForm, pagedTable } from '../../markup/parts.ts';
import { keyOf, PAGE_ROWS, writeKey } from '../../read-query.ts';
import { readReturnFilter } from '../money/return-filter.ts';

const PATH = '/creators';
const MONTHS = 12;

/** The months from one to another, both included; at most three years, which a row can show. */
function monthsBetween(from: string | null, to: string | null): readonly string[] {
  if (from === null || to === null) return [];
  const first = new Date(`${from}-01T00:00:00Z`);
  return Array.from({ length: 36 }, (_, index) =>
    new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + index)).toISOString().slice(0, 7),
  ).filter((month) => month <= to);
}

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
    const shown = monthsBetween(filter.from ?? series[0]?.month ?? null, filter.to);
    return {
      title: 'Creators',
      content: html`<p>Credited orders less refunds and cancellations, the most revenue first in each currency; ${months}.</p>
${filterForm(visit, PATH, [
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

const SPARK_WIDTH = 120;
const SPARK_HEIGHT = 24;

/** Draws values in a row of a table, oldest first. @param label what they are, for screen readers. */
function sparkline(values: readonly number[], label: string): Html {
  const highest = Math.max(...values, 0);
  if (highest === 0) return html``;
  const step = SPARK_WIDTH / Math.max(12, values.length);
  return html`<svg class="spark" width="${SPARK_WIDTH}" height="${SPARK_HEIGHT}" viewBox="0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}" role="img" aria-label="${label}">${values.map(
    (value, index) => {
      const height = Math.max(value > 0 ? 1.5 : 0, (Math.max(0, value) / highest) * (SPARK_HEIGHT - 2));
      return html`<rect class="c0" x="${(index * step).toFixed(1)}" y="${(SPARK_HEIGHT - height).toFixed(1)}" width="${(step * 0.75).toFixed(1)}" height="${height.toFixed(1)}"/>`;
    },
  )}</svg>`;
}
