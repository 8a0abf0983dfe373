import type { Exchange, NextPage } from '../../core/http/exchange.ts';
import { isObject, numberText, parseExactJson } from '../../core/text/exact-json.ts';
import { valueAt } from './member-paths.ts';
import type { Paging } from './schema.ts';

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The parameters with which the first page is asked for. */
export function firstPage(paging: Paging | null): Readonly<Record<string, string>> {
  if (paging === null || !('size' in paging) || paging.size === null || paging.size_parameter === null)
    return {};
  return { [paging.size_parameter]: String(paging.size) };
}

/**
 * Finds out how to ask for the page after an answer. A Link header is followed even if no paging is described, because
 * it is a standard (RFC 8288).
 *
 * @returns null if it is the last one.
 */
export function findNextPage(
  paging: Paging | null,
  answered: {
    /** The query with which this page was asked for. */
    readonly query: Query;
    /** The answer as received. */
    readonly received: unknown;
    readonly link: string | string[] | undefined;
    readonly items: number;
    readonly pagesAtMost: number;
  },
): NextPage | null {
  const query = queryAfter(paging ?? { by: 'link' }, answered);
  return query === null ? null : { query, pagesAtMost: answered.pagesAtMost };
}

function queryAfter(
  paging: Paging,
  { query, received, link, items }: Parameters<typeof findNextPage>[1],
): NextPage['query'] | null {
  if (paging.by === 'none') return null;
  if (paging.by === 'link') return readLinkQuery(link);
  if (paging.by === 'cursor') {
    const cursor = valueAt(received, paging.path);
    const text = typeof cursor === 'string' ? cursor : numberText(cursor);
    return text === null || text === '' ? null : { [paging.parameter]: text };
  }
  if (items === 0 || (paging.size !== null && items < paging.size)) return null;
  const asked = Number(query[paging.parameter] ?? (paging.by === 'page' ? paging.first : 0));
  return { [paging.parameter]: String(asked + (paging.by === 'page' ? 1 : items)) };
}

/**
 * Returns the address that a Link header names as the next page (RFC 8288). An address may contain commas and is as the
 * service wrote it: whole, a path, or a query.
 */
export function readNextLink(header: string | string[] | undefined): string | null {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  for (const part of text.slice(0, 8_000).split(/,(?=\s*<)/)) {
    const [target = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const isNext = parameters.some((one) => /^rel\s*=\s*"?next"?$/i.test(one));
    if (isNext && target.startsWith('<') && target.endsWith('>')) return target.slice(1, -1);
  }
  return null;
}

/**
 * The query of the next page. Its host and path do not count: the description says that the list is paged so. A link
 * without a query asks for the same page again, which leaves the list unfinished.
 */
function readLinkQuery(link: string | string[] | undefined): NextPage['query'] | null {
  const next = readNextLink(link);
  if (next === null) return null;
  return Object.fromEntries(URL.parse(next, 'http://host.invalid')?.searchParams ?? []);
}

/**
 * Reads the further pages of a list, and joins them to one answer with all items. A page that cannot be read, that
 * repeats the page before, or that is one too many leaves the list unfinished: the answer then says that it goes on.
 *
 * @param send asks for a page with these parameters added; null if it was not answered.
 */
export async function joinPages(
  first: Extract<Exchange, { readonly kind: 'answer' }>,
  send: (query: NextPage['query']) => Promise<Exchange | null>,
): Promise<Extract<Exchange, { readonly kind: 'answer' }>> {
  const items = [...itemsOf(first.text)];
  let page = first;
  let pages = 1;
  while (page.nextPage !== undefined && page.nextPage !== null && pages < page.nextPage.pagesAtMost) {
    const next = await send(page.nextPage.query);
    pages += 1;
    if (next === null || next.kind === 'failure' || next.status < 200 || next.status > 299) break;
    const found = itemsOf(next.text);
    if (next.text === page.text && found.length > 0) break;
    items.push(...found);
    page = next;
  }
  const isWhole = page.nextPage === undefined || page.nextPage === null;
  const text = JSON.stringify({ items, has_more: !isWhole });
  return { ...first, text, nextPage: null };
}

function itemsOf(text: string): readonly unknown[] {
  const answer = parseExactJson(text);
  if (Array.isArray(answer)) return answer;
  return isObject(answer) && Array.isArray(answer.items) ? answer.items : [];
}
