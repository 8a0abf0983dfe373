import type { Html, HtmlValue } from '../../core/text/html.ts';
import { html } from '../../render/html/html.ts';
import type { ActionPath } from '../access/permissions.ts';
import type { Visit } from '../console-page.ts';
import { type HiddenFields, hiddenFields } from './action-form.ts';

/**
 * A checkbox in a row of a list, that chooses it for the form below the list.
 *
 * @param options.form id of that form.
 * @param options.label what is chosen, for screen readers.
 * @param options.amount amount with its currency, or several after commas, which the bar adds up.
 */
export function chooseBox(options: {
  readonly form: string;
  readonly name: string;
  readonly value: string;
  readonly label: string;
  readonly amount?: string | null;
  /** How many things the row stands for. Default: one. */
  readonly count?: number;
}): Html {
  const { form, name, value, label, amount = null, count = 1 } = options;
  return html`<input type="checkbox" name="${name}" value="${value}" form="${form}" aria-label="Choose ${label}"${amount === null ? null : html` data-amount="${amount}"`}${count === 1 ? null : html` data-count="${count}"`}>`;
}

/** The bar that stays in view while rows are chosen for a form: how many, with their money. @param act what leads on. */
export function chooseBar(form: string, act: Html): Html {
  return html`<p class="bar" data-bar="${form}" hidden><output></output> <button type="button" data-all>Choose all of this page</button> ${act}</p>
`;
}

/**
 * The form of one decision about the chosen rows, or about all that match the filter, with a bar. Nothing if this person
 * may not change things. The answer is a preview, so nothing changes yet.
 *
 * @param options.hidden the filter as shown, or the rows.
 * @param options.chosen what the rows are: `entries`. Null: the hidden fields name what was chosen before.
 * @param options.all all that match, with their amount: `540 entries that match: 42,835.00 EUR`.
 */
export function chooseForm(
  visit: Visit,
  options: {
    readonly id: string;
    readonly path: ActionPath;
    readonly title: string;
    readonly about: string;
    readonly hidden: HiddenFields;
    readonly fields?: HtmlValue;
    readonly chosen: string | null;
    readonly all: string;
    /** What the hidden fields name, if the rows were chosen before: a filter, or each of them. */
    readonly scope?: 'all' | 'selected';
  },
): Html | null {
  const { id, path, title, about, hidden, fields, chosen, all, scope = 'all' } = options;
  if (!visit.may(`POST ${path}`)) return null;
  const send = (scope: string, label: string) =>
    html`<button type="submit" name="scope" value="${scope}">${label}</button>
`;
  return html`${chosen === null ? null : chooseBar(id, html`<a class="button" href="#${id}">Decide about them</a>`)}<form class="settle" id="${id}" method="post" action="${visit.link(path)}" aria-label="${title}">
<h2>${title}</h2>
<p>${about} Nothing changes before you confirm it.</p>
${hiddenFields(hidden)}
${fields}
<p><label for="${id}-reason">Why</label><br><textarea id="${id}-reason" name="reason" rows="2" maxlength="500" required></textarea><br><small>Kept with each of them, with your name.</small></p>
<p>${chosen === null ? send(scope, `Preview ${all}`) : html`${send('selected', `Preview the ticked ${chosen}`)}${send('all', `Preview all ${all}`)}`}</p>
</form>
`;
}
