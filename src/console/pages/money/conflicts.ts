import { CONFLICT_KINDS } from '../../../core/money/conflicts.ts';
import { formatMoney } from '../../../core/money.ts';
import { column, number } from '../../../render/block.ts';
import { blockMarkup } from '../../../render/html/block-markup.ts';
import { html } from '../../../render/html/html.ts';
import { CONFLICTS, describeRuleSums, describeWinner } from '../../../reports/money/conflicts.ts';
import { compareRules, findNewestConflict, listConflicts } from '../../../reports/money/list-conflicts.ts';
import { describeMonths } from '../../../reports/money/returns.ts';
import { definePage } from '../../console-page.ts';
import { anchor, badge, filterForm, orderLink, pagedTable } from '../../markup/parts.ts';
import { keyOf, optionOf, PAGE_ROWS, textOf } from '../../read-query.ts';
import { readMonths } from './returns.ts';

const PATH = '/money/conflicts';
/** Number of months that the page shows by default, because comparing the rules over years takes too long for a page. */
const SHOWN_MONTHS = 3;

/** Page of the orders with evidence for several creators, and the owner whom each rule would credit. */
export const conflictsPage = definePage(PATH, async (visit) => {
  const kind = optionOf(visit, 'kind', CONFLICT_KINDS);
  const months = await readMonths(visit, { count: SHOWN_MONTHS, findNewest: findNewestConflict });
  const filter = { ...months, kind, dealId: textOf(visit, 'deal') };
  const [sums, orders] = await Promise.all([
    compareRules(visit.db, { ...filter, limit: PAGE_ROWS }),
    listConflicts(visit.db, {
      ...filter,
      limit: PAGE_ROWS + 1,
      after: keyOf(visit, { day: 'day', job: 'text', source: 'text', orderId: 'text' }),
    }),
  ]);
  return {
    title: 'Orders with evidence for several creators',
    content: html`<p>Each order carries codes or links of more than one owner, or the export names a different owner. The job has credited or held each order by its own rules. The table shows what other rules would credit, for ${describeMonths(months)}; it changes nothing.</p>
${filterForm(visit, [
  { name: 'kind', label: 'What disagrees', options: CONFLICT_KINDS },
  { name: 'from', label: 'From month' },
  { name: 'to', label: 'To month' },
  { name: 'deal', label: 'Deal' },
])}
<h2>By rule</h2>
${describeRuleSums(sums, { otherwise: 'No revenue is in conflict.' }).map(blockMarkup)}
<h2>Orders</h2>
${pagedTable(
  {
    rows: orders,
    visit,
    about: 'Orders with evidence for several creators',
    none: 'No order that matches has evidence for more than one owner.',
    key: ['day', 'job', 'source', 'orderId'],
  },
  [
    column('Order', (order) => anchor(orderLink(visit, order), order.orderId)),
    column('Day', ({ day }) => day),
    number('Amount', ({ amount, currency }) => formatMoney(amount, currency)),
    column('What disagrees', ({ conflict }) => CONFLICTS[conflict]),
    column('Evidence', ({ evidence, isSameCreator }) =>
      isSameCreator === true ? html`${evidence} <small>deals of one creator</small>` : evidence,
    ),
    column(
      'Credited',
      ({ credited, disposition }) => html`${describeWinner(credited)} ${badge(disposition)}`,
    ),
    column('First', ({ first }) => describeWinner(first)),
    column('Last', ({ last }) => describeWinner(last)),
    column('Explicit', ({ explicit }) => describeWinner(explicit)),
  ],
)}`,
  };
});
