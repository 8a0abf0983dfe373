import { type Html, html } from '../../render/html/html.ts';
import type { Visit } from '../console-page.ts';
import {
  type Asked,
  dayOf,
  idOf,
  isNamed,
  monthOf,
  optionOf,
  queryWithout,
  textOf,
  wordOf,
} from '../read-query.ts';
import { hiddenFields } from './action-form.ts';

/** A field of a filter, named like its parameter in the address: how it is read, and how the form asks for it. */
type FilterField<Value> = {
  readonly label: string;
  /** @throws BadQuery if the address has something that the field cannot be. */
  readonly read: (asked: Asked, name: string) => Value;
  readonly type?: 'text' | 'date' | 'hidden';
  /** Options of a select field; without them, it is a text field. */
  readonly options?: readonly string[];
  /** What the rows of the page call an option. Default: `wordOf`. */
  readonly say?: (option: string) => string;
  /** Whether the field always has a value, so that its options have no `all`. */
  readonly isRequired?: boolean;
};

const fieldOf =
  (read: (asked: Asked, name: string) => string | null, type: 'text' | 'date' = 'text') =>
  (label: string, options?: readonly string[]): FilterField<string | null> => ({
    label,
    read,
    type,
    ...(options === undefined ? {} : { options }),
  });

/** Any text. Options are offered, and an address may have another text. */
export const byText = fieldOf(textOf);
/** A word of this project, which pages show with blanks: `bad money` is `bad_money`. */
export const byWord = fieldOf(
  (asked, name) => textOf(asked, name)?.toLowerCase().replace(/\s+/g, '_') ?? null,
);
/** A part of a handle, with or without its `@`. */
export const byHandle = fieldOf((asked, name) => textOf(asked, name)?.replace(/^@+(?=.)/, '') ?? null);
/** A currency such as EUR, in any case. */
export const byCurrency = fieldOf((asked, name) => textOf(asked, name)?.toUpperCase() ?? null);
/** A numeric id of this project. */
export const byId = fieldOf(idOf);
/** A day such as 2026-04-10. */
export const byDay = fieldOf(dayOf, 'date');
/** A month such as 2026-10. */
export const byMonth = fieldOf(monthOf);

/** One of the options, or all. @param say what the rows of the page call an option. */
export function byOption<Option extends string>(
  label: string,
  options: readonly Option[],
  say = wordOf,
): FilterField<Option | null> {
  return { label, options, say, read: (asked, name) => optionOf(asked, name, options, say) };
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

/** What another control of the page has chosen: the form keeps it unseen, like all that it does not ask for. */
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
  const shown = asked.filter(({ type }) => type !== 'hidden');
  return {
    filter: Object.fromEntries(asked.map(({ name, value }) => [name, value])) as Filter<Of>,
    form: (options = {}) =>
      html`<details class="filters"${isFiltering ? html` open data-open` : null}><summary>Filter</summary>${queryForm(
        visit,
        { asks: [...shown.map(({ name }) => name), 'after'], label: 'Filter the list', className: 'filter' },
        html`${shown.map((field) => fieldMarkup({ ...field, options: options[field.name] ?? field.options }))}
<button type="submit">Filter</button>${isFiltering ? html` <a href="${visit.link(visit.path)}">Clear</a>` : null}`,
      )}</details>
`,
  };
}

/**
 * A form that asks for a page by its address. It keeps what the address has beside its own fields, so that no form loses
 * what another control has chosen; on another page, the zone of times.
 *
 * @param of.asks names that it replaces: those of its fields, and what depends on them.
 * @param of.label what it does, for screen readers.
 */
export function queryForm(
  visit: Visit,
  {
    asks,
    label,
    path = visit.path,
    className,
    id,
  }: {
    readonly asks: readonly string[];
    readonly label: string;
    readonly path?: string;
    /** Class of a form that searches. */
    readonly className?: 'filter' | 'find';
    readonly id?: string;
  },
  fields: Html,
): Html {
  const kept =
    path === visit.path ? queryWithout(visit, ...asks, 'done') : { zone: visit.query.getAll('zone') };
  return html`<form${id === undefined ? null : html` id="${id}"`}${className === undefined ? null : html` class="${className}" role="search"`} method="get" action="${visit.link(path)}" aria-label="${label}">
${hiddenFields(kept)}${fields}
</form>
`;
}

type AskedField = Pick<FilterField<unknown>, 'label' | 'type' | 'say' | 'isRequired'> & {
  readonly name: string;
  readonly value: string | null;
  readonly options?: readonly string[] | undefined;
};

function fieldMarkup({
  name,
  label,
  type = 'text',
  options,
  say = wordOf,
  isRequired,
  value,
}: AskedField): Html {
  const isOffered = value === null || options?.some((option) => isNamed(option, value));
  const input =
    options === undefined
      ? html`<input type="${type}" name="${name}" value="${value}">`
      : html`<select name="${name}">${isRequired ? null : html`<option value="">all</option>`}${[
          ...options,
          ...(isOffered ? [] : [value]),
        ].map(
          (option) =>
            html`<option value="${option}"${isNamed(option, value ?? '') ? html` selected` : null}>${say(option)}</option>`,
        )}</select>`;
  return html`<label>${label} ${input}</label>
`;
}
