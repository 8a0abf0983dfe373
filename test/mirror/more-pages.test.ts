import { describe, expect, it } from 'vitest';
import { findNextPage, joinPages } from '../../src/service/description/pages.ts';
import { serviceSchema, specifiedService } from '../../src/service/description/schema.ts';
import { fromServiceAnswer } from '../../src/service/description/translate.ts';
import { openStory, rowsOf } from './story.ts';
import type { StubService } from './stub-service.ts';

const PATH = '/v1/account/search_brands';

function find(answer: unknown, headers: Record<string, string> = {}, of: { items?: number } = {}) {
  const { items = 2 } = of;
  const page = { query: {}, path: PATH, received: answer, content: answer, headers, items };
  return findNextPage(specifiedService, null, page);
}

describe('a list goes on', () => {
  it.each<[string, unknown, Record<string, string> | null]>([
    ['next as an address', { next: `https://host/api${PATH}?page=2&q=a` }, { page: '2', q: 'a' }],
    ['next as a path', { links: { next: `${PATH}?cursor=x%20y` } }, { cursor: 'x y' }],
    ['next as a query', { next: '?offset=50' }, { offset: '50' }],
    ['next elsewhere', { next: 'https://host/v1/account/delete_webhook?page=2' }, null],
    ['a number of the next page', { meta: { next_page: 3 } }, { page: '3' }],
    ['a cursor', { next_cursor: 'eyJ' }, { cursor: 'eyJ' }],
    ['a cursor, and that there is more', { has_more: true, cursor: 'eyJ' }, { cursor: 'eyJ' }],
    ['a next page that is an object', { next: { id: 'eyJ' } }, null],
    ['more, on a page', { pagination: { has_more: true, page: 1 } }, { page: '2' }],
    ['more, from somewhere', { has_more: true }, null],
    ['pages', { page: 2, pages: 5 }, { page: '3' }],
    ['pages without a page', { total_pages: '3' }, null],
    ['a total', { total: 7 }, null],
    ['a total and an offset', { total: 7, offset: 4 }, { offset: '6' }],
    ['a count that is larger', { count: 3 }, null],
  ])('if it says so: %s', (_what, answer, next) => {
    expect(find(answer)).toMatchObject({ query: next, isGuess: false });
  });

  it.each<[string, Record<string, string>, Record<string, string> | null]>([
    [
      'a link',
      { link: `<https://host${PATH}?page=1>; rel="prev", <https://host${PATH}?page=3>; rel="next"` },
      { page: '3' },
    ],
    ['a link to another host or path', { link: '<https://elsewhere/orders?page=3>; rel=next' }, null],
    ['a total', { 'x-total-count': '12' }, null],
    ['pages', { 'x-total-pages': '2' }, null],
    ['the next page', { 'x-next-page': '2', 'x-page': '1', 'x-per-page': '2' }, { page: '2' }],
  ])('if a header says so: %s', (_what, headers, next) => {
    expect(find([], headers)).toMatchObject({ query: next });
  });

  it('if it is as long as a page would be, and nothing says that it is whole', () => {
    for (const items of [10, 20, 25, 50, 100, 1_000])
      expect(find([], {}, { items })).toMatchObject({ isGuess: true });
    expect(find({ limit: 7 }, {}, { items: 7 })).toMatchObject({ isGuess: true });
    expect(find({ count: 10 }, {}, { items: 10 }), 'it may count this page').toMatchObject({ isGuess: true });
    for (const whole of [
      { total: 50 },
      { next: null },
      { has_more: false },
      { page: 1, pages: 1 },
      { limit: 100 },
    ])
      expect(find(whole, {}, { items: 50 })).toBeNull();
  });

  it('and otherwise it is whole', () => {
    for (const answer of [
      [],
      {},
      { next: null },
      { next: '' },
      { next: false },
      { total: 2, page: 1, pages: 1 },
      { has_more: 'false' },
    ])
      expect(find(answer)).toBeNull();
    expect(find({ __proto__: { next: 'x' }, constructor: 3 }, { link: '<broken' })).toBeNull();
    expect(find({ cursor: { before: null, after: null } }, { 'x-next-page': '' })).toBeNull();
  });

  it('until its pages together have as many items as it says', async () => {
    const page = (from: number) => ({ items: [from, from + 1], next: find({ total: 6, page: from / 2 }) });
    const asked: unknown[] = [];
    const joined = await joinPages(page(2), async ({ page: number }) => {
      asked.push(number);
      return page(Number(number) * 2);
    });
    expect(joined).toEqual({ items: [2, 3, 4, 5, 6, 7], problem: null });
    expect(asked).toEqual(['2', '3']);
  });

  it('not beyond an empty page, nor beyond one that repeats what was listed: neither adds an item', async () => {
    const next = find({ next_cursor: 'c' });
    for (const further of [[], [1, 2]]) {
      let asked = 0;
      const { items, problem } = await joinPages({ items: [1, 2], next }, async () => {
        asked += 1;
        return { items: further, next: find({ next_cursor: `c${asked}` }) };
      });
      expect([items, asked, problem === null]).toEqual([[1, 2], 1, false]);
    }
  });

  it('no further than the description of the service says, and says so', async () => {
    let number = 0;
    const page = () => {
      number += 1;
      if (number > 1_100) throw new Error('it never ends');
      return { items: [number], next: find({ next_cursor: `c${number}` }) };
    };
    const { items, problem } = await joinPages(page(), async () => page());
    expect([items.length, problem]).toEqual([1_000, expect.stringContaining('limits.pages')]);
  });
});

const brand = (number: number) => ({ id: number, name: `Brand ${number}` });
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => brand(from + index));

/** The service answers with two pages of three brands. */
function answerInPages(
  service: StubService,
  toPage: (page: number) => { body: unknown; headers?: Record<string, string> },
) {
  service.override = ({ path, query }) => (path === PATH ? toPage(Number(query.page ?? 1)) : null);
}

const known = async (db: Parameters<typeof rowsOf>[0]) =>
  (
    await rowsOf(db, 'select is_deleted, count(*)::int as brands from mirror.brands group by 1 order by 1')
  ).map(({ is_deleted, brands }) => `${brands} ${is_deleted === true ? 'gone' : 'there'}`);

describe('the list of brands', () => {
  it('is followed to its end, by page or by link, and only then is a missing brand gone', async () => {
    const { db, service, run } = await openStory();
    service.brands = range(1, 7);
    await run();
    answerInPages(service, (page) => ({
      body: { items: page === 1 ? range(1, 3) : range(4, 6), page, pages: 2 },
    }));
    expect(await run()).toMatchObject({ exitCode: 0, report: { details: { problems: [] } } });
    expect(await known(db)).toEqual(['6 there', '1 gone']);
    answerInPages(service, (page) => ({
      body: page === 1 ? range(1, 3) : range(4, 5),
      ...(page === 1 && { headers: { link: `<http://else${PATH}?page=2>; rel="next"` } }),
    }));
    expect(await run()).toMatchObject({ exitCode: 0 });
    expect(await known(db)).toEqual(['5 there', '2 gone']);
  });

  it.each<[string, (page: number) => { body: unknown; headers?: Record<string, string> }, string]>([
    [
      'it says that there is more, and not how',
      () => ({ body: { items: range(1, 3), has_more: true } }),
      'there is more',
    ],
    [
      'a header has a larger total',
      () => ({ body: range(1, 3), headers: { 'X-Total-Count': '9' } }),
      'contains 3 of 9',
    ],
    ['it is as long as a page', () => ({ body: range(1, 10) }), 'as many as a full page'],
    ['it has more than its total', () => ({ body: { items: range(1, 3), total: 2 } }), 'answer says 2'],
    ['it doubts itself', () => ({ body: { items: range(1, 3), status: 'partial' } }), 'unknown status'],
    ['it says so in camel case', () => ({ body: { items: range(1, 3), hasMore: true } }), 'has_more'],
    ['it denies that it is whole', () => ({ body: { items: range(1, 3), is_last: false } }), 'is_last'],
    [
      'a total is two levels below',
      () => ({ body: { items: range(1, 3), meta: { page: { total: 9 } } } }),
      'contains 3 of 9',
    ],
    [
      'a page repeats a part of another, because an item moved',
      (page) => ({
        body: page === 1 ? { items: range(1, 3), next_page: 2 } : { items: [...range(3, 3), ...range(5, 6)] },
      }),
      'repeats a part',
    ],
    [
      'its total changes, because an item was removed',
      (page) => ({
        body: { items: page === 1 ? range(1, 3) : range(5, 6), page, total: page === 1 ? 6 : 5 },
      }),
      'had 6 items, and 5',
    ],
    [
      'it names a brand twice, with two names',
      () => ({ body: [...range(1, 3), { id: '1', name: 'Other' }] }),
      '1 of 4 items could not be read',
    ],
    ['its pages repeat', () => ({ body: { items: range(1, 3), next_page: 2 } }), 'page 2 repeats'],
    [
      'a later page fails',
      (page) => (page === 1 ? { body: { items: range(1, 3), next_page: 2 } } : { body: '<html>' }),
      'page 2',
    ],
  ])('marks nothing as gone if %s, and the run is not ok', async (_what, toPage, problem) => {
    const { db, service, run } = await openStory();
    service.brands = range(1, 12);
    await run();
    answerInPages(service, toPage);
    const { exitCode, report } = await run();
    expect([exitCode, report.details.problems.join()]).toEqual([3, expect.stringContaining(problem)]);
    expect(await known(db)).toEqual(['12 there']);
    expect(await rowsOf(db, "select name from mirror.brands where brand_id = '1'")).toEqual([
      { name: 'Brand 1' },
    ]);
  });
});

describe('the search for deals', () => {
  const suggestions = (ids: readonly number[]) =>
    ids.map((id) => ({ deal_id: `D${id}`, influencer_handle: `h${id}` }));

  it('is not ok as long as prefixes wait, and is ok once it is complete', async () => {
    const { run } = await openStory();
    const first = await run({ autocompleteBudget: 30, refreshAfterHours: 20 });
    expect(first.exitCode).toBe(3);
    expect(first.report.details.problems).toEqual([expect.stringContaining('7 prefixes of handles wait')]);
    expect((await run({ autocompleteBudget: 30, refreshAfterHours: 20 })).exitCode).toBe(0);
  });

  it('says so if every answer is the same and full, so that it finds nothing new', async () => {
    const { service, run } = await openStory();
    service.override = ({ path }) =>
      path === '/v1/crm/autocomplete' ? { body: suggestions([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) } : null;
    const { exitCode, report } = await run({ autocompleteBudget: 100 });
    expect(exitCode).toBe(3);
    expect(report.details.problems).toEqual([
      expect.stringContaining('the same 10 results for every letter'),
    ]);
  });

  it('asks for longer prefixes if an answer says that it is cut off, whatever its size', async () => {
    const { db, service, run } = await openStory();
    service.override = ({ path, query }) => {
      if (path !== '/v1/crm/autocomplete') return null;
      if (query.q === 'h') return { body: { items: suggestions([1, 2]), total: 3 } };
      return { body: { items: query.q === 'h3' ? suggestions([3]) : [] } };
    };
    await run({ autocompleteBudget: 200 });
    expect(await rowsOf(db, 'select deal_id from mirror.known_deals order by 1')).toEqual([
      { deal_id: 'D1' },
      { deal_id: 'D2' },
      { deal_id: 'D3' },
    ]);
    expect(await rowsOf(db, "select says_more, is_split from mirror.prefixes where prefix = 'h'")).toEqual([
      { says_more: true, is_split: true },
    ]);
  });
});

it('a list of a service that has no pages, and says so in its description, is whole however long it is', () => {
  const items = Array.from({ length: 10 }, (_, id) => ({ id, name: 'Acme' }));
  const answer = { kind: 'answer', status: 200, text: JSON.stringify(items), headers: {} } as const;
  const more = (paging: { readonly by: 'none' } | null) => {
    const service = serviceSchema.parse({ ids: 'text', operations: { search_brands: { paging } } });
    return fromServiceAnswer(service, 'search_brands', { answer, input: {} }).list?.next;
  };
  expect([more(null), more({ by: 'none' })]).toEqual([expect.objectContaining({ isGuess: true }), null]);
});
