/** Markup that is safe to send: only `joinMarkup` makes it, so that no text gets into a page unescaped. */
export class Html {
  readonly #markup: string;

  private constructor(markup: string) {
    this.#markup = markup;
  }

  /** What a template tag makes of its parts; see `joinMarkup`. */
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

/** What may stand in a template. Text is escaped; null and undefined are nothing; the parts of a list follow each other. */
export type HtmlValue = Html | string | number | null | undefined | readonly HtmlValue[];

/** What is done to text before it is escaped. */
type Clean = (text: string) => string;

/**
 * Joins the parts of a template. Text is escaped for elements and for attributes in double quotes, which are the only places where values
 * may stand: never in a tag's name, a script or a style. Each area wraps this in a tag `html` of its own, which says how its text is cleaned.
 */
export function joinMarkup(strings: TemplateStringsArray, values: readonly HtmlValue[], clean: Clean): Html {
  return Html.join(strings, values, clean);
}

function markupOf(value: HtmlValue, clean: Clean): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Html) return value.toString();
  if (Array.isArray(value)) return value.map((part: HtmlValue) => markupOf(part, clean)).join('');
  return escapeText(clean(String(value)));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}
