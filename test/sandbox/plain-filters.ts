import fc from 'fast-check';
import type { Influencer } from '../../src/sandbox/search/population.ts';
import type { FilterName, FilterValue } from '../../src/sandbox/search/search-influencers.ts';
import { listLanguages, listPlaces, TOPICS } from '../../src/sandbox/search/words.ts';

/**
 * One filter of the table, written independently from the specification as simply as possible, with values to
 * test.
 */
type PlainFilter<Value> = {
  readonly values: fc.Arbitrary<Value>;
  readonly fits: (influencer: Influencer, value: Value, everyone: readonly Influencer[]) => boolean;
};

const numeric = (arbitrary: fc.Arbitrary<number>) =>
  fc.tuple(arbitrary, fc.boolean()).map(([value, isText]) => (isText ? String(value) : value));
const range = (most: number) =>
  fc.record(
    { left_number: numeric(fc.nat(most)), right_number: numeric(fc.nat(most)) },
    { requiredKeys: [] },
  );
/** A fraction or a percentage: a value above 1 is a percentage. */
const share = numeric(
  fc.oneof(
    fc.nat(100).map((percent) => percent / 100),
    fc.integer({ min: 2, max: 100 }),
  ),
);
const leastShare = (weight: string | number | undefined) =>
  Number(weight) > 1 ? Number(weight) / 100 : Number(weight);
const topic = fc.constantFrom(...TOPICS.map(([name]) => name));
const word = fc.constantFrom(...TOPICS.flat());
const language = fc.constantFrom(...listLanguages());
const place = fc.constantFrom(...listPlaces().map(({ id }) => id));
const growth = fc.record({
  value: numeric(fc.integer({ min: -20, max: 40 })),
  interval: fc.constantFrom('1month', 'i1month', '2months', '3', '6months', '12m'),
});
const gender = fc.constantFrom('male', 'FEMALE');
const like = fc.oneof(
  topic.map((name) => `#${name}`),
  fc.nat(7_999).map((index) => `@row:${index}`),
);

const COLUMNS: Readonly<Record<string, number>> = {
  '1month': 0,
  i1month: 0,
  '2months': 1,
  '3': 2,
  '6months': 5,
  '12m': 6,
};
const BRACKETS = [
  [13, 17],
  [18, 24],
  [25, 34],
  [35, 44],
  [45, 64],
  [65, 999],
] as const;

type Bounds = {
  readonly left_number?: string | number | undefined;
  readonly right_number?: string | number | undefined;
};
function within(value: number, { left_number: least, right_number: most }: Bounds): boolean {
  if (least !== undefined && value < Number(least)) return false;
  return !(most !== undefined && value > Number(most));
}

type Table = { readonly [Name in FilterName]: PlainFilter<FilterValue<Name>> };

/** Every filter of the table. The compiler reports a missing one. */
export const plainFilters: Table = {
  filter_ids: {
    values: fc.array(
      fc.array(fc.nat(9_999).map((row) => `4${String(row * 7919 + 1_000_003).padStart(9, '0')}`)),
    ),
    fits: ({ userId }, lists) => lists.some((list) => list.some((id) => id === userId)),
  },
  text: { values: word, fits: ({ bio }, text) => bio.toLowerCase().indexOf(text) >= 0 },
  keywords: {
    values: word,
    fits: ({ postWords }, text) => postWords.filter((one) => one === text).length > 0,
  },
  relevance: {
    values: like.map((value) => ({ value })),
    fits: ({ topics }, { value }, everyone) => isLike(topics, value, everyone),
  },
  audience_relevance: {
    values: like.map((value) => ({ value })),
    fits: ({ audience }, { value }, everyone) =>
      audience !== null && isLike(audience.interests, value, everyone),
  },
  last_posted: {
    values: fc.constantFrom('30', '90', '180'),
    fits: ({ daysSinceLastPost }, days) => !(daysSinceLastPost > Number(days)),
  },
  audience_age_range: {
    values: fc.record({
      left_number: fc.constantFrom('13', '18', 25, 35, 20),
      right_number: fc.constantFrom('17', '24', 34, 64, 999),
      weight: share,
    }),
    fits: ({ audience }, { left_number, right_number, weight }) => {
      if (audience === null) return false;
      let sum = 0;
      for (let index = 0; index < 6; index += 1) {
        const [from, to] = BRACKETS[index] ?? [0, 0];
        const isOpen = index === 5;
        if (isOpen || from < Number(left_number) || to > Number(right_number)) continue;
        sum += audience.ages[index] ?? 0;
      }
      return sum >= leastShare(weight);
    },
  },
  age: { values: range(70), fits: ({ age }, bounds) => within(age, bounds) },
  audience_lang: {
    values: language.map((code) => ({ code })),
    fits: ({ audience }, { code }) => {
      const spoken = [...(audience?.languages ?? [])].toSorted(([, a], [, b]) => b - a);
      const [top] = spoken;
      return spoken.some(([name, part]) => name === code && part === top?.[1]);
    },
  },
  lang: { values: language.map((code) => ({ code })), fits: (one, { code }) => one.language === code },
  followers: { values: range(100_000), fits: ({ followers }, bounds) => within(followers, bounds) },
  views: { values: range(50_000), fits: ({ views }, bounds) => within(views, bounds) },
  engagements: { values: range(5_000), fits: ({ engagements }, bounds) => within(engagements, bounds) },
  engagement_rate: {
    values: fc.record({ value: numeric(fc.nat(120).map((mille) => mille / 1000)) }),
    fits: ({ engagementRate }, { value }) => !(engagementRate < Number(value)),
  },
  audience_geo: {
    values: fc.array(fc.record({ id: place, weight: share }), { maxLength: 2 }),
    fits: ({ audience }, wanted) =>
      audience !== null &&
      !wanted.some(({ id, weight }) => (audience.places.get(id) ?? 0) < leastShare(weight)),
  },
  geo: {
    values: fc.array(fc.record({ id: place }), { maxLength: 3 }),
    fits: ({ cityId, countryId }, wanted) =>
      wanted.length === 0 || wanted.some(({ id }) => id === cityId || id === countryId),
  },
  followers_growth: {
    values: growth,
    fits: (one, { value, interval }) => Number(one.followersGrowth[COLUMNS[interval] ?? -1]) >= Number(value),
  },
  total_views_growth: {
    values: growth,
    fits: (one, { value, interval }) => Number(one.viewsGrowth[COLUMNS[interval] ?? -1]) >= Number(value),
  },
  with_contact: {
    values: fc.array(
      fc.record({
        type: fc.constantFrom('email', 'phone', 'website'),
        action: fc.constantFrom('must', 'must_not'),
      }),
      { maxLength: 3 },
    ),
    fits: ({ contacts }, wanted) => {
      const has = (type: string) => (contacts as readonly string[]).indexOf(type) >= 0;
      return !wanted.some(({ type, action }) => (action === 'must' ? !has(type) : has(type)));
    },
  },
  audience_race: {
    values: fc.record({ code: fc.constantFrom('asian', 'Black', 'HISPANIC', 'white'), weight: share }),
    fits: ({ audience }, { code, weight }) => {
      const races: Readonly<Record<string, number>> = audience?.races ?? {};
      return audience !== null && Number(races[code.toLowerCase()]) >= leastShare(weight);
    },
  },
  gender: {
    values: gender.map((code) => ({ code })),
    fits: (one, { code }) => one.gender === code.toLowerCase(),
  },
  audience_gender: {
    values: fc.record({ code: gender, weight: share }),
    fits: ({ audience }, { code, weight }) => {
      if (audience === null) return false;
      const part = code === 'FEMALE' ? audience.female : 1 - audience.female;
      return part >= leastShare(weight);
    },
  },
  ih_magic: {
    values: fc.constantFrom('high', 'very_high'),
    fits: ({ magic }, score) => (score === 'high' ? magic > 69 : magic > 89),
  },
  audience_credibility_class: {
    values: fc.uniqueArray(fc.constantFrom('low', 'normal', 'high', 'best')),
    fits: ({ audience }, classes) => classes.some((one) => one === audience?.credibility),
  },
  has_audience_data: { values: fc.boolean(), fits: ({ audience }, wanted) => Boolean(audience) === wanted },
  is_hidden: { values: fc.boolean(), fits: ({ isHidden }, wanted) => isHidden === wanted },
  is_verified: { values: fc.boolean(), fits: ({ isVerified }, wanted) => isVerified === wanted },
  account_type: {
    values: fc.constantFrom('1', '2', '3'),
    fits: ({ accountType }, wanted) => accountType === wanted,
  },
  reels_plays: { values: range(100_000), fits: ({ reelsPlays }, bounds) => within(reelsPlays, bounds) },
};

/**
 * Matches `#topic`, or an influencer with at least two topics in common. The influencer is named by row here
 * and by handle in a request.
 */
function isLike(topics: readonly string[], value: string, everyone: readonly Influencer[]): boolean {
  if (value.startsWith('#')) return topics.indexOf(value.slice(1)) >= 0;
  const model = modelOf(value, everyone);
  return model !== undefined && model.topics.filter((one) => topics.indexOf(one) >= 0).length > 1;
}

type Model = {
  readonly value: string;
  readonly everyone: readonly Influencer[];
  readonly model: Influencer | undefined;
};
let last: Model = { value: '', everyone: [], model: undefined };

/** Finds the model once per value, not once per influencer. */
function modelOf(value: string, everyone: readonly Influencer[]): Influencer | undefined {
  if (last.value !== value || last.everyone !== everyone)
    last = { value, everyone, model: everyone.find(({ handle }) => `@${handle}` === value) };
  return last.model;
}

/** Replaces a drawn row with a handle, because handles are known only after the population is created. */
export function nameRows(name: FilterName, value: unknown, everyone: readonly Influencer[]): unknown {
  if (name !== 'relevance' && name !== 'audience_relevance') return value;
  const row = /^@row:(\d+)$/.exec((value as { readonly value: string }).value)?.[1];
  return row === undefined ? value : { value: `@${everyone[Number(row)]?.handle ?? ''}` };
}
