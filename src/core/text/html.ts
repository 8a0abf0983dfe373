/** Escaped markup. Only `joinMarkup` creates it, so that no text can reach a page without escaping. */
export class Html {
  readonly #markup: string;

  private constructor(markup: string) {
    this.#markup = markup;
  }

  /** Joins the parts of a template; see `joinMarkup`. */
  static join(strings: readonly string[], values: readonly HtmlValue[], clean: Clean): Html {
    return new Html(
      strings
        .map((part, index) => part + (index < values.length ? markupOf(values[index], clean) : ''))
        .join(''),
    );
  }

  toString(): string {
    return this.#markup;
  }
}

/**
 * A value in a template. Text is escaped, null and undefined are empty, and the elements of a list are
 * joined.
 */
export type HtmlValue = Html | string | number | null | undefined | readonly HtmlValue[];

/** Cleans text before it is escaped. */
type Clean = (text: string) => string;

/**
 * Joins the parts of a template. Text is escaped for elements and for attributes in double quotes. Values may
 * only be used there, never in the name of a tag, a script or a style. Each area wraps this function in its
 * own `html` tag, which determines how text is cleaned.
 */
export function joinMarkup(strings: TemplateStringsArray, values: readonly HtmlValue[], clean: Clean): Html {
  return Html.join(strings, values, clean);
}

function markupOf(value: HtmlValue, clean: Clean): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Html) return value.toString();
  if (Array.isArray(value)) return value.map((part: HtmlValue) => markupOf(part, clean)).join('');
  return clean(String(value)).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
