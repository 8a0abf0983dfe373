import { formatMoney } from '../../../core/money.ts';
import type { Html } from '../../../core/text/html.ts';
import { html } from '../../../render/html/html.ts';
import { plural } from '../../../render/text.ts';
import type { Visit } from '../../console-page.ts';
import { chooseBox, chooseForm } from '../../markup/choose.ts';
import type { ChosenDoubts } from './doubt-filter.ts';

const FORM = 'settle-many';
const ACKNOWLEDGE_FORM = 'acknowledge-many';

type Entry = {
  readonly entryId: string;
  readonly amount: string | null;
  readonly currency: string | null;
};

/** A checkbox that chooses an entry for the form below the list. */
export function entryBox({ entryId, amount, currency }: Entry, form = FORM): Html {
  return chooseBox({
    ...{ form, name: 'entry', value: entryId, label: `entry ${entryId}` },
    amount: amount === null ? null : formatMoney(amount, currency),
  });
}

/** The same for the form below the list of double credits. */
export function creditBox(entry: Entry): Html {
  return entryBox(entry, ACKNOWLEDGE_FORM);
}

/** A form that previews the acknowledgement of the ticked double credits, or of all of a job. */
export function acknowledgeManyForm(
  visit: Visit,
  {
    job,
    credits,
    entryIds = null,
  }: {
    readonly job: string | null;
    readonly credits: number;
    /** Those that were chosen before. Null: they are ticked on this page. */
    readonly entryIds?: readonly string[] | null;
  },
): Html | null {
  if (credits === 0) return null;
  return chooseForm(visit, {
    id: ACKNOWLEDGE_FORM,
    path: '/bulk/preview-credits',
    title: 'Acknowledge many',
    about: 'You see a preview first.',
    hidden: { filter_job: job ?? '', entry: entryIds ?? [] },
    chosen: entryIds === null ? 'double credits' : null,
    scope: 'selected',
    all: plural(credits, 'double credit'),
  });
}

/**
 * A form that previews one decision about the ticked entries, or about all that match the filter. The filter
 * is submitted as shown, with an age as the instant from which it was counted.
 */
export function settleManyForm(
  visit: Visit,
  {
    filter: { job, reason, dealId, sinceBefore },
    doubts,
    count,
    amounts,
    isChosen = false,
  }: {
    readonly filter: ChosenDoubts;
    readonly doubts: number;
    /** The number of doubts in words. */
    readonly count: string;
    readonly amounts: string;
    /** Whether the filter is what was chosen before. Otherwise, entries of this page can be ticked. */
    readonly isChosen?: boolean;
  },
): Html | null {
  if (doubts === 0) return null;
  return chooseForm(visit, {
    id: FORM,
    path: '/bulk/preview',
    title: 'Settle many',
    about: 'You see a preview first: which entries, how much money, and which of them are left out.',
    hidden: {
      filter_job: job ?? '',
      filter_reason: reason ?? '',
      filter_deal: dealId ?? '',
      filter_since: sinceBefore?.toISOString() ?? '',
    },
    fields: html`<fieldset><legend>What did you find?</legend>
<p><label><input type="radio" name="decision" value="accepted" required> The service shows all of them: they were credited.</label></p>
<p class="under"><label>Deal of those that name none <input type="text" name="deal" autocomplete="off"></label>
<label>or collaboration <input type="text" name="collab" autocomplete="off"></label></p>
${visit.may('decide resend') ? html`<p><label><input type="radio" name="decision" value="resend" required> The service shows none of them: send them again with the next run.</label></p>\n` : null}<p><label><input type="radio" name="decision" value="write_off" required> It cannot be determined: write them off. They are never sent again.</label></p>
</fieldset>`,
    chosen: isChosen ? null : 'entries',
    all: `${count}${isChosen ? '' : ' that match'}${amounts === '' ? '' : `: ${amounts}`}`,
  });
}
