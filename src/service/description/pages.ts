import type { Exchange, ListPage, NextPage } from '../../core/http/exchange.ts';
import { isObject, numberText } from '../../core/json/exact-json.ts';
import { plural } from '../../core/text/plural.ts';
import { valueAt } from './member-paths.ts';
import type { Paging, ServiceDescription } from './schema.ts';

type Query = Readonly<Record<string, string>>;

/** A page as it was answered. */
export type AnsweredPage = {
  /** The query with which it was asked for, and the path of the operation. */
  readonly query: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly path: string;
  /** The answer as received, and its content without the envelope. */
  readonly received: unknown;
  readonly content: unknown;
  readonly headers: Extract<Exchange, { readonly kind: 'answer' }>['headers'];
  readonly items: number;
};

/** The parameters with which the first page is asked for. */
export function firstPage(paging: Paging | null): Query {
  if (paging === null || !('size' in paging) || paging.size === null || paging.size_parameter === null)
    return {};
  return { [paging.size_parameter]: String(paging.size) };
}

/** A list of so many items, or a multiple, is as long as a page would be. */
const PAGE_SIZES = [10, 25];

/**
 * Finds out whether a list may go on after a page, and how to ask for more. If no paging is described, the header Link
 * tells (RFC 8288), or a member under one of the names in `lists`. A list that does not say that it is whole and is as
 * long as a page would be may go on.
 *
 * @returns null if the list is whole, as far as this page shows.
 */
export function findNextPage(
  { lists, limits }: ServiceDescription,
  paging: Paging | null,
  page: AnsweredPage,
): NextPage | null {
  const { path, items } = page;
  const more = (why: string, query: Query | null, sign: Partial<NextPage> = {}): NextPage => ({
    why,
    query,
    total: null,
    isGuess: false,
    pagesAtMost: limits.pages,
    ...sign,
  });
  if (paging !== null) {
    const query = queryAfter(paging, page);
    return query === null ? null : more('it has another page', query);
  }
  const link = readNextLink(page.headers.link);
  if (link !== null) return more('a Link header names a next page', toQuery(link, path));
  const said = saidBy(page);
  const at = numberIn(said, lists.page);
  const offset = numberIn(said, lists.offset);
  const counted = at === null ? null : { page: String(at + 1) };
  const next = counted ?? (offset === null ? null : { offset: String(offset + items) });
  const filled = lists.more.filter((name) => saysMore(valueAt(said, name)));
  if (filled[0] !== undefined) {
    const stated = filled.map((name) => statedQuery(name, { said, path })).find((query) => query !== null);
    return more(`the answer says that there is more (${filled[0]})`, stated ?? next);
  }
  const denied = lists.whole.find((name) => ['false', '0'].includes(String(valueAt(said, name))));
  if (denied !== undefined) return more(`the answer says that it is not whole (${denied})`, next);
  const pages = numberIn(said, lists.pages);
  if (pages !== null && pages > (at ?? 1)) return more(`the answer is page ${at ?? 1} of ${pages}`, next);
  const total = numberIn(said, lists.totals);
  const all = total ?? numberIn(said, lists.counts) ?? 0;
  if (all > items) return more(`the list contains ${items} of ${plural(all, 'item')}`, next, { total: all });
  if (total !== null && total < items)
    return more(`the list contains ${plural(items, 'item')}, and the answer says ${total}`, null);
  const isStated =
    total !== null || pages !== null || lists.more.some((name) => valueAt(said, name) !== undefined);
  const size = numberIn(said, lists.page_size);
  const isFull = size === null ? PAGE_SIZES.some((one) => items % one === 0) : items >= size;
  if (isStated || items === 0 || !isFull) return null;
  return more(
    `the answer has ${plural(items, 'item')}, as many as a full page (if the service has no pages, say paging: {by: none} in section service, docs/service.md)`,
    next,
    { isGuess: true },
  );
}

/**
 * Reads the further pages of a list, as far as its answers show how.
 *
 * @param send asks for a page with these parameters added.
 * @param options.mayAskMore called before each further page; if it returns false, the list is left unfinished.
 * @param options.ignoresGuesses true if a full page that says nothing about more is taken for a whole list.
 * @returns `problem` says why other items may exist. Null if the list is whole.
 */
export async function joinPages(
  first: ListPage,
  send: (query: Query) => Promise<ListPage | { readonly problem: string }>,
  options: { readonly mayAskMore?: () => boolean; readonly ignoresGuesses?: boolean } = {},
): Promise<{ readonly items: readonly unknown[]; readonly problem: string | null }> {
  const { mayAskMore = () => true, ignoresGuesses = false } = options;
  const items: unknown[] = [];
  const seen = new Set<string>();
  let page = first;
  let asked: Query = {};
  // An item that is moved or removed meanwhile moves others to a page that was read before.
  let doubt: string | null = null;
  for (let number = 1; ; number += 1) {
    const before = seen.size;
    const own = new Set(page.items.map((item) => JSON.stringify(item)));
    for (const item of own) seen.add(item);
    if (number > 1 && own.size > 0 && seen.size === before)
      return { items, problem: `page ${number} repeats what was listed before` };
    if (page.doubt !== undefined) doubt ??= `page ${number} is an answer ${page.doubt}`;
    if (seen.size < before + own.size) doubt ??= `page ${number} repeats a part of what was listed before`;
    for (const item of page.items) items.push(item);
    const { next } = page;
    if (first.next?.total && next?.total && next.total !== first.next.total)
      doubt ??= `the list had ${plural(first.next.total, 'item')}, and ${next.total} while it was read`;
    if (next === null || (next.isGuess && ignoresGuesses)) return { items, problem: doubt };
    if (next.total !== null && seen.size >= next.total) return { items, problem: doubt };
    const why =
      next.total === null ? next.why : `the list contains ${seen.size} of ${plural(next.total, 'item')}`;
    if (number >= next.pagesAtMost)
      return {
        items,
        problem: `${why}, and only ${plural(number, 'page is', 'pages are')} read (limits.pages in section service)`,
      };
    // A service that names a next page after an empty one, or the same page again, would be asked for ever.
    const isStuck =
      (number > 1 && page.items.length === 0) || JSON.stringify(next.query) === JSON.stringify(asked);
    if (next.query === null || isStuck || !mayAskMore()) return { items, problem: why };
    asked = next.query;
    const answered = await send(asked);
    if ('problem' in answered)
      return { items, problem: `${why}, and page ${number + 1} could not be read: ${answered.problem}` };
    page = answered;
  }
}

function queryAfter(paging: Paging, { query, received, headers, items }: AnsweredPage): Query | null {
  if (paging.by === 'none') return null;
  if (paging.by === 'link') {
    const link = readNextLink(headers.link);
    // Its host and path do not count: the description says that the list is paged so.
    return link === null
      ? null
      : Object.fromEntries(URL.parse(link, 'http://host.invalid')?.searchParams ?? []);
  }
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
 * What may speak about paging: members of the answer and of what stands beside or around the list, and headers. `hasMore`
 * is read as `has_more`, too.
 */
function saidBy({ received, content, headers }: AnsweredPage): Readonly<Record<string, unknown>> {
  const named = Object.entries(headers).map(([name, value]) => [name.replace(/^x-/, ''), value]);
  const outer = [received, content].filter(isObject);
  const inner = outer.flatMap(partsOf);
  const all = [Object.fromEntries(named), ...inner.flatMap(partsOf), ...inner, ...outer];
  return Object.assign(Object.create(null), ...all.map(withSnakeCase), ...all);
}

function partsOf(value: object): readonly Readonly<Record<string, unknown>>[] {
  return Object.values(value).filter(isObject);
}

function withSnakeCase(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name
        .replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
        .replaceAll('-', '_')
        .toLowerCase(),
      one,
    ]),
  );
}

/** The query that a member states: an address, or a value whose name tells the parameter. */
function statedQuery(
  name: string,
  { said, path }: { said: Readonly<Record<string, unknown>>; path: string },
): Query | null {
  const value = valueAt(said, name);
  const text = typeof value === 'string' ? value.trim() : numberText(value);
  if (text === null) return null;
  if (/^(https?:|[/?])/.test(text)) return toQuery(text, path);
  const [, parameter = null] = /(?:^|\.)(?:next_)?(page|cursor|offset|page_token)$/.exec(name) ?? [];
  const named = /(?:^|\.)next$/.test(name) ? 'page' : parameter;
  return named === null ? null : { [named]: text };
}

/** Empty, false and zero say nothing. */
function saysMore(value: unknown): boolean {
  if (typeof value === 'string') return !['', '0', 'false', 'null'].includes(value.trim());
  if (Array.isArray(value) || isObject(value)) return Object.values(value).some(saysMore);
  return value === true || !['0', null].includes(numberText(value));
}

function numberIn(said: unknown, names: readonly string[]): number | null {
  for (const name of names) {
    const value = valueAt(said, name);
    const text = typeof value === 'string' ? value.trim() : numberText(value);
    if (text !== null && /^\d{1,9}$/.test(text)) return Number(text);
  }
  return null;
}

/**
 * Returns the address that a Link header names as the next page (RFC 8288). An address may contain commas and is as the
 * service wrote it: whole, a path, or a query.
 */
function readNextLink(header: string | string[] | undefined): string | null {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  for (const part of text.slice(0, 8_000).split(/,(?=\s*<)/)) {
    const [target = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const isNext = parameters.some((one) => /^rel\s*=\s*"?next"?$/i.test(one));
    if (isNext && target.startsWith('<') && target.endsWith('>')) return target.slice(1, -1);
  }
  return null;
}

/** The query of a link. Null if it leads to another path: only the query of the same operation is followed. */
function toQuery(link: string, path: string): Query | null {
  const url = URL.parse(link, `http://service${path}`);
  if (url === null || url.search === '' || !url.pathname.endsWith(path)) return null;
  return Object.fromEntries(url.searchParams);
}
