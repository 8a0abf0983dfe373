import { formatKnown } from '../../../core/money.ts';
import { column, number } from '../../../render/block.ts';
import { type Html, type HtmlValue, html } from '../../../render/html/html.ts';
import { formatCount, plural } from '../../../render/text.ts';
import { describeHint, HINT_IS_NO_PROOF } from '../../../reports/doubts/doubt-hints.ts';
import {
  listDisputedOrders,
  listPayouts,
  listReconciled,
  readDoubtHints,
  surveyReconciled,
} from '../../../reports/money/reconcile-deals.ts';
import {
  describeDisputes,
  describePayouts,
  formatDifference,
  mayBe,
  NO_CURRENCY,
  orUnknown,
} from '../../../reports/money/reconciliation.ts';
import { definePage, type Visit } from '../../console-page.ts';
import { byChoice, byHandle, byText, readFilter } from '../../markup/filter.ts';
import { anchor, blockList, factList, pagedTable } from '../../markup/parts.ts';
import { keyedPageOf } from '../../read-query.ts';

const PATH = '/money/reconciliation';
/** The default is what somebody must look at. */
const SHOWN = ['unexplained', 'all'] as const;

/**
 * Page that compares posted orders with those that the service counts: all deals, or one deal with its
 * orders.
 */
export const reconciliationPage = definePage(PATH, async (visit) => {
  const { filter, form } = readFilter(visit, {
    show: byChoice('Show', SHOWN, 'unexplained'),
    deal: byText('Deal'),
    handle: byHandle('Creator'),
  });
  return filter.deal === null ? showDeals(visit, filter, form()) : showDeal(visit, filter.deal);
});

async function showDeals(
  visit: Visit,
  { show: shown, handle }: { show: (typeof SHOWN)[number]; handle: string | null },
  form: Html,
) {
  const rows = await listReconciled(visit.db, {
    ...keyedPageOf(visit, { unexplained: 'whole', dealId: 'text' }),
    handle,
    isOpen: shown === 'unexplained',
  });
  const survey = await surveyReconciled(visit.db);
  return {
    title: 'Posted orders compared with those that the service counts',
    content: html`<p>As of the last publication of the mirror. A total says how many orders are counted, not which ones, so it proves nothing about a single one. <code>npx influencer-sync reconcile</code> makes the comparison again.</p>
${form}
${shown === 'all' || rows.length === 0 ? null : html`<p>${plural(survey.deals, 'deal')} compared. Only those with a difference that nothing explains or that is not known are listed. ${anchor(visit.link(PATH, { show: 'all' }), 'Show all deals')}</p>`}
${survey.withoutCurrency === 0 ? null : blockList([NO_CURRENCY], visit)}
${pagedTable(
  {
    rows,
    visit,
    about: 'Posted orders compared with those that the service counts',
    none: noDifference(survey, visit),
    key: ({ unexplained, dealId }) => [unexplained === null ? -1 : Math.abs(unexplained), dealId],
  },
  [
    column('Deal', ({ dealId }) => anchor(visit.link(PATH, { deal: dealId }), dealId)),
    column('Creator', ({ influencerHandle }) => visit.creator(influencerHandle)),
    column('Read', ({ readAt }) => (readAt === null ? 'never' : visit.instant(readAt))),
    number('Counted', ({ theirs }) => orUnknown(theirs)),
    number('Posted', ({ ours }) => orUnknown(ours)),
    number('Difference', ({ theirs, ours }) => orUnknown(theirs === null ? null : theirs - ours)),
    number('Before', ({ before }) => orUnknown(before)),
    number('Others', ({ others }) => orUnknown(others)),
    number('May be', (deal) => orUnknown(mayBe(deal))),
    number('Unexplained', ({ unexplained }) =>
      unexplained === null ? 'unknown' : formatDifference(unexplained),
    ),
    number('Unexplained amount', ({ unexplainedAmount, accountCurrency }) =>
      formatKnown(unexplainedAmount, accountCurrency),
    ),
  ],
)}
<p class="dim">Counted: orders that the service counts. Posted: orders that this tool posted, and that were accepted when the deal was last read. Before: counted beyond those posted when the deal was first read; it is unknown which orders. Others: counted since, and named by events. May be: in doubt, written off, credited twice, or in flight while the deal was read.</p>`,
  };
}

type Survey = Awaited<ReturnType<typeof surveyReconciled>>;

/** Why the list of differences is empty. What could not be compared is no agreement. */
function noDifference({ deals, unknownAmounts }: Survey, visit: Visit): HtmlValue {
  if (deals === 0) return 'Nothing was compared yet: the mirror has published no totals.';
  const amounts =
    unknownAmounts === 0
      ? 'no amount differs'
      : `whether the amounts of ${formatCount(unknownAmounts)} agree is not known`;
  return html`${plural(deals, 'deal')} ${deals === 1 ? 'was' : 'were'} compared: no count differs, and ${amounts}. ${anchor(visit.link(PATH, { show: 'all' }), 'Show all deals')}`;
}

async function showDeal(visit: Visit, dealId: string) {
  const [deal] = await listReconciled(visit.db, { limit: 1, dealId });
  const title = `Reconciliation of deal ${dealId}`;
  if (deal === undefined)
    return {
      title,
      content: html`<p class="none">There is nothing to compare for this deal.</p>`,
      status: 404 as const,
    };
  const fewerIn = (deal.unexplained ?? 0) < 0 ? [dealId] : [];
  const orders = await listDisputedOrders(visit.db, { dealId, fewerIn });
  const { accountCurrency } = deal;
  const payouts = await listPayouts(visit.db, { accountCurrency, dealId });
  const [hint = null] = (await readDoubtHints(visit.db, [{ dealId }])).values();
  return {
    title,
    content: html`${factList([
      ['Deal', html`${visit.deal(dealId)} ${visit.creator(deal.influencerHandle)}`],
      ['First read', deal.firstReadAt === null ? 'never' : visit.instant(deal.firstReadAt)],
      ['Last read', deal.readAt === null ? 'never' : visit.instant(deal.readAt)],
      ['Counted', `${orUnknown(deal.theirs)}, ${formatKnown(deal.theirsAmount, accountCurrency)}`],
      ['Posted', `${formatCount(deal.ours)}, ${formatKnown(deal.oursAmount, accountCurrency)}`],
      ['Before', orUnknown(deal.before)],
      ['Others', formatCount(deal.others)],
      [
        'May be',
        `${formatCount(mayBe(deal))}: ${deal.doubts} in doubt, ${deal.writtenOff} written off, ${deal.creditedTwice} credited twice, ${deal.late} on their way`,
      ],
      [
        'What this suggests about those in doubt',
        hint === null
          ? null
          : html`${describeHint(hint)} <small>${HINT_IS_NO_PROOF}</small> ${hint.doubtIds.map((entryId) => html`${anchor(visit.link('/doubts', { entry: entryId }), `Entry ${entryId}`)} `)}`,
      ],
      ['Accepted since it was read', formatCount(deal.afterwards)],
      [
        'In another currency',
        deal.otherCurrency === 0
          ? null
          : `${plural(deal.otherCurrency, 'order')}, so no amount can be compared`,
      ],
      [
        'Unexplained',
        `${deal.unexplained === null ? 'unknown' : formatDifference(deal.unexplained)}, ${formatKnown(deal.unexplainedAmount, accountCurrency)}`,
      ],
    ])}
${accountCurrency === null ? blockList([NO_CURRENCY], visit) : null}
<h2>In detail</h2>
${payouts.length === 0 ? null : blockList(describePayouts(payouts), visit)}
${orders.length === 0 ? html`<p class="none">No event of the service contradicts the orders that were posted.</p>` : null}
${blockList(describeDisputes(orders), visit)}`,
  };
}
