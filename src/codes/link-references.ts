import { foldCode, foldLink } from '../core/text/fold.ts';
import { hasAddress } from '../core/text/mask-addresses.ts';

/** A custom link of a deal and its target: a landing page, or the name by which the shop knows it. */
export type CustomLink = { readonly link: string | null; readonly target: string | null };

/** Texts, folded like the links of orders. An order with all of them came through the link. */
export type References = { readonly written: string; readonly all: readonly string[] };

/**
 * Returns the texts by which links of orders can identify a custom link. If the link, or the page that it
 * leads to, has parameters that name an influencer (`?utm_campaign=spring&ref=mia`), an order must have all
 * of their values, because a single one (`spring`) may occur in the links of many. Otherwise it is the
 * address of the link itself, or the name of its target. The address of a landing page names no influencer.
 *
 * @param parameters the link parameters whose values the layouts read from the links of orders.
 */
export function referencesOf(
  { link, target }: CustomLink,
  parameters: readonly string[],
): readonly References[] {
  const wanted = new Set(parameters.map(foldName));
  const found = [
    link === null ? null : { written: link, all: valuesOf(link, wanted) ?? addressOf(link) },
    target === null ? null : { written: target, all: valuesOf(target, wanted) ?? nameOf(target) },
  ];
  const usable = found
    .filter((one) => one !== null)
    .filter((one) => one.all.length > 0 && !hasAddress(one.written));
  return [...new Map(usable.map((one) => [textOf(one), one])).values()];
}

/** Key by which equal references are recognised. */
export function textOf({ all }: References): string {
  return all.join('\n');
}

/** Returns the values of the wanted parameters, each once, sorted; null if there are none. */
function valuesOf(text: string, wanted: ReadonlySet<string>): readonly string[] | null {
  const url = URL.parse(withScheme(text), 'https://relative.invalid');
  const values = [...(url?.searchParams ?? [])]
    .filter(([name]) => wanted.has(foldName(name)))
    .map(([, value]) => foldCode(value))
    .filter((value) => value !== '');
  return values.length === 0 ? null : [...new Set(values)].sort();
}

function addressOf(link: string): readonly string[] {
  const address = foldLink(withScheme(link));
  return address === null ? nameOf(link) : [foldCode(address)];
}

/** Returns the folded text as the name of a link; empty if the text is an address. */
function nameOf(text: string): readonly string[] {
  const name = foldCode(text);
  return /^https?:\/\//i.test(text) || /[/?#]/.test(text) || name === '' ? [] : [name];
}

/** Adds a scheme to an address without one: `acme.test/mia` is an address, `mia-spring` is not. */
function withScheme(text: string): string {
  return /^[\w-]+(\.[\w-]+)+[/?]/.test(text) ? `https://${text}` : text;
}

/** Folds case, blanks, - and _, as the layouts do when they compare names. */
function foldName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}
