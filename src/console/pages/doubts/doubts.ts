import type { DoubleCredit, Doubt } from '../../../core/ledger.ts';
import { formatAmounts, formatMoney } from '../../../core/money.ts';
import type { Html } from '../../../core/text/html.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount, formatDuration } from '../../../render/text.ts';
import {
  type DoubtSum,
  listDoubleCredits,
  listDoubts,
  sumDoubts,
} from '../../../reports/doubts/list-doubts.ts';
import {
  describeWaitingClaims,
  readWaitingClaims,
  type WaitingClaims,
} from '../../../reports/doubts/waiting-claims.ts';
import { definePage, type Shown, type Visit } from '../../console-page.ts';
import {
  anchor,
  countUpTo,
  filterForm,
  instant,
  isFiltered,
  orderLink,
  pagedTable,
  table,
} from '../../markup/parts.ts';
import { COUNT_LIMIT, idOf, keyOf, PAGE_ROWS } from '../../read-query.ts';
import { showDoubt } from './doubt.ts';
import {
  AGES,
  acknowledgeManyForm,
  creditBox,
  entryBox,
  readDoubtFilter,
  settleManyForm,
} from './settle-many.ts';

const PATH = '/doubts';
const MAX_REASONS = 50;

/** Entries in doubt, and entries that were credited more than once. */
export const doubtsPage = definePage(PATH, async (visit) => {
  const entry = idOf(visit, 'entry');
  return entry === null ? showList(visit) : showDoubt(visit, entry);
});

async function showList(visit: Visit): Promise<Shown> {
  const filter = readDoubtFilter(visit);
  const counted = { limit: COUNT_LIMIT + 1 };
  const [doubts, sums, ofAllReasons, doubleCredits, waitingClaims] = await Promise.all([
    listDoubts(visit.db, {
      ...filter,
      limit: PAGE_ROWS + 1,
      after: keyOf(visit, { since: 'instant', entryId: 'whole' }),
    }),
    sumDoubts(visit.db, filter, counted),
    filter.reason === null ? [] : sumDoubts(visit.db, { ...filter, reason: null }, counted),
    listDoubleCredits(visit.db, { job: filter.job }),
    readWaitingClaims(visit.db),
  ]);
  const reasons = [...new Set([...sums, ...ofAllReasons].map(({ reason }) => reason))];
  const found = countDoubts(sums);
  return {
    title: 'Unclear',
    content: html`${summary(found, isFiltered(visit))}
<p>${visit.may('POST /bulk/preview') && found.doubts > 0 ? html`${anchor('#settle-many', 'Decide about many at once')}. ` : null}${anchor(visit.link('/bulk'), 'Bulk actions so far')}</p>
${filterForm(visit, [
  { name: 'job', label: 'Job', options: Object.keys(visit.config.jobs) },
  { name: 'reason', label: 'Why', options: reasons.slice(0, MAX_REASONS) },
  { name: 'older', label: 'In doubt for', options: Object.keys(AGES) },
  { name: 'deal', label: 'Deal' },
])}
${doubtTable(doubts, visit)}
${settleManyForm(visit, { filter, ...found })}
${doubleCreditTable(doubleCredits, filter.job, visit)}
${lostClaims(waitingClaims)}`,
  };
}

/** The matching doubts in words. Of more than COUNT_LIMIT, the words say so. */
type FoundDoubts = { readonly doubts: number; readonly count: string; readonly amounts: string };

function countDoubts(sums: readonly DoubtSum[]): FoundDoubts {
  const doubts = sums.reduce((sum, group) => sum + group.doubts, 0);
  const amounts = formatAmounts(
    sums.flatMap(({ amount, currency }) => (currency === null ? [] : [{ amount, currency }])),
  );
  return {
    doubts,
    count: `${countUpTo(doubts, COUNT_LIMIT)} ${doubts === 1 ? 'entry' : 'entries'}`,
    amounts: doubts > COUNT_LIMIT && amounts !== '' ? `more than ${amounts}` : amounts,
  };
}

function summary({ doubts, count, amounts }: FoundDoubts, isPart: boolean): Html | null {
  if (doubts === 0) return isPart ? null : html`<p class="green">No order is unclear.</p>`;
  return html`<p><strong>${count} unclear</strong>${amounts === '' ? '' : `: ${amounts}`}, oldest first. The service may have credited them, but no answer says so. Look up each in the service. Nothing is sent again automatically.</p>`;
}

function doubtTable(doubts: readonly Doubt[], visit: Visit): Html {
  return pagedTable(
    {
      rows: doubts,
      visit,
      about: 'Unclear entries',
      none: 'There are none.',
      key: ['since', 'entryId'],
    },
    [
      column('Entry', ({ entryId }) => anchor(visit.link(PATH, { entry: entryId }), html`Settle ${entryId}`)),
      ...(visit.may('POST /bulk/preview') ? [column('Choose', (doubt: Doubt) => entryBox(doubt))] : []),
      column('About', ({ subject, orderId }) =>
        orderId === null ? subject : anchor(orderLink(visit, { source: null, orderId }), subject),
      ),
      number('Amount', ({ amount, currency }) => (amount === null ? null : formatMoney(amount, currency))),
      column(
        'For',
        ({ influencerHandle, dealId }) =>
          html`${influencerHandle} ${dealId === null ? null : html`<small>deal ${dealId}</small>`}`,
      ),
      column(
        'Since',
        ({ since, ageSeconds }) =>
          html`${instant(since, visit)} <small>${formatDuration(ageSeconds)} ago</small>`,
      ),
      number('Attempts', ({ attempts }) => formatCount(attempts)),
      column('Why', ({ reason, job }) => html`${reason} <small>${job}</small>`),
      column('Evidence', ({ evidence }) =>
        evidence.length === 0 ? 'none' : evidence.map(({ kind }) => kind.replaceAll('_', ' ')).join(', '),
      ),
    ],
  );
}

function doubleCreditTable(credits: readonly DoubleCredit[], job: string | null, visit: Visit): Html | null {
  if (credits.length === 0) return null;
  return html`<h2>Credited more than once</h2>
<p>The service accepted more than one request for these. Correct each in the service, then acknowledge it here.</p>
${credits.length > PAGE_ROWS ? html`<p>The first ${PAGE_ROWS} of ${formatCount(credits.length)} are shown.</p>` : null}${table(
  { rows: credits.slice(0, PAGE_ROWS), about: 'Credited more than once', none: '' },
  [
    column('Entry', ({ entryId }) =>
      anchor(visit.link(PATH, { entry: entryId }), html`Acknowledge ${entryId}`),
    ),
    ...(visit.may('POST /bulk/preview-credits')
      ? [column('Choose', (credit: DoubleCredit) => creditBox(credit))]
      : []),
    column('About', ({ subject, orderId }) =>
      orderId === null ? subject : anchor(orderLink(visit, { source: null, orderId }), subject),
    ),
    number('Amount of each', ({ amount, currency }) =>
      amount === null ? null : formatMoney(amount, currency),
    ),
    column('Accepted', ({ credits: times }) => `${times} times`),
    column('Deal', ({ dealId }) => dealId),
    column('Job', ({ job }) => job),
  ],
)}
${acknowledgeManyForm(visit, { job, credits: credits.length })}`;
}

function lostClaims(waiting: WaitingClaims): Html | null {
  const text = describeWaitingClaims(waiting);
  return text === null ? null : html`<h2>Sent, but lost from the database</h2>\n<p>${text}</p>`;
}
