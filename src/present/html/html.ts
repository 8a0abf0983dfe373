import { maskAddresses } from '../../model/text/mask-addresses.ts';
import { toPrintable } from '../../model/text/printable.ts';

/** Markup that is safe to send: only `html` makes it, so that no text gets into a page unescaped. */
export class Html {
  readonly #markup: string;

  /** @param markup of this file only: everything else goes through `html`. */
  private constructor(markup: string) {
    this.#markup = markup;
  }

  /** What the template tag makes of its parts. */
  static join(strings: readonly string[], values: readonly Value[]): Html {
    return new Html(
      strings.map((part, index) => part + (index < values.length ? markupOf(values[index]) : '')).join(''),
    );
  }

  toString(): string {
    return this.#markup;
  }
}

/** What may stand in a template. Text is escaped; null and undefined are nothing; the parts of a list follow each other. */
export type Value = Html | string | number | null | undefined | readonly Value[];

/**
 * A piece of a page: html`<td>${cell}</td>`. Text is escaped for elements and for attributes in double quotes, which are the only places
 * where values may stand: never in a tag's name, a script or a style. E-mail addresses are masked.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return Html.join(strings, values);
}

function markupOf(value: Value): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Html) return value.toString();
  if (Array.isArray(value)) return value.map(markupOf).join('');
  return escapeText(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Also what a page would obey without showing it: control characters, and those that turn the direction of writing. */
function escapeText(text: string): string {
  return toPrintable(maskAddresses(text)).replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}
