import type { Html, HtmlValue } from '../../core/text/html.ts';
import { html } from '../../render/html/html.ts';
import { type ActionPath, type Permission, whoMay } from '../access/permissions.ts';
import type { Visit } from '../console-page.ts';
import { queryWithout } from '../read-query.ts';

/** Says who can do what a page does not offer to this person. */
export function notOffered(visit: Visit, permission: Permission): Html {
  return html`<span class="dim">${visit.config.console.readOnly ? 'This console is read-only.' : `${whoMay(permission)} can do this.`}</span>`;
}

/** What a form sends unseen. Several values are several fields of the name. */
export type HiddenFields = Readonly<Record<string, string | readonly string[]>>;

export function hiddenFields(hidden: HiddenFields): Html {
  return html`${Object.entries(hidden).map(([name, values]) => [values].flat().map((value) => html`<input type="hidden" name="${name}" value="${value}">`))}`;
}

/**
 * Renders the form of an action, or a note if this person may not carry it out. Afterwards the same page is
 * shown again, with the result.
 *
 * @param options.hidden hidden fields that identify the subject.
 * @param options.fields additional inputs before the reason.
 * @param options.reasonLabel label of the reason, which every change requires.
 * @param options.reason initial text of the reason.
 */
export function actionForm(
  visit: Visit,
  path: ActionPath,
  {
    hidden,
    fields,
    reasonLabel,
    reason = '',
    button,
    confirm,
  }: {
    readonly hidden: HiddenFields;
    readonly fields?: HtmlValue;
    readonly reasonLabel: string;
    readonly reason?: string;
    readonly button: string;
    /** What a person must tick first, because nobody can undo it. */
    readonly confirm?: string;
  },
): Html {
  if (!visit.may(`POST ${path}`)) return notOffered(visit, `POST ${path}`);
  return html`<form class="change" method="post" action="${visit.link(path)}">
<input type="hidden" name="return_to" value="${visit.link(visit.path, queryWithout(visit, 'done'))}">
${hiddenFields(hidden)}
${fields}
<label>${reasonLabel} <input type="text" name="reason" value="${reason}" required maxlength="500"></label>
${
  confirm === undefined
    ? html`<button class="primary" type="submit">${button}</button>`
    : html`<label><input type="checkbox" name="understood" value="yes" required> ${confirm}</label>
<button class="destructive" type="submit">${button}</button>`
}
</form>
`;
}
