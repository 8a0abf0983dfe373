import type { Html } from '../../core/text/html.ts';
import { html } from '../../render/html/html.ts';
import type { Visit } from '../console-page.ts';
import { type Asked, dayOf, idOf, isNamed, monthOf, optionOf, textOf, wordOf } from '../read-query.ts';

/** A field of a filter, named like its parameter in the address: how it is read, and how the form asks for it. */
type FilterField<Value> = {
  readonly label: string;
  /** @throws BadQuery if the address has something that the field cannot be. */
  readonly read: (asked: Asked, name: string) => Value;
  readonly type?: 'text' | 'date' | 'hidden';
  /** Options of a select field; without them, it is a text field. */
  readonly options?: readonly string[];
  /** Whether the field always has a value, so that its options have no `all`. */
  readonly isRequired?: boolean;
};

const fieldOf =
  (read: (asked: Asked, name: string) => string | null, type: 'text' | 'date' = 'text') =>
  (label: string, options?: readonly string[]): FilterField<string | null> => ({
    ...{ label, read, type },
    ...(options === undefined ? {} : { options }),
  });

/** Any text. Options are offered, and an address may have another text. */
export const byText = fieldOf(textOf);
/** A numeric id of this project. */
export const byId = fieldOf(idOf);
/** A day such as 2026-04-10. */
export const byDay = fieldOf(dayOf, 'date');
/** A month such as 2026-10. */
export const byMonth = fieldOf(monthOf);

/** One of the options, or all. */
export function byOption<Option extends string>(
  label: string,
  options: readonly Option[],
): FilterField<Option | null> {
  return { label, options, read: (asked, name) => optionOf(asked, name, options) };
}

/** Always one of the options. */
export function byChoice<Option extends string>(
  label: string,
  options: readonly Option[],
  otherwise: Option,
): FilterField<Option> {
  const { read } = byOption(label, options);
  return { label, options, read: (asked, name) => read(asked, name) ?? otherwise, isRequired: true };
}

/** What another control of the page has chosen: the form keeps it unseen. */
export function hidden<Value>(read: FilterField<Value>['read']): FilterField<Value> {
  return { label: '', read, type: 'hidden' };
}

type Fields = Readonly<Record<string, FilterField<string | null>>>;

/** What the address asks for. */
type Filter<Of extends Fields> = { readonly [Name in keyof Of]: ReturnType<Of[Name]['read']> };

/**
 * Reads the filter of a page from the query of its address, so that a filtered page can be bookmarked, reloaded and shared.
 *
 * @returns what the address asks for, and the form that asks for it, which is folded on a phone until it filters. A page
 *   passes the options that it knows only when it has read its list.
 */
export function readFilter<const Of extends Fields>(
  visit: Visit,
  fields: Of,
): {
  readonly filter: Filter<Of>;
  readonly form: (options?: { readonly [Name in keyof Of]?: readonly string[] }) => Html;
} {
  const asked = Object.entries(fields).map(([name, field]) => ({
    ...field,
    name,
    value: field.read(visit, name),
  }));
  const isFiltering = asked.some(
    ({ type, isRequired = false, value }) => type !== 'hidden' && !isRequired && value !== null,
  );
  const zone = { name: 'zone', value: visit.query.get('zone'), type: 'hidden' } as const;
  return {
    filter: Object.fromEntries(asked.map(({ name, value }) => [name, value])) as Filter<Of>,
    form: (options = {}) =>
      html`<details class="filters"${isFiltering ? html` open data-open` : null}><summary>Filter</summary><form class="filter" method="get" action="${visit.link(visit.path)}" role="search" aria-label="Filter the list">
${zone.value === null ? null : fieldMarkup(zone)}${asked.map((field) => fieldMarkup({ ...field, options: options[field.name] ?? field.options }))}
<button type="submit">Filter</button>${isFiltering ? html` <a href="${visit.link(visit.path)}">Clear</a>` : null}
</form></details>
`,
  };
}

type AskedField = Pick<FilterField<unknown>, 'type' | 'isRequired'> & {
  readonly name: string;
  readonly value: string | null;
  readonly label?: string;
  readonly options?: readonly string[] | undefined;
};

function fieldMarkup({ name, label, type = 'text', options, isRequired, value }: AskedField): Html {
  if (type === 'hidden') return html`<input type="hidden" name="${name}" value="${value}">`;
  const input =
    options === undefined
      ? html`<input type="${type}" name="${name}" value="${value}">`
      : html`<select name="${name}">${isRequired ? null : html`<option value="">all</option>`}${options.map(
          (option) =>
            html`<option value="${option}"${isNamed(option, value ?? '') ? html` selected` : null}>${wordOf(option)}</option>`,
        )}</select>`;
  return html`<label>${label} ${input}</label>
`;
}
