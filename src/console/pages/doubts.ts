import type { DoubleCredit } from '../../core/ledger.ts';
import { formatAmounts, formatMoney } from '../../core/money.ts';
import { knownDeal, lacksDeal } from '../../decisions/settle-doubt.ts';
import { describeRepetition } from '../../ledger/effects/index.ts';
import { column, number } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { formatCount, formatDuration, plural } from '../../render/text.ts';
import { describeHint, HINT_IS_NO_PROOF } from '../../reports/doubts/doubt-hints.ts';
import { describeEvidence } from '../../reports/doubts/doubts.ts';
import {
  type DealOfHandle,
  type DoubtSum,
  dealsOfHandle,
  findEntry,
  listDoubleCredits,
  listDoubts,
  type OpenEntry,
  sumDoubts,
} from '../../reports/doubts/list-doubts.ts';
import { describeWaitingClaims, readWaitingClaims } from '../../reports/doubts/waiting-claims.ts';
import { readEntryLife } from '../../reports/lives/entry-lives.ts';
import { readDoubtHints } from '../../reports/money/reconcile-deals.ts';
import { definePage, type Shown, type Visit } from '../console-page.ts';
import { actionForm, type ChosenRows, chooseBox, chooseForm, notOffered } from '../markup/action-form.ts';
import { byOption, byText, readFilter } from '../markup/filter.ts';
import {
  anchor,
  badge,
  countUpTo,
  factList,
  lifeList,
  missing,
  noted,
  pagedTable,
  table,
} from '../markup/parts.ts';
import { COUNT_LIMIT, idOf, keyedPageOf, PAGE_ROWS } from '../read-query.ts';

const PATH = '/doubts';
const MAX_REASONS = 50;

/** Entries in doubt, and entries that were credited more than once. */
export const doubtsPage = definePage(PATH, async (visit) => {
  const entry = idOf(visit, 'entry');
  return entry === null ? showList(visit) : showDoubt(visit, entry);
});

async function showList(visit: Visit): Promise<Shown> {
  const asked = readFilter(visit, {
    job: byText('Job', Object.keys(visit.config.jobs)),
    reason: byText('Why', []),
    older: byOption('In doubt for', Object.keys(AGES)),
    deal: byText('Deal'),
  });
  const { job, reason, older, deal: dealId } = asked.filter;
  const age = AGES[older ?? ''];
  // Ages are counted back from the time of the request.
  const sinceBefore = age === undefined ? null : new Date(visit.now.getTime() - age);
  const filter = { job, reason, dealId, sinceBefore };
  const counted = { limit: COUNT_LIMIT + 1 };
  const [doubts, sums, ofAllReasons, doubleCredits, waitingClaims] = await Promise.all([
    listDoubts(visit.db, { ...filter, ...keyedPageOf(visit, { since: 'instant', entryId: 'whole' }) }),
    sumDoubts(visit.db, filter, counted),
    filter.reason === null ? [] : sumDoubts(visit.db, { ...filter, reason: null }, counted),
    listDoubleCredits(visit.db, { job: filter.job }),
    readWaitingClaims(visit.db),
  ]);
  const reasons = [...new Set([...sums, ...ofAllReasons].map(({ reason }) => reason))];
  const found = countDoubts(sums);
  // An age is submitted as the instant from which it was counted.
  const since = sinceBefore?.toISOString() ?? null;
  const chosen = { filter_job: job, filter_reason: reason, filter_deal: dealId, filter_since: since };
  const lost = describeWaitingClaims(waitingClaims);
  return {
    title: 'In doubt',
    content: html`${summary(found)}
<p>${visit.may('POST /bulk/preview') && found.doubts > 0 ? html`${anchor('#settle-many', 'Decide about many at once')}. ` : null}${anchor(visit.link('/bulk'), 'Bulk actions so far')}</p>
${asked.form({ reason: reasons.slice(0, MAX_REASONS) })}
${pagedTable(
  {
    rows: doubts,
    visit,
    about: 'Entries in doubt',
    none: 'No order is in doubt.',
    key: ['since', 'entryId'],
  },
  [
    column('Entry', ({ entryId }) => anchor(visit.link(PATH, { entry: entryId }), html`Settle ${entryId}`)),
    visit.may('POST /bulk/preview') ? column('Choose', (doubt) => entryBox(doubt)) : null,
    column('About', ({ subject, orderId }) =>
      orderId === null ? subject : visit.order({ source: null, orderId }, subject),
    ),
    number('Amount', ({ amount, currency }) => (amount === null ? null : formatMoney(amount, currency))),
    column(
      'For',
      ({ influencerHandle, dealId }) =>
        html`${influencerHandle} ${dealId === null ? null : html`<small>deal ${dealId}</small>`}`,
    ),
    column('Since', ({ since, ageSeconds }) =>
      noted(visit.instant(since), `${formatDuration(ageSeconds)} ago`),
    ),
    number('Attempts', ({ attempts }) => formatCount(attempts)),
    column('Why', ({ reason, job }) => noted(reason, job)),
    column('Evidence', (doubt) =>
      doubt.evidence.length === 0
        ? 'none'
        : doubt.evidence.map((one) => describeEvidence(one, doubt)).join('; '),
    ),
  ],
)}
${found.doubts === 0 ? null : settleManyForm(visit, { hidden: chosen, ticked: 'entries', all: sayMatching(found) })}
${doubleCreditTable(doubleCredits, filter.job, visit)}
${
  lost === null
    ? null
    : html`<h2>Sent, but lost from the database</h2>
<p>${lost}</p>`
}`,
  };
}

/** The matching doubts in words. Of more than COUNT_LIMIT, the words say so. */
type FoundDoubts = { readonly doubts: number; readonly count: string; readonly amounts: string };

function countDoubts(sums: readonly DoubtSum[]): FoundDoubts {
  const doubts = sums.reduce((sum, group) => sum + group.doubts, 0);
  const amounts = formatAmounts(
    sums.flatMap(({ amount, currency }) => (amount === null ? [] : [{ amount, currency }])),
  );
  return {
    doubts,
    count: `${countUpTo(doubts, COUNT_LIMIT)} ${doubts === 1 ? 'entry' : 'entries'}`,
    amounts: doubts > COUNT_LIMIT && amounts !== '' ? `more than ${amounts}` : amounts,
  };
}

function sayMatching({ doubts, count, amounts }: FoundDoubts): string {
  return `${count} that ${doubts === 1 ? 'matches' : 'match'}${amounts === '' ? '' : `: ${amounts}`}`;
}

function summary({ doubts, count, amounts }: FoundDoubts): Html | null {
  if (doubts === 0) return null;
  return html`<p><strong>${count} in doubt</strong>${amounts === '' ? '' : `: ${amounts}`}, oldest first. ${doubts === 1 ? 'The service may have credited it, but no answer says so. Look it up in the service.' : 'The service may have credited them, but no answer says so. Look up each in the service.'} Nothing is sent again automatically.</p>`;
}

function doubleCreditTable(credits: readonly DoubleCredit[], job: string | null, visit: Visit): Html | null {
  if (credits.length === 0) return null;
  return html`<h2>Credited more than once</h2>
<p>The service accepted more than one request for these. Correct each in the service, then acknowledge it here.</p>
${credits.length > PAGE_ROWS ? html`<p>The first ${PAGE_ROWS} of ${formatCount(credits.length)} are shown.</p>` : null}${table(
  { rows: credits.slice(0, PAGE_ROWS), about: 'Credited more than once' },
  [
    column('Entry', ({ entryId }) =>
      anchor(visit.link(PATH, { entry: entryId }), html`Acknowledge ${entryId}`),
    ),
    visit.may('POST /bulk/preview-credits')
      ? column('Choose', (credit) => entryBox(credit, ACKNOWLEDGE_FORM))
      : null,
    column('About', ({ subject, orderId }) =>
      orderId === null ? subject : visit.order({ source: null, orderId }, subject),
    ),
    number('Amount of each', ({ amount, currency }) =>
      amount === null ? null : formatMoney(amount, currency),
    ),
    column('Accepted', ({ credits: times }) => `${times} times`),
    column('Deal', ({ dealId }) => dealId),
    column('Job', ({ job }) => job),
  ],
)}
${acknowledgeManyForm(visit, { hidden: { filter_job: job }, ticked: 'double credits', all: plural(credits.length, 'double credit') })}`;
}

/** Shows one entry, what is known about it, and the form that settles it. */
async function showDoubt(visit: Visit, entryId: string): Promise<Shown> {
  const [entry, life, credits] = await Promise.all([
    findEntry(visit.db, entryId),
    readEntryLife(visit.db, entryId),
    listDoubleCredits(visit.db, { entryId }),
  ]);
  if (entry === null || life === null) return missing(`Entry ${entryId}`, `There is no entry ${entryId}.`);
  const { influencerHandle: handle } = entry;
  const hint = (await readDoubtHints(visit.db, [entry])).get(entryId) ?? null;
  const deals = handle === null ? [] : await dealsOfHandle(visit.db, handle);
  return {
    title: `Entry ${entryId}: ${entry.subject}`,
    content: html`<p>${badge(entry.state)} ${entry.reason}. ${anchor(visit.link('/doubts'), 'All orders in doubt')}</p>
${factList([
  ['Amount', entry.amount === null ? null : formatMoney(entry.amount, entry.currency)],
  ['Since', noted(visit.instant(entry.since), `${formatDuration(entry.ageSeconds)} ago`)],
  ['Attempts', plural(entry.attempts, 'attempt')],
  ['Evidence', entry.evidence.length === 0 ? 'none' : evidenceList(entry, visit)],
  ['What the totals of the deal suggest', hint === null ? null : noted(describeHint(hint), HINT_IS_NO_PROOF)],
  ['Job', entry.job],
])}
<h2>Look for it in the service</h2>
${factList([
  ['Platform', entry.orderPlatform],
  ['Order id', entry.orderId === null ? null : visit.order({ source: null, orderId: entry.orderId })],
  ['Reference, in the notes of the order', entry.reference],
  ['Creator', visit.creator(handle)],
  [
    'Deal',
    entry.dealId ??
      (lacksDeal(entry, { dealId: knownDeal(entry), collabId: entry.collabId }) ? 'unknown' : null),
  ],
  ['Collaboration', entry.collabId],
])}
${forms(entry, { deals, credit: credits[0] ?? null, visit })}
<h2>What happened</h2>
${lifeList(life.events, visit)}`,
  };
}

function evidenceList(entry: OpenEntry, visit: Visit): Html {
  return html`${entry.evidence.map((one) => html`${visit.instant(one.receivedAt)} ${describeEvidence(one, entry)} `)}`;
}

type Offered = {
  readonly deals: readonly DealOfHandle[];
  readonly credit: DoubleCredit | null;
  readonly visit: Visit;
};

/** What a person can decide about an entry in its present state. A form is refused if the state has changed since. */
function forms(entry: OpenEntry, { deals, credit, visit }: Offered): Html {
  const { entryId, state, attempt } = entry;
  const isDoubt = state === 'in_doubt';
  const form = (button: string, hidden: Readonly<Record<string, string>>, fields?: Html) =>
    actionForm(visit, '/doubts/settle', {
      hidden: { entry: entryId, state, attempt: String(attempt), ...hidden },
      fields,
      button,
      isMain: fields !== undefined || state !== 'in_doubt',
      returnTo: visit.link(PATH),
    });
  const acknowledge =
    credit === null
      ? null
      : html`<h2>Credited ${credit.credits} times</h2>
<p>The service accepted ${credit.credits} requests for it. Correct it in the service first.</p>
${form('Acknowledge: it is corrected in the service', { credits: String(credit.credits), decision: 'acknowledge' })}`;
  if (!isDoubt && state !== 'rejected')
    return acknowledge ?? html`<p class="none">There is nothing to settle.</p>`;
  const mayResend = visit.may('decide resend');
  return html`${acknowledge}<h2>${isDoubt ? 'Settle it' : 'Send it again'}</h2>
${!isDoubt && !mayResend ? notOffered(visit, 'decide resend') : form(`Settle entry ${entryId}`, {}, choices(entry, { deals, mayResend, visit }))}
`;
}

function choices(
  entry: OpenEntry,
  { deals, mayResend, visit }: Pick<Offered, 'deals' | 'visit'> & { readonly mayResend: boolean },
): Html {
  const isDoubt = entry.state === 'in_doubt';
  return html`<fieldset><legend>${isDoubt ? 'What did you find?' : 'What should happen?'}</legend>
${isDoubt ? acceptChoice(entry, deals) : null}
${
  mayResend
    ? html`<p><label><input type="radio" name="decision" value="resend" required> ${isDoubt ? 'The service does not show it: send it again with the next run.' : 'The cause is corrected: send it again with the next run.'}</label></p>
<p class="under"><label><input type="checkbox" name="understood" value="yes"> I know: if the service has processed it after all, ${describeRepetition([entry.effect])}.</label></p>`
    : html`<p>To send it again: ${notOffered(visit, 'decide resend')}</p>`
}
${isDoubt ? html`<p><label><input type="radio" name="decision" value="write_off" required> It cannot be determined: write it off. It is never sent again.</label></p>` : null}
</fieldset>`;
}

function acceptChoice(entry: OpenEntry, deals: readonly DealOfHandle[]): Html {
  const dealId = knownDeal(entry);
  const needs = lacksDeal(entry, { dealId, collabId: entry.collabId });
  const names = needs || dealId !== null || entry.collabId !== null || deals.length > 0;
  return html`<p><label><input type="radio" name="decision" value="accepted" required> The service shows it: it was credited.</label></p>
${
  names
    ? html`<p class="under"><label>Deal that was credited <input type="text" name="deal" list="deals" value="${dealId ?? ''}" autocomplete="off"></label>
<label>or collaboration <input type="text" name="collab" value="${entry.collabId ?? ''}" autocomplete="off"></label>
${needs ? html`<small>One of them is needed, so that the sales count for the right deal.</small>` : null}</p>
<datalist id="deals">${deals.map(({ dealId: id, brandId, isActive }) => html`<option value="${id}">${dealFacts({ brandId, isActive })}</option>`)}</datalist>
${deals.length === 0 ? null : html`<p class="under"><small>The mirror knows these deals of ${entry.influencerHandle}: ${deals.map(({ dealId: id, ...facts }, index) => html`${index === 0 ? '' : ', '}<code>${id}</code> (${dealFacts(facts)})`)}.</small></p>`}`
    : null
}`;
}

function dealFacts({ brandId, isActive }: Omit<DealOfHandle, 'dealId'>): string {
  return [brandId === null ? 'brand unknown' : `brand ${brandId}`, isActive === false ? 'not active' : '']
    .filter((fact) => fact !== '')
    .join(', ');
}

const FORM = 'settle-many';
const ACKNOWLEDGE_FORM = 'acknowledge-many';

type Entry = { readonly entryId: string; readonly amount: string | null; readonly currency: string | null };

/** A checkbox that chooses an entry for the form below the list. */
function entryBox({ entryId, amount, currency }: Entry, form = FORM): Html {
  return chooseBox({
    form,
    name: 'entry',
    value: entryId,
    label: `entry ${entryId}`,
    amount: amount === null ? null : formatMoney(amount, currency),
  });
}

/** A form that previews the acknowledgement of double credits: the ticked ones, or all of a job. */
export function acknowledgeManyForm(visit: Visit, credits: ChosenRows): Html | null {
  return chooseForm(visit, credits, {
    id: ACKNOWLEDGE_FORM,
    path: '/bulk/preview-credits',
    title: 'Acknowledge many',
    about: 'You see a preview first.',
    scope: 'selected',
  });
}

/** A form that previews one decision about entries in doubt: the ticked ones, or all that match. */
export function settleManyForm(visit: Visit, doubts: ChosenRows): Html | null {
  return chooseForm(visit, doubts, {
    id: FORM,
    path: '/bulk/preview',
    title: 'Settle many',
    about: 'You see a preview first: which entries, how much money, and which of them are left out.',
    fields: html`<fieldset><legend>What did you find?</legend>
<p><label><input type="radio" name="decision" value="accepted" required> The service shows all of them: they were credited.</label></p>
<p class="under"><label>Deal of those that name none <input type="text" name="deal" autocomplete="off"></label>
<label>or collaboration <input type="text" name="collab" autocomplete="off"></label></p>
${visit.may('decide resend') ? html`<p><label><input type="radio" name="decision" value="resend" required> The service shows none of them: send them again with the next run.</label></p>\n` : null}<p><label><input type="radio" name="decision" value="write_off" required> It cannot be determined: write them off. They are never sent again.</label></p>
</fieldset>`,
  });
}

/** Options for how long an entry has been in doubt, in milliseconds. */
const AGES: Readonly<Record<string, number>> = { an_hour: 3_600_000, a_day: 86_400_000, a_week: 604_800_000 };
