import { isObject, numberText } from '../core/text/exact-json.ts';
import { readNextLink } from '../service/description/pages.ts';

/** Whether a list is whole, as far as its answer shows. */
export type More =
  | { readonly kind: 'whole' }
  | {
      readonly kind: 'more';
      /** Why the list may go on, after "the list is not complete:". */
      readonly why: string;
      /** Query parameters of the next page. Null if the answer does not show how to ask for it. */
      readonly next: Readonly<Record<string, string>> | null;
      /** True if only the number of items suggests it. */
      readonly isGuess: boolean;
    };

/** One page of a list, as it was answered. */
export type Page = {
  /** The parsed answer. */
  readonly answer: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Number of items on this page, and on this and all earlier pages. */
  readonly items: number;
  readonly itemsSoFar: number;
  /** Path of the request, so that only links to the same operation are followed. */
  readonly path: string;
};

/** Names under which services state that a list goes on. All of them are read; the first that says so counts. */
const PAGING_NAMES = {
  /** The next page itself: an address, a number or a cursor. The value is the parameter that asks for it; null for an address. */
  next: {
    next: 'page',
    next_page: 'page',
    next_page_url: null,
    next_url: null,
    next_cursor: 'cursor',
    next_page_token: 'page_token',
    next_token: null,
    cursor: 'cursor',
    next_offset: 'offset',
  },
  hasMore: ['has_more', 'has_next', 'more', 'truncated', 'is_truncated', 'incomplete'],
  page: ['page', 'current_page', 'page_number'],
  pages: ['pages', 'total_pages', 'last_page', 'page_count', 'num_pages'],
  total: ['total', 'total_count', 'total_results', 'total_items'],
  /** Of all items or of this page: only a larger number shows something. */
  count: ['count'],
  offset: ['offset', 'skip'],
  size: ['limit', 'per_page', 'page_size'],
  totalHeader: ['x-total-count', 'x-total', 'total-count'],
  pagesHeader: ['x-total-pages'],
} as const;

/** A list of so many items, or a multiple, is as long as a page would be. */
const PAGE_SIZES = [10, 25];

/**
 * Finds out whether a list may go on after a page, and how to ask for more. A list that does not say that it is whole and
 * is as long as a page would be may go on. A pure function.
 */
export function findMore(page: Page): More {
  const { answer, headers, items, itemsSoFar, path } = page;
  const said = saidBy(answer);
  const link = readNextLink(headers.link);
  if (link !== null) return more('a Link header names a next page', toQuery(link, path));
  for (const [name, parameter] of Object.entries(PAGING_NAMES.next)) {
    const value = textOf(said[name]);
    if (value === null) continue;
    const isAddress = /^(https?:|[/?])/.test(value);
    const next = isAddress ? toQuery(value, path) : parameter === null ? null : { [parameter]: value };
    return more(`the answer says that there is more (${name})`, next);
  }
  const at = numberOf(said, PAGING_NAMES.page);
  const nextPage = at === null ? null : { page: String(at + 1) };
  const offset = numberOf(said, PAGING_NAMES.offset);
  const next = nextPage ?? (offset === null ? null : { offset: String(offset + items) });
  const flag = PAGING_NAMES.hasMore.find((name) => said[name] === true || said[name] === 'true');
  if (flag !== undefined) return more(`the answer says that there is more (${flag})`, next);

  const pages = numberOf(said, PAGING_NAMES.pages) ?? numberOf(headers, PAGING_NAMES.pagesHeader);
  if (pages !== null && pages > (at ?? 1)) return more(`the answer is page ${at ?? 1} of ${pages}`, next);
  const total = numberOf(said, PAGING_NAMES.total) ?? numberOf(headers, PAGING_NAMES.totalHeader);
  const all = total ?? numberOf(said, PAGING_NAMES.count) ?? 0;
  if (all > itemsSoFar) return more(`the answer contains ${itemsSoFar} of ${all}`, next);

  const flags = [...Object.keys(PAGING_NAMES.next), ...PAGING_NAMES.hasMore];
  const isStated = total !== null || pages !== null || flags.some((name) => name in said);
  const size = numberOf(said, PAGING_NAMES.size);
  const isFull = size === null ? PAGE_SIZES.some((one) => items % one === 0) : items >= size;
  if (isStated || items === 0 || !isFull) return { kind: 'whole' };
  return more(
    `the answer has ${items} items, as many as a full page (if the service has no pages, say paging: {by: none} in section service, docs/service.md)`,
    next,
    true,
  );
}

function more(why: string, next: Readonly<Record<string, string>> | null, isGuess = false): More {
  return { kind: 'more', why, next, isGuess };
}

/** The members of an answer that may speak about paging: those of the top level, and of what stands beside or around the list. */
function saidBy(answer: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(answer)) return {};
  const inner = Object.values(answer).filter(isObject);
  return Object.assign(Object.create(null), ...inner, answer) as Record<string, unknown>;
}

/** A value that names something. Empty, false and zero name nothing. */
function textOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : numberText(value);
  return text === null || ['', '0', 'false', 'null'].includes(text) ? null : text;
}

function numberOf(said: Readonly<Record<string, unknown>>, names: readonly string[]): number | null {
  for (const name of names) {
    const text = textOf(said[name]) ?? (said[name] === 0 ? '0' : null);
    if (text !== null && /^\d{1,9}$/.test(text)) return Number(text);
  }
  return null;
}

/** The query of a link. Null if it leads to another path: only the query of the same operation is followed. */
function toQuery(link: string, path: string): Readonly<Record<string, string>> | null {
  const url = URL.parse(link, `http://service${path}`);
  if (url === null || url.search === '' || !url.pathname.endsWith(path)) return null;
  return Object.fromEntries(url.searchParams);
}
