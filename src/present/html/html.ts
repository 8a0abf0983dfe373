import { type Html, type HtmlValue, joinMarkup } from '../../model/text/html.ts';
import { maskAddresses } from '../../model/text/mask-addresses.ts';
import { toPrintable } from '../../model/text/printable.ts';

/**
 * A piece of a page that shows data: html`<td>${cell}</td>`. Beside being escaped, text loses its e-mail addresses, and what a page would
 * obey without showing it: control characters, and those that turn the direction of writing.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return joinMarkup(strings, values, (text) => toPrintable(maskAddresses(text)));
}
