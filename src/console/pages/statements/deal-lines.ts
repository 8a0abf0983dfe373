import { formatMoney } from '../../../core/money.ts';
import { listPayments } from '../../../money/payments/keep-payments.ts';
import type { StatementLine, StatementRules } from '../../../money/statement.ts';
import { type LineKey, listDealLines, sumStatement } from '../../../money/sum-statement.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount } from '../../../render/text.ts';
import { describeToPay } from '../../../reports/money/statement.ts';
import { describePaid } from '../../../reports/payments/payments.ts';
import type { Shown, Visit } from '../../console-page.ts';
import { notOffered } from '../../markup/action-form.ts';
import { anchor, badge, dealAnchor, factList, orderLink, pagedTable } from '../../markup/parts.ts';
import { keyOf, PAGE_ROWS } from '../../read-query.ts';

/** Shows the lines of one deal in a statement, page by page. */
export async function showDealLines(
  visit: Visit,
  options: { readonly month: string; readonly rules: StatementRules; readonly dealId: string },
): Promise<Shown> {
  const { month, dealId } = options;
  const key = keyOf(visit, { currency: 'text', dueOn: 'day', kind: 'text', subject: 'text' });
  const [sums, lines] = await Promise.all([
    sumStatement(visit.db, { ...options, limit: PAGE_ROWS }),
    listDealLines(visit.db, {
      ...{ ...options, limit: PAGE_ROWS + 1 },
      after: key === null ? null : { ...key, kind: key.kind as LineKey['kind'] },
    }),
  ]);
  const { closed } = sums;
  const payments =
    closed === null ? [] : await listPayments(visit.db, { of: { statementId: closed.statementId, dealId } });
  const path = `/statements/${month}`;
  const handle = sums.deals.find(({ influencerHandle }) => influencerHandle !== null)?.influencerHandle;
  return {
    title: `Statement of ${month}: deal ${dealId}`,
    content: html`<p>${badge(closed === null ? 'open' : 'closed')} ${anchor(visit.link(path), `The whole statement of ${month}`)}</p>
${factList([
  [
    'To pay',
    describeToPay(sums.currencies, { uncounted: sums.uncountedSums, unknownFees: sums.unknownFees }) ||
      'nothing',
  ],
  [
    'Carried forward',
    sums.carried
      .map(
        ({ amount, minimum, currency }) =>
          `${formatMoney(amount, currency)}, below the minimum of ${formatMoney(minimum, currency)}`,
      )
      .join('; ') || null,
  ],
  ['Payment', closed === null ? null : describePaid(payments)],
  ['Deal', dealAnchor(visit, dealId)],
  ['Creator', handle ?? null],
  [
    'Document',
    visit.may('GET /statements/:month/document')
      ? anchor(visit.link(`${path}/document`, { deal: dealId }), 'The statement for the creator')
      : notOffered(visit, 'GET /statements/:month/document'),
  ],
  ['Lines', formatCount(sums.currencies.reduce((sum, one) => sum + one.lines, 0))],
])}
${
  lines.length === 0 && key === null
    ? html`<p class="none">The statement has no line for this deal.</p>`
    : pagedTable(
        {
          rows: lines,
          visit,
          about: `Lines of deal ${dealId}`,
          none: 'The statement has no line for this deal.',
          key: ['currency', 'dueOn', 'kind', 'subject'],
        },
        [
          column('Day', ({ orderedOn, dueOn }) => orderedOn ?? dueOn),
          column('What', (line) => whatOf(line, visit)),
          number('Net revenue', ({ netAmount, excludedAmount, currency }) =>
            netAmount === null
              ? null
              : html`${formatMoney(netAmount, currency)}${excludedAmount === null ? null : html` <small>less ${formatMoney(excludedAmount, null)} excluded</small>`}`,
          ),
          number('Rate', ({ ratePercent, rateFrom }) =>
            ratePercent === null ? null : html`${ratePercent} % <small>${rateFrom}</small>`,
          ),
          column('Terms', ({ termsText }) => termsText),
          number('Earned', ({ earnedAmount }) => formatMoney(earnedAmount, null)),
          number('Before', ({ closedBefore }) => formatMoney(closedBefore, null)),
          number('Adds', ({ amount, currency }) => formatMoney(amount, currency)),
        ],
      )
}`,
  };
}

function whatOf({ kind, orderId, source }: StatementLine, visit: Visit) {
  const subject =
    orderId === null ? 'fee' : html`order ${anchor(orderLink(visit, { source, orderId }), orderId)}`;
  return kind === 'correction' ? html`${subject}, corrected` : subject;
}
