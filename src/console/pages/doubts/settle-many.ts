import type { Html } from '../../../core/text/html.ts';
import { html } from '../../../render/html/html.ts';
import { plural } from '../../../render/text.ts';
import type { Visit } from '../../console-page.ts';
import type { ChosenDoubts } from './doubt-filter.ts';

/** Id of the form below the list; the checkboxes in the rows belong to it. */
const FORM = 'settle-many';

const ACKNOWLEDGE_FORM = 'acknowledge-many';

/** A checkbox that selects an entry for the form below the list. */
export function entryBox(entryId: string, form = FORM): Html {
  return html`<input type="checkbox" name="entry" value="${entryId}" form="${form}" aria-label="Choose entry ${entryId}">`;
}

/** The same for the form below the list of double credits. */
export function creditBox(entryId: string): Html {
  return entryBox(entryId, ACKNOWLEDGE_FORM);
}

/** A form that previews the acknowledgement of the ticked double credits, or of all of a job. */
export function acknowledgeManyForm(
  visit: Visit,
  { job, credits }: { readonly job: string | null; readonly credits: number },
): Html | null {
  if (!visit.may('POST /bulk/preview-credits') || credits === 0) return null;
  return html`<form class="settle" id="${ACKNOWLEDGE_FORM}" method="post" action="${visit.link('/bulk/preview-credits')}" aria-label="Acknowledge many">
<h3>Acknowledge many</h3>
<p>You see a preview first. Nothing changes before you confirm it.</p>
<input type="hidden" name="filter_job" value="${job}">
<p><label for="credits-reason">Why</label><br><textarea id="credits-reason" name="reason" rows="2" cols="60" maxlength="500" required></textarea><br><small>Kept with each decision, with your name.</small></p>
<p><button type="submit" name="scope" value="selected">Preview the ticked double credits</button>
<button type="submit" name="scope" value="all">Preview all ${plural(credits, 'double credit')}</button></p>
</form>
`;
}

/**
 * A form that previews one decision about the ticked entries, or about all that match the filter. The filter
 * is submitted as shown, with an age as the instant from which it was counted.
 */
export function settleManyForm(
  visit: Visit,
  {
    filter,
    doubts,
    count,
    amounts,
  }: {
    readonly filter: ChosenDoubts;
    readonly doubts: number;
    /** The number of doubts in words. */
    readonly count: string;
    readonly amounts: string;
  },
): Html | null {
  if (!visit.may('POST /bulk/preview') || doubts === 0) return null;
  const { job, reason, dealId, sinceBefore } = filter;
  const hidden: Readonly<Record<string, string>> = {
    filter_job: job ?? '',
    filter_reason: reason ?? '',
    filter_deal: dealId ?? '',
    filter_since: sinceBefore?.toISOString() ?? '',
  };
  return html`<form class="settle" id="${FORM}" method="post" action="${visit.link('/bulk/preview')}" aria-label="Settle many">
<h2>Settle many</h2>
<p>You see a preview first: which entries, how much money, and which of them are left out. Nothing changes before you confirm it.</p>
${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<fieldset><legend>What did you find?</legend>
<p><label><input type="radio" name="decision" value="accepted" required> The service shows all of them: they were credited.</label></p>
<p class="under"><label>Deal of those that name none <input type="text" name="deal" autocomplete="off"></label>
<label>or collaboration <input type="text" name="collab" autocomplete="off"></label></p>
${visit.may('decide resend') ? html`<p><label><input type="radio" name="decision" value="resend" required> The service shows none of them: send them again with the next run.</label></p>\n` : null}<p><label><input type="radio" name="decision" value="write_off" required> It cannot be determined: write them off. They are never sent again.</label></p>
</fieldset>
<p><label for="many-reason">Why</label><br><textarea id="many-reason" name="reason" rows="2" cols="60" maxlength="500" required></textarea><br><small>Kept with each decision, with your name.</small></p>
<p><button type="submit" name="scope" value="selected">Preview the ticked entries</button>
<button type="submit" name="scope" value="all">Preview all ${count} that match${amounts === '' ? '' : `: ${amounts}`}</button></p>
</form>
`;
}
