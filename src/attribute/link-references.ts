import { foldCode, foldLink } from '../model/text/fold.ts';
import { hasAddress } from '../model/text/mask-addresses.ts';

/** A custom link of a deal, and where it leads: a landing page, or the name by which the shop knows it. */
export type CustomLink = { readonly link: string | null; readonly target: string | null };

/** Texts, folded as links of orders are. An order that holds all of them came by the link. */
export type References = { readonly written: string; readonly all: readonly string[] };

/**
 * What links of orders can say of a custom link. Where the link, or the page where it leads, has parameters that name an influencer
 * (`?utm_campaign=spring&ref=mia`), an order must have all of their values: one alone (`spring`) may stand in the links of many. Else it is
 * the address of the link itself, or the name of its target. The address of a landing page names no influencer.
 *
 * @param parameters whose values the layouts read from the links of orders.
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

/** What two references are the same by. */
export function textOf({ all }: References): string {
  return all.join('\n');
}

/** Values of the wanted parameters, each once, sorted; null where there are none. */
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

/** A word that stands for a link; nothing where it is an address. */
function nameOf(text: string): readonly string[] {
  const name = foldCode(text);
  return /^https?:\/\//i.test(text) || /[/?#]/.test(text) || name === '' ? [] : [name];
}

/** `acme.test/mia` is meant as an address, `mia-spring` is not. */
function withScheme(text: string): string {
  return /^[\w-]+(\.[\w-]+)+[/?]/.test(text) ? `https://${text}` : text;
}

/** As the layouts compare names: case, blanks, - and _ folded. */
function foldName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}
