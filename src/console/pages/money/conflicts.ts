import { CONFLICT_KINDS, RULES, type RuleSum, type RuleWinner } from '../../../core/money/conflicts.ts';
import { formatKnown } from '../../../core/money.ts';
import { column, number } from '../../../render/block.ts';
import { type Html, html } from '../../../render/html/html.ts';
import { capital } from '../../../render/text.ts';
import { CONFLICTS, formatRule, RULES_SAY } from '../../../reports/money/conflicts.ts';
import { compareRules, findNewestConflict, listConflicts } from '../../../reports/money/list-conflicts.ts';
import { describeMonths } from '../../../reports/money/returns.ts';
import { definePage, type Visit } from '../../console-page.ts';
import { byMonth, byOption, byText, readFilter } from '../../markup/filter.ts';
import { badge, noted, pagedTable, table } from '../../markup/parts.ts';
import { keyedPageOf, PAGE_ROWS } from '../../read-query.ts';
import { orNewest } from './returns.ts';

/** Number of months that the page shows by default, because comparing the rules over years takes too long for a page. */
const SHOWN_MONTHS = 3;

/** Page of the orders with evidence for several creators, and the owner whom each rule would credit. */
export const conflictsPage = definePage('/money/conflicts', async (visit) => {
  const asked = readFilter(visit, {
    kind: byOption('What disagrees', CONFLICT_KINDS),
    from: byMonth('From month'),
    to: byMonth('To month'),
    deal: byText('Deal'),
  });
  const { kind, deal: dealId, ...given } = asked.filter;
  const months = await orNewest(given, SHOWN_MONTHS, () => findNewestConflict(visit.db));
  const filter = { ...months, kind, dealId };
  const [sums, orders] = await Promise.all([
    compareRules(visit.db, { ...filter, limit: PAGE_ROWS }),
    listConflicts(visit.db, {
      ...filter,
      ...keyedPageOf(visit, { day: 'day', job: 'text', source: 'text', orderId: 'text' }),
    }),
  ]);
  return {
    title: 'Orders with evidence for several creators',
    content: html`<p>Each order carries codes or links of more than one owner, or the export names a different owner. The job has credited or held each order by its own rules. The tables show what other rules would credit, for ${describeMonths(months)}; they change nothing.</p>
${asked.form()}
<h2>By rule</h2>
${table({ rows: sums, about: 'Revenue by rule', visit, none: 'No revenue is in conflict.' }, [
  column('Owner', (sum: RuleSum) => winnerOf(sum, visit)),
  ...RULES.map((rule) => number(capital(rule), (sum: RuleSum) => formatRule(sum, rule))),
])}
<p class="dim">${RULES_SAY}</p>
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
    column('Order', (order) => visit.order(order)),
    column('Day', ({ day }) => day),
    number('Amount', ({ amount, currency }) => formatKnown(amount, currency)),
    column('What disagrees', ({ conflict }) => CONFLICTS[conflict]),
    column('Evidence', ({ evidence, isSameCreator }) =>
      isSameCreator === true ? noted(evidence, 'deals of one creator') : evidence,
    ),
    ...RULES.map((rule) =>
      column(
        capital(rule),
        ({ [rule]: winner, disposition }: (typeof orders)[number]) =>
          html`${winnerOf(winner, visit)}${rule === 'credited' ? html` ${badge(disposition)}` : null}`,
      ),
    ),
  ],
)}`,
  };
});

/** Whom a rule credits: the creator with the deal, as far as they are known. */
function winnerOf({ target, influencerHandle }: RuleWinner, visit: Visit): Html {
  if (target === null) return html`no creator`;
  const [, dealId = null] = /^deal:(.*)$/s.exec(target) ?? [];
  if (dealId === null && influencerHandle === null) return html`${target}`;
  return html`${visit.creator(influencerHandle)}${dealId === null ? null : html` <small>deal ${visit.deal(dealId)}</small>`}`;
}
