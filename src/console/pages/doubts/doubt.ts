import type { DoubleCredit, Evidence } from '../../../core/ledger.ts';
import { formatMoney } from '../../../core/money.ts';
import type { Html } from '../../../core/text/html.ts';
import { knownDeal, lacksDeal } from '../../../decisions/settle-doubt.ts';
import { html } from '../../../render/html/html.ts';
import { formatDuration, plural } from '../../../render/text.ts';
import { describeHint, HINT_IS_NO_PROOF } from '../../../reports/doubts/doubt-hints.ts';
import {
  type DealOfHandle,
  dealsOfHandle,
  findEntry,
  listDoubleCredits,
  type OpenEntry,
} from '../../../reports/doubts/list-doubts.ts';
import { readDoubtHints } from '../../../reports/doubts/read-doubt-hints.ts';
import { readEntryLife } from '../../../reports/lives/entry-lives.ts';
import type { Shown, Visit } from '../../console-page.ts';
import { notOffered } from '../../markup/action-form.ts';
import { anchor, badge, factList, instant, lifeList, missing, orderLink } from '../../markup/parts.ts';

/** Shows one entry, what is known about it, and the form that settles it. */
export async function showDoubt(visit: Visit, entryId: string): Promise<Shown> {
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
    content: html`<p>${badge(entry.state)} ${entry.reason}. ${anchor(visit.link('/doubts'), 'All unclear orders')}</p>
${factList([
  ['Amount', entry.amount === null ? null : formatMoney(entry.amount, entry.currency)],
  ['Since', html`${instant(entry.since, visit)} <small>${formatDuration(entry.ageSeconds)} ago</small>`],
  ['Attempts', plural(entry.attempts, 'attempt')],
  ['Evidence', entry.evidence.length === 0 ? 'none' : evidenceList(entry.evidence, visit)],
  [
    'What the totals of the deal suggest',
    hint === null ? null : html`${describeHint(hint)} <small>${HINT_IS_NO_PROOF}</small>`,
  ],
  ['Job', entry.job],
])}
<h2>Look for it in the service</h2>
${factList([
  ['Platform', entry.orderPlatform],
  [
    'Order id',
    entry.orderId === null
      ? null
      : anchor(orderLink(visit, { source: null, orderId: entry.orderId }), entry.orderId),
  ],
  ['Reference, in the notes of the order', entry.reference],
  ['Creator', handle],
  [
    'Deal',
    entry.dealId ??
      (lacksDeal(entry, { dealId: knownDeal(entry), collabId: entry.collabId }) ? 'unknown' : null),
  ],
  ['Collaboration', entry.collabId],
])}
${visit.may('POST /doubts/settle') ? forms(entry, { deals, credit: credits[0] ?? null, visit }) : readOnly(entry, credits, visit)}
<h2>What happened</h2>
${lifeList(life.events, visit)}`,
  };
}

function evidenceList(evidence: readonly Evidence[], visit: Visit): Html {
  return html`${evidence.map(
    ({ kind, dealId, amount, currency, receivedAt }) =>
      html`${instant(receivedAt, visit)} ${kind.replaceAll('_', ' ')}${dealId === null ? null : `, deal ${dealId}`}${amount === null ? null : `, ${formatMoney(amount, currency)}`} `,
  )}`;
}

function readOnly({ state }: OpenEntry, credits: readonly DoubleCredit[], visit: Visit): Html | null {
  if (state !== 'in_doubt' && credits.length === 0) return null;
  return html`<h2>Settle it</h2>\n<p>${notOffered(visit, 'POST /doubts/settle')}</p>`;
}

type Offered = {
  readonly deals: readonly DealOfHandle[];
  readonly credit: DoubleCredit | null;
  readonly visit: Visit;
};

function forms(entry: OpenEntry, { deals, credit, visit }: Offered): Html {
  return html`${credit === null ? null : acknowledgeForm(entry, { credit, visit })}
${entry.state === 'in_doubt' || (entry.state === 'rejected' && visit.may('decide resend')) ? settleForm(entry, { deals, visit }) : null}
${entry.state === 'rejected' && !visit.may('decide resend') ? html`<h2>Send it again</h2>\n<p>${notOffered(visit, 'decide resend')}</p>` : null}
${credit === null && entry.state !== 'in_doubt' && entry.state !== 'rejected' ? html`<p class="none">There is nothing to settle.</p>` : null}`;
}

function acknowledgeForm(
  entry: OpenEntry,
  { credit, visit }: Pick<Offered, 'visit'> & { credit: DoubleCredit },
): Html {
  return html`<form class="settle" method="post" action="${visit.link('/doubts/settle')}" aria-label="Acknowledge the double credit">
<h2>Credited ${credit.credits} times</h2>
<p>The service accepted ${credit.credits} requests for it. Correct it in the service first.</p>
${shownFields(entry, visit)}
<input type="hidden" name="credits" value="${credit.credits}">
<input type="hidden" name="decision" value="acknowledge">
${reasonField('acknowledge-reason')}
<p><button class="primary" type="submit">Acknowledge: it is corrected in the service</button></p>
</form>
`;
}

function settleForm(entry: OpenEntry, { deals, visit }: Omit<Offered, 'credit'>): Html {
  const isDoubt = entry.state === 'in_doubt';
  return html`<form class="settle" method="post" action="${visit.link('/doubts/settle')}" aria-label="Settle entry ${entry.entryId}">
<h2>Settle it</h2>
${shownFields(entry, visit)}
<fieldset><legend>${isDoubt ? 'What did you find?' : 'What should happen?'}</legend>
${isDoubt ? acceptChoice(entry, deals) : null}
${
  visit.may('decide resend')
    ? html`<p><label><input type="radio" name="decision" value="resend" required> ${isDoubt ? 'The service does not show it: send it again with the next run.' : 'The cause is corrected: send it again with the next run.'}</label></p>
<p class="under"><label><input type="checkbox" name="understood" value="yes"> I know: if the service has processed it after all, the influencer is credited twice, and nobody can undo that.</label></p>`
    : html`<p>To send it again: ${notOffered(visit, 'decide resend')}</p>`
}
${isDoubt ? html`<p><label><input type="radio" name="decision" value="write_off" required> It cannot be determined: write it off. It is never sent again.</label></p>` : null}
</fieldset>
${reasonField('settle-reason')}
<p><button class="primary" type="submit">Settle entry ${entry.entryId}</button></p>
</form>
`;
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

/** Hidden fields with the entry's state as shown. The form is refused if the state has changed since. */
function shownFields({ entryId, state, attempt }: OpenEntry, visit: Visit): Html {
  return html`<input type="hidden" name="entry" value="${entryId}">
<input type="hidden" name="state" value="${state}">
<input type="hidden" name="attempt" value="${attempt}">
<input type="hidden" name="return_to" value="${visit.link('/doubts')}">`;
}

function reasonField(id: string): Html {
  return html`<p><label for="${id}">Why</label><br><textarea id="${id}" name="reason" rows="2" required></textarea><br><small>Kept with the decision, with your name.</small></p>
`;
}
