import { formatMoney } from '../../../core/money.ts';
import { isDay } from '../../../core/time/day.ts';
import type { StatementLine, StatementRules } from '../../../money/statement.ts';
import { type LineKey, listDealLines, sumStatement } from '../../../money/sum-statement.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount } from '../../../render/text.ts';
import { describeToPay } from '../../../reports/money/uncounted.ts';
import type { Shown, Visit } from '../../console-page.ts';
import { anchor, badge, dealLink, factList, orderLink, pager, table } from '../../markup/parts.ts';
import { keyOf, nextKey, PAGE_ROWS, writeKey } from '../../read-query.ts';

/** Shows the lines of one deal in a statement, page by page. */
export async function showDealLines(
  visit: Visit,
  options: { readonly month: string; readonly rules: StatementRules; readonly dealId: string },
): Promise<Shown> {
  const { month, dealId } = options;
  const [sums, lines] = await Promise.all([
    sumStatement(visit.db, { ...options, limit: PAGE_ROWS }),
    listDealLines(visit.db, { ...options, limit: PAGE_ROWS + 1, after: readKey(visit) }),
  ]);
  const path = `/statements/${month}`;
  const handle = sums.deals.find(({ influencerHandle }) => influencerHandle !== null)?.influencerHandle;
  return {
    title: `Statement of ${month}: deal ${dealId}`,
    content: html`<p>${badge(sums.closed === null ? 'open' : 'closed')} ${anchor(visit.link(path), `The whole statement of ${month}`)}</p>
${factList([
  [
    'To pay',
    describeToPay(sums.currencies, { uncounted: sums.uncountedSums, unknownFees: sums.unknownFees }) ||
      'nothing',
  ],
  ['Deal', anchor(dealLink(visit, dealId), dealId)],
  ['Influencer', handle ?? null],
  [
    'Document',
    anchor(visit.link(path, { deal: dealId, download: 'pdf' }), 'Download as PDF, for the creator'),
  ],
  ['Lines', formatCount(sums.currencies.reduce((sum, one) => sum + one.lines, 0))],
])}
${table(
  [
    { title: 'Day', cell: ({ orderedOn, dueOn }) => orderedOn ?? dueOn },
    { title: 'What', cell: (line) => whatOf(line, visit) },
    {
      title: 'Net revenue',
      align: 'right',
      cell: ({ netAmount, excludedAmount, currency }) =>
        netAmount === null
          ? null
          : html`${formatMoney(netAmount, currency)}${excludedAmount === null ? null : html` <small>less ${formatMoney(excludedAmount, null)} excluded</small>`}`,
    },
    {
      title: 'Rate',
      align: 'right',
      cell: ({ ratePercent, rateFrom }) =>
        ratePercent === null ? null : html`${ratePercent} % <small>${rateFrom}</small>`,
    },
    { title: 'Earned', align: 'right', cell: ({ earnedAmount }) => formatMoney(earnedAmount, null) },
    { title: 'Before', align: 'right', cell: ({ closedBefore }) => formatMoney(closedBefore, null) },
    { title: 'Adds', align: 'right', cell: ({ amount, currency }) => formatMoney(amount, currency) },
  ],
  lines.slice(0, PAGE_ROWS),
  { about: `Lines of deal ${dealId}`, none: 'The statement has no line for this deal.' },
)}
${pager(visit, path, { after: nextKey(lines, ({ currency, dueOn, kind, subject }) => writeKey(currency, dueOn, kind, subject)) })}`,
  };
}

function whatOf({ kind, orderId, source }: StatementLine, visit: Visit) {
  const subject =
    orderId === null ? 'fee' : html`order ${anchor(orderLink(visit, { source, orderId }), orderId)}`;
  return kind === 'correction' ? html`${subject}, corrected` : subject;
}

function readKey(visit: Visit): LineKey | null {
  const [currency = '', dueOn = '', kind = '', subject = ''] = keyOf(visit, 4) ?? [];
  return isDay(dueOn) ? { currency, dueOn, kind: kind as LineKey['kind'], subject } : null;
}
