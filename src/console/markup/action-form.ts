import type { Html, HtmlValue } from '../../model/text/html.ts';
import { html } from '../../present/html/html.ts';
import type { Visit } from '../console-page.ts';
import { queryWithout } from '../read-query.ts';

/**
 * A form that changes something; nothing where this person may not. The page that it stands on is shown again afterwards, with what was done.
 *
 * @param options.hidden what the form is about.
 * @param options.fields inputs of its own, before the reason.
 * @param options.reasonLabel what the reason is asked for; every change has one.
 * @param options.reason what it says until it is changed.
 */
export function actionForm(
  visit: Visit,
  path: string,
  {
    hidden,
    fields,
    reasonLabel,
    reason = '',
    button,
  }: {
    readonly hidden: Readonly<Record<string, string>>;
    readonly fields?: HtmlValue;
    readonly reasonLabel: string;
    readonly reason?: string;
    readonly button: string;
  },
): Html {
  if (!visit.mayChange) return html`<span class="dim">operators only</span>`;
  return html`<form class="change" method="post" action="${visit.link(path)}">
<input type="hidden" name="return_to" value="${visit.link(visit.path, queryWithout(visit, 'done'))}">
${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${fields}
<label>${reasonLabel} <input type="text" name="reason" value="${reason}" required maxlength="500"></label>
<button class="primary" type="submit">${button}</button>
</form>
`;
}
