import type { Html, HtmlValue } from '../../core/text/html.ts';
import { html } from '../../render/html/html.ts';
import type { ActionPath } from '../access/permissions.ts';
import type { Visit } from '../console-page.ts';

/**
 * A checkbox in a row of a list, that chooses it for the form below the list.
 *
 * @param options.form id of that form.
 * @param options.label what is chosen, for screen readers.
 * @param options.amount amount with its currency, which the bar adds up.
 */
export function chooseBox(options: {
  readonly form: string;
  readonly name: string;
  readonly value: string;
  readonly label: string;
  readonly amount?: string | null;
}): Html {
  const { form, name, value, label, amount = null } = options;
  return html`<input type="checkbox" name="${name}" value="${value}" form="${form}" aria-label="Choose ${label}"${amount === null ? null : html` data-amount="${amount}"`}>`;
}

/**
 * The form of one decision about the chosen rows, or about all that match the filter, with a bar that stays in view while
 * rows are chosen. Nothing if this person may not change things. The answer is a preview, so nothing changes yet.
 *
 * @param options.hidden the filter as shown.
 * @param options.chosen what the rows are: `entries`.
 * @param options.all all that match, with their amount: `540 entries that match: 42,835.00 EUR`.
 */
export function chooseForm(
  visit: Visit,
  options: {
    readonly id: string;
    readonly path: ActionPath;
    readonly title: string;
    readonly about: string;
    readonly hidden: Readonly<Record<string, string>>;
    readonly fields?: HtmlValue;
    readonly chosen: string;
    readonly all: string;
  },
): Html | null {
  const { id, path, title, about, hidden, fields, chosen, all } = options;
  if (!visit.may(`POST ${path}`)) return null;
  return html`<p class="bar" data-bar="${id}" hidden><output></output> <button type="button" data-all>Choose all of this page</button> <a class="button" href="#${id}">Decide about them</a></p>
<form class="settle" id="${id}" method="post" action="${visit.link(path)}" aria-label="${title}">
<h2>${title}</h2>
<p>${about} Nothing changes before you confirm it.</p>
${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${fields}
<p><label for="${id}-reason">Why</label><br><textarea id="${id}-reason" name="reason" rows="2" maxlength="500" required></textarea><br><small>Kept with each of them, with your name.</small></p>
<p><button type="submit" name="scope" value="selected">Preview the ticked ${chosen}</button>
<button type="submit" name="scope" value="all">Preview all ${all}</button></p>
</form>
`;
}
