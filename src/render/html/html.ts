import { type Html, type HtmlValue, joinMarkup } from '../../core/text/html.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { toPrintable } from '../../core/text/printable.ts';

export type { Html, HtmlValue };

/**
 * A fragment of an HTML page that shows data: html`<td>${cell}</td>`. Text is escaped, e-mail addresses are
 * masked, and invisible characters with an effect are made harmless: control characters, and those that
 * change the text direction.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return joinMarkup(strings, values, (text) => toPrintable(maskAddresses(text)));
}

/** Like `html`, for the addresses of people whom the reader writes to: e-mail addresses are not masked. */
export function htmlWithAddresses(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return joinMarkup(strings, values, toPrintable);
}

/** A sentence whose names of settings and commands, between backticks, are shown as code. */
export function prose(text: string): Html {
  return html`${text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}
