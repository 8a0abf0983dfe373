import { claimRulesOf, readReply } from '../../../decisions/decide-claims.ts';
import { CLAIM_STATES } from '../../../money/claims/keep-claims.ts';
import { column } from '../../../render/block.ts';
import { type Html, html, prose } from '../../../render/html/html.ts';
import { renderBlocksPage } from '../../../render/html/report-page.ts';
import {
  type AnsweredClaim,
  CLAIM_ANSWERS,
  describeReply,
  readClaims,
  renderReplyCsv,
  subjectOf,
  sumsTable,
} from '../../../reports/claims/claims.ts';
import { definePage, type Shown, type Visit } from '../../console-page.ts';
import { actColumn, actionForm } from '../../markup/action-form.ts';
import { byOption, byText, readFilter } from '../../markup/filter.ts';
import { anchor, blockList, creatorLink, noted, pagedTable } from '../../markup/parts.ts';
import { PAGE_ROWS, pageOf, textOf } from '../../read-query.ts';

const PATH = '/claims';

/** Orders that creators say were not credited: the answer to each, the next step, and the reply to a creator. */
export const claimsPage = definePage(PATH, async (visit) => {
  const { filter, form } = readFilter(visit, {
    state: byOption('State', CLAIM_STATES, (state) => state),
    creator: byText('Creator'),
  });
  const { creator } = filter;
  const format = textOf(visit, 'reply');
  if (creator !== null && (format === 'csv' || format === 'html')) return reply(visit, creator, format);
  const rows = await readClaims(visit.db, { ...filter, ...pageOf(visit) }, claimRulesOf(visit.config));
  const shown = rows.slice(0, PAGE_ROWS);
  // Reading lists needs packages that no other page does.
  const { CLAIM_COLUMNS } = await import('../../../money/claims/parse-claims.ts');
  return {
    title: 'Claims of creators',
    content: html`<p>Orders that, according to creators and agencies, were not credited. While a claim is open, this page works out its answer again each time you open it. A claim credits nothing by itself. Each answer links to the next step.</p>
${form()}
${shown.length === 0 ? null : blockList([sumsTable(shown)], visit)}
${rows.length > shown.length ? html`<p class="dim">These are the claims of this page.</p>` : null}
${creator === null || shown.length === 0 ? null : replyForm(visit, creator)}
${pagedTable({ rows, visit, about: 'Claims', none: 'There are no claims.', key: 'claimId' }, [
  column('Claim', ({ claimId }) => claimId),
  column('Creator', (claim) => anchor(visit.link(PATH, { creator: claim.creator }), claim.creator)),
  column('Order', subjectOf),
  column('Answer', (claim) => answerCell(claim, visit)),
  column('Due', ({ deadline }) => deadline),
  column('State', ({ state: own, closeReason }) => noted(own, closeReason)),
  actColumn(visit, '/claims/close', ['Close', (claim) => closeForm(claim, visit)]),
])}
<h2>Add claims</h2>
${actionForm(visit, '/claims/add', {
  hidden: {},
  fields: html`<p><label class="block">Lines of the list, with the column names in the first line<textarea name="lines" rows="6" required maxlength="200000" placeholder="${CLAIM_COLUMNS.join(',')}"></textarea></label><small>Each line names a creator, and an order by its id, or by amount, currency and day. A repeated line counts once.</small></p>
<p><label>Answer by <input type="date" name="deadline"></label></p>`,
  reasonLabel: 'Where the list comes from',
  button: 'Add',
})}`,
  };
});

function answerCell({ answer }: AnsweredClaim, visit: Visit): Html {
  const { label, tone } = CLAIM_ANSWERS[answer.kind];
  const { next } = answer;
  return html`<strong class="${tone}">${label}</strong> ${prose(answer.text)}${next === null ? null : html` <a href="${visit.config.console.basePath}${next.page}">${next.label}</a>`}`;
}

function closeForm({ claimId, state, creator }: AnsweredClaim, visit: Visit): Html {
  const choices = (['upheld', 'rejected', 'withdrawn', 'open'] as const).filter((one) => one !== state);
  return html`<details><summary>Close</summary>${actionForm(visit, '/claims/close', {
    hidden: { claim: claimId },
    fields: html`<label>Claim ${claimId} of ${creator} is <select name="state">${choices.map((one) => html`<option value="${one}">${one}</option>`)}</select></label>`,
    button: 'Save',
  })}</details>`;
}

function replyForm(visit: Visit, creator: string): Html {
  const link = (format: string, label: string) => anchor(visit.link(PATH, { creator, reply: format }), label);
  return html`<h2>Reply to ${anchor(creatorLink(visit, creator), creator)}</h2>
<p>Download the reply as ${link('csv', 'CSV')} or ${link('html', 'HTML')}. It names no other creator. When you have sent it, record that: its final answers then stay as they are.</p>
${actionForm(visit, '/claims/reply', {
  hidden: { creator },
  reasonLabel: 'How you sent it',
  button: 'Record the reply as sent',
})}`;
}

async function reply(visit: Visit, creator: string, format: 'csv' | 'html'): Promise<Shown> {
  const claims = await readReply(visit.db, creator, claimRulesOf(visit.config));
  const content =
    format === 'csv'
      ? renderReplyCsv(claims)
      : renderBlocksPage(describeReply(claims), { title: 'Answer to your claims', madeAt: visit.now });
  return { download: { name: `claims-reply.${format}`, type: `text/${format}`, content } };
}
