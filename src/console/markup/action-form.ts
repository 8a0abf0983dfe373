import { column } from '../../render/block.ts';
import { type Html, type HtmlValue, html } from '../../render/html/html.ts';
import { type ActionPath, type Permission, whoMay } from '../access/permissions.ts';
import type { Visit } from '../console-page.ts';
import { queryWithout } from '../read-query.ts';
import type { TableColumn } from './parts.ts';

/** Says who can do what a page does not offer to this person. @param what what it is: `cancel payments`. */
export function notOffered(visit: Visit, permission: Permission, what = 'do this'): Html {
  return html`<span class="dim">${visit.config.console.readOnly ? 'This console is read-only.' : `${whoMay(permission)} can ${what}.`}</span>`;
}

/** A column of a list with what a person can do about each row. None if this person may not: the page says so once. */
export function actColumn<Row>(
  visit: Visit,
  path: ActionPath,
  [title, cell]: readonly [title: string, cell: (row: Row) => HtmlValue],
): TableColumn<Row> | null {
  return visit.may(`POST ${path}`) ? column(title, cell) : null;
}

/** What a form sends unseen. Several values are several fields of the name; null is a blank one. */
export type HiddenFields = Readonly<Record<string, string | null | readonly string[]>>;

export function hiddenFields(hidden: HiddenFields): Html {
  return html`${Object.entries(hidden).map(([name, values]) => [values].flat().map((value) => html`<input type="hidden" name="${name}" value="${value}">`))}`;
}

/**
 * Renders the form of an action, or a note if this person may not carry it out. Afterwards the same page is
 * shown again, with the result.
 *
 * @param options.hidden hidden fields that identify the subject.
 * @param options.fields additional inputs before the reason.
 * @param options.reasonLabel label of the reason, which every change requires. Default: `Why`.
 * @param options.reason initial text of the reason.
 */
export function actionForm(
  visit: Visit,
  path: ActionPath,
  {
    hidden,
    fields,
    reasonLabel = 'Why',
    reason = '',
    button,
    confirm,
    isMain = false,
    returnTo = visit.link(visit.path, queryWithout(visit, 'done')),
  }: {
    readonly hidden: HiddenFields;
    readonly fields?: HtmlValue;
    readonly reasonLabel?: string;
    readonly reason?: string;
    readonly button: string;
    /** What a person must tick first, because nobody can undo it. */
    readonly confirm?: string;
    /** Whether it is what the page is for, or what its first sentence asks for: one form of a page at most. */
    readonly isMain?: boolean;
    /** The page that shows the result, if it is another one. */
    readonly returnTo?: string;
  },
): Html {
  if (!visit.may(`POST ${path}`)) return notOffered(visit, `POST ${path}`);
  return html`<form class="change" method="post" action="${visit.link(path)}">
${hiddenFields({ return_to: returnTo, ...hidden })}
${fields}
<label>${reasonLabel} <input type="text" name="reason" value="${reason}" required maxlength="500"></label>
${
  confirm === undefined
    ? html`<button${isMain ? html` class="primary"` : null} type="submit">${button}</button>`
    : html`<label><input type="checkbox" name="understood" value="yes" required> ${confirm}</label>
<button class="destructive" type="submit">${button}</button>`
}
</form>
`;
}

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
  /** How many of them have an amount that is not known. Default: none. */
  readonly withoutAmount?: number | undefined;
}): Html {
  const { form, name, value, label, amount = null, count = 1, withoutAmount = 0 } = options;
  return html`<input type="checkbox" name="${name}" value="${value}" form="${form}" aria-label="Choose ${label}"${amount === null ? null : html` data-amount="${amount}"`}${count === 1 ? null : html` data-count="${count}"`}${withoutAmount === 0 ? null : html` data-unknown`}>`;
}

/** The bar that stays in view while rows are chosen for a form: how many, with their money. @param act what leads on. */
export function chooseBar(form: string, act: Html): Html {
  return html`<p class="bar" data-bar="${form}" hidden><output></output> <button type="button" data-all>Choose all of this page</button> ${act}</p>
`;
}

/** The rows that one decision is about. */
export type ChosenRows = {
  /** The filter as shown, or the rows themselves if they were chosen before. */
  readonly hidden: HiddenFields;
  /** What the rows of the page are that can be ticked: `entries`. Null: the hidden fields name what was chosen before. */
  readonly ticked: string | null;
  /** All that the hidden fields name, with their amount: `540 entries that match: 42,835.00 EUR`. */
  readonly all: string;
};

/**
 * The form of one decision about the ticked rows, or about all that match the filter, with a bar. Nothing if this person
 * may not change things. The answer is a preview, so nothing changes yet.
 *
 * @param form.scope what the hidden fields name, if the rows were chosen before: a filter, or each of them.
 */
export function chooseForm(
  visit: Visit,
  { hidden, ticked, all }: ChosenRows,
  form: {
    readonly id: string;
    readonly path: ActionPath;
    readonly title: string;
    readonly about: string;
    readonly fields?: HtmlValue;
    readonly scope?: 'all' | 'selected';
  },
): Html | null {
  const { id, path, title, about, fields, scope = 'all' } = form;
  if (!visit.may(`POST ${path}`)) return null;
  const send = (scope: string, label: string) =>
    html`<button type="submit" name="scope" value="${scope}">${label}</button>
`;
  return html`${ticked === null ? null : chooseBar(id, html`<a class="button" href="#${id}">Decide about them</a>`)}<form class="settle" id="${id}" method="post" action="${visit.link(path)}" aria-label="${title}">
<h2>${title}</h2>
<p>${about} Nothing changes before you confirm it.</p>
${hiddenFields(hidden)}
${fields}
<p><label for="${id}-reason">Why</label><br><textarea id="${id}-reason" name="reason" rows="2" maxlength="500" required></textarea><br><small>Kept with each of them, with your name.</small></p>
<p>${ticked === null ? send(scope, `Preview the ${all}`) : html`${send('selected', `Preview the ticked ${ticked}`)}${send('all', `Preview the ${all}`)}`}</p>
</form>
`;
}
