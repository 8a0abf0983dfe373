import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createPopulation,
  type Influencer,
  PLATFORMS,
  type Platform,
  type Population,
} from '../../src/sandbox/search/population.ts';
import { type FilterName, searchInfluencers } from '../../src/sandbox/search/search-influencers.ts';
import { filterPlatforms, searchFilter } from '../../src/service/contract/search-filter.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { nameRows, plainFilters } from './plain-filters.ts';
import { startTestSandbox, type TestAnswer, type TestSandbox } from './start-test-sandbox.ts';

const population = createPopulation('1');
const names = Object.keys(searchFilter.shape) as FilterName[];

/** One in five influencers: enough to compare filters, with a fifth of the work. */
const sampled = Object.fromEntries(
  PLATFORMS.map((platform) => [platform, population.of(platform).filter((_, index) => index % 5 === 0)]),
) as unknown as Readonly<Record<Platform, readonly Influencer[]>>;
const sample: Population = { ...population, of: (platform) => sampled[platform] };

const platformsOf = (name: FilterName) => (filterPlatforms[name] ?? PLATFORMS) as readonly Platform[];
const NOW = 2_000_000_000;

/** Finds the expected result of a search by checking every influencer. */
function findPlainly(platform: Platform, filter: Readonly<Record<string, unknown>>): readonly string[] {
  const everyone = sample.of(platform);
  const conditions = Object.entries(filter) as readonly (readonly [FilterName, unknown])[];
  return everyone
    .filter((influencer) =>
      conditions.every(([name, value]) => fitsPlainly(influencer, name, { value, everyone })),
    )
    .map(({ userId }) => userId);
}

function fitsPlainly(
  influencer: Influencer,
  name: FilterName,
  { value, everyone }: { readonly value: unknown; readonly everyone: readonly Influencer[] },
): boolean {
  return plainFilters[name].fits(influencer, value as never, everyone);
}

function findReally(platform: Platform, filter: Readonly<Record<string, unknown>>): readonly string[] {
  const found = searchInfluencers(sample, { platform, filter: searchFilter.parse(filter), knownUntil: NOW });
  if (found.kind === 'problem') throw new Error(found.message);
  return found.influencers.map(({ userId }) => userId);
}

/**
 * Expects the same ids in the same order. It compares strings, because there are thousands of comparisons of
 * thousands of ids.
 */
function expectSame(found: readonly string[], expected: readonly string[]): void {
  expect(found.join('\n')).toBe(expected.join('\n'));
}

describe('every filter agrees with a plain re-implementation over the population', () => {
  test.each(names.flatMap((name) => platformsOf(name).map((platform) => [name, platform] as const)))(
    '%s on %s',
    (name, platform) => {
      const everyone = sample.of(platform);
      let some = 0;
      fc.assert(
        fc.property(plainFilters[name].values as fc.Arbitrary<unknown>, (drawn) => {
          const filter = { [name]: nameRows(name, drawn, everyone) };
          const found = findReally(platform, filter);
          expectSame(found, findPlainly(platform, filter));
          if (found.length > 0 && found.length < everyone.length) some += 1;
        }),
        { numRuns: propertyRuns(25) },
      );
      // A filter that always keeps every influencer, or none, would agree by accident.
      expect(some).toBeGreaterThan(name === 'filter_ids' && platform !== 'instagram' ? -1 : 0);
    },
  );

  test('up to six filters combined', () => {
    const combined = fc.constantFrom(...PLATFORMS).chain((platform) => {
      const chosen = fc.subarray(
        names.filter((name) => platformsOf(name).includes(platform)),
        { minLength: 2, maxLength: 6 },
      );
      return chosen.chain((some) =>
        fc.record({
          platform: fc.constant(platform),
          filter: fc.record(
            Object.fromEntries(
              some.map((name) => [name, plainFilters[name].values as fc.Arbitrary<unknown>]),
            ),
          ),
        }),
      );
    });
    fc.assert(
      fc.property(combined, ({ platform, filter: drawn }) => {
        const entries = Object.entries(drawn).map(([name, value]) => [
          name,
          nameRows(name as FilterName, value, sample.of(platform)),
        ]);
        const filter = Object.fromEntries(entries) as Record<string, unknown>;
        expectSame(findReally(platform, filter), findPlainly(platform, filter));
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});

test('the population has at least 20,000 influencers on three platforms with unique ids and handles, the same for a seed', () => {
  const all = PLATFORMS.flatMap((platform) => population.of(platform));
  expect(all.length).toBeGreaterThanOrEqual(20_000);
  expect(new Set(all.map(({ userId }) => userId)).size).toBe(all.length);
  expect(new Set(all.map(({ platform, handle }) => `${platform} ${handle}`)).size).toBe(all.length);
  expect(createPopulation('1').of('tiktok')).toEqual(population.of('tiktok'));
  expect(createPopulation('2').of('tiktok')).not.toEqual(population.of('tiktok'));
});

function find(sandbox: TestSandbox, body: Record<string, unknown>): Promise<TestAnswer> {
  return sandbox.request('POST', '/v1/search/get_search', {
    body: { platform: 'instagram', filter: {}, ...body },
  });
}

test('the sandbox returns ten accounts per page by offset, and charges a credit only for each new one', async () => {
  const sandbox = await startTestSandbox();
  const first = await find(sandbox, { offset: 0 });
  expect(first.body).toMatchObject({ cost: '10', success: true, search_credits_left: (1200 - 10) / 50 });
  expect(first.body.shown_accounts).toEqual(
    population
      .of('instagram')
      .slice(0, 10)
      .map(({ userId }) => userId),
  );
  const overlapping = await find(sandbox, { offset: 5 });
  expect(overlapping.body).toMatchObject({ cost: '5', search_credits_left: (1200 - 15) / 50 });
  const again = await find(sandbox, { offset: 0 });
  expect(again.body).toMatchObject({ cost: '0', shown_accounts: first.body.shown_accounts });
  const beyond = await find(sandbox, { offset: 1_000_000 });
  expect(beyond.body).toMatchObject({ cost: '0', shown_accounts: [], results: { accounts: [] } });
});

test('the sandbox charges each account once when the same and other pages are requested concurrently', async () => {
  const sandbox = await startTestSandbox();
  const offsets = Array.from({ length: 120 }, (_, index) => (index % 40) * 5);
  const answers = await Promise.all(offsets.map((offset) => find(sandbox, { offset })));
  const cost = answers.reduce((sum, { body }) => sum + Number(body.cost), 0);
  const seen = new Set(answers.flatMap(({ body }) => body.shown_accounts as string[]));
  expect(cost).toBe(seen.size);
  expect((await sandbox.request('GET', '/_sandbox/credits', { key: null })).body).toEqual({
    search: 1200 - seen.size,
    reports: 50,
  });
});

test('the sandbox rejects a search that the credits do not cover', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.request('POST', '/_sandbox/credits', { body: { search: 9.5 }, key: null });
  const refused = await find(sandbox, {});
  expect([refused.status, refused.body.message]).toEqual([
    402,
    expect.stringMatching(/10 are needed and 9\.5/),
  ]);
  await sandbox.request('POST', '/_sandbox/credits', { body: { search: 10 }, key: null });
  expect((await find(sandbox, {})).body).toMatchObject({ cost: '10', search_credits_left: 0 });
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ['views on instagram', { filter: { views: { left_number: '1' } } }, /filter\.views: .*tiktok and youtube/],
  [
    'reels on youtube',
    { platform: 'youtube', filter: { reels_plays: {} } },
    /filter\.reels_plays: .*instagram/,
  ],
  ['an unknown gender', { filter: { gender: { code: 'x' } } }, /filter\.gender\.code/],
  ['an unknown interval', { filter: { followers_growth: { value: 1, interval: 'soon' } } }, /interval/],
  ['an unknown channel', { filter: { with_contact: [{ type: 'pigeon', action: 'must' }] } }, /type/],
  ['an unknown action', { filter: { with_contact: [{ type: 'email', action: 'perhaps' }] } }, /action/],
  ['a bound that is no number', { filter: { followers: { left_number: 'many' } } }, /followers/],
  ['a platform that is none', { platform: 'myspace' }, /platform/],
  ['no filter', { filter: undefined }, /filter/],
  ['an offset below 0', { offset: -1 }, /offset/],
])('the sandbox rejects a search with %s', async (_case, change, message) => {
  const sandbox = await startTestSandbox();
  const answer = await find(sandbox, change);
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
});

test('the sandbox omits influencers added after search_timestamp, and names the filters that it ignored', async () => {
  const sandbox = await startTestSandbox();
  const at = 1_640_995_200;
  const { body } = await find(sandbox, { search_timestamp: at, filter: { colour: 'red' } });
  const known = population.of('instagram').filter(({ knownSince }) => knownSince <= at);
  expect(body).toMatchObject({
    search_timestamp: at,
    ignored_filters: ['colour'],
    results: { total: known.length },
    shown_accounts: known.slice(0, 10).map(({ userId }) => userId),
  });
});

test('the sandbox looks up ids, handles, topics and places', async () => {
  const sandbox = await startTestSandbox();
  const look = async (path: string) => (await sandbox.request('GET', `/v1/search/${path}`)).body;
  const [someone] = population.of('tiktok');
  expect(await look(`database_influencers?q=@${someone?.handle}&type=search&platform=tiktok`)).toEqual({
    items: [someone?.userId],
  });
  const tags = await look('database_influencers?q=%23fit&type=topic-tags&platform=tiktok');
  expect(tags.items).toEqual(expect.arrayContaining(['#fitness', expect.stringMatching(/^@/)]));
  expect(await look('locations?q=SAO%20p')).toEqual({
    inputPhrase: 'SAO p',
    items: [{ id: expect.any(Number), name: 'São Paulo', type: 'city', country: 'Brazil' }],
  });
  const unknown = await sandbox.request(
    'GET',
    '/v1/search/database_influencers?q=a&type=all&platform=tiktok',
  );
  expect(unknown.status).toBe(400);
});

test('the sandbox generates a report once for one report credit', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.request('POST', '/_sandbox/credits', { body: { reports: 1 }, key: null });
  const [one, other] = population.of('youtube');
  const read = (query: string) => sandbox.request('GET', `/v1/search/get_analytics_page?${query}`);
  const first = await read(`user_id=${one?.userId}`);
  expect(first.body).toMatchObject({
    newly_generated: true,
    report_credits_left: 0,
    report: { username: one?.handle, followers: one?.followers },
  });
  const second = await read(`influencer_handle=${one?.handle}&platform=youtube`);
  expect(second.body).toMatchObject({ newly_generated: false, generated_at: first.body.generated_at });
  expect((await read(`user_id=${other?.userId}`)).status).toBe(402);
  expect((await read('user_id=none')).status).toBe(404);
  expect((await read(`user_id=${one?.userId}&platform=tiktok`)).status).toBe(404);
  expect((await read('')).status).toBe(400);
});
