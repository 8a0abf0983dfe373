import type { z } from 'zod';
import { filterPlatforms, type searchFilter } from '../../service/contract/search-filter.ts';
import type { BodyOf } from '../../service/contract.ts';
import {
  AGE_BRACKETS,
  type Audience,
  CONTACT_TYPES,
  GENDERS,
  GROWTH_MONTHS,
  type Influencer,
  type Platform,
  type Population,
  RACES,
} from './population.ts';
import { foldText } from './words.ts';

type Found =
  | {
      readonly kind: 'found';
      /** All matches, the most followed first. */
      readonly influencers: readonly Influencer[];
      /** Members of the filter that are not in the specification. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: 'problem'; readonly message: string };

/**
 * Searches one platform.
 *
 * @param knownUntil Unix seconds; influencers that were added to the database later are left out.
 */
export function searchInfluencers(
  population: Population,
  query: {
    readonly platform: Platform;
    readonly filter: BodyOf<'get_search'>['filter'];
    readonly knownUntil: number;
  },
): Found {
  const { platform, filter, knownUntil } = query;
  const chosen: Test[] = [];
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    const applies = filterPlatforms[name] ?? [platform];
    if (!applies.includes(platform))
      return {
        kind: 'problem',
        message: `filter.${name}: it applies to ${applies.join(' and ')}, not to ${platform}.`,
      };
    const make = Object.hasOwn(tests, name) ? tests[name as FilterName] : undefined;
    if (make === undefined) {
      ignored.push(name);
      continue;
    }
    // The name determines the type of the value and of the filter, but the compiler cannot see that.
    const test = (make as MakeTest<FilterName>)(value as FilterValue<FilterName>, population, platform);
    if (isProblem(test)) return { kind: 'problem', message: `filter.${name}.${test.problem}.` };
    chosen.push(test);
  }
  const influencers = population
    .of(platform)
    .filter((influencer) => influencer.knownSince <= knownUntil && chosen.every((test) => test(influencer)));
  return { kind: 'found', influencers, ignored };
}

/** Tests whether an influencer matches one filter. */
type Test = (influencer: Influencer) => boolean;

/** Why a filter cannot be applied, as text for the answer. */
type Problem = { readonly problem: string };

type Numeric = string | number | undefined;
type Range = { readonly left_number?: Numeric; readonly right_number?: Numeric };

function problem(text: string): Problem {
  return { problem: text };
}

/** Creates the test of a range. Both bounds are inclusive; without a bound, that side is open. */
function inRange(range: Range, read: (influencer: Influencer) => number): Test {
  const least = range.left_number === undefined ? Number.NEGATIVE_INFINITY : Number(range.left_number);
  const most = range.right_number === undefined ? Number.POSITIVE_INFINITY : Number(range.right_number);
  return (influencer) => {
    const value = read(influencer);
    return value >= least && value <= most;
  };
}

/**
 * Reads a minimum share. A value up to 1 is a fraction, a larger one a percentage; the specification does not
 * say which is meant. Without a weight, any share above 0 matches.
 */
function readWeight(weight: Numeric): number {
  if (weight === undefined) return Number.MIN_VALUE;
  const share = Number(weight);
  return share > 1 ? share / 100 : share;
}

/**
 * Parses an interval such as `1month`, `i3months` or `6`.
 * @returns the index in `GROWTH_MONTHS`.
 */
function readInterval(interval: string): number | Problem {
  const months = Number(/^i?(\d{1,2})[ _-]?(?:m|mo|months?)?$/i.exec(interval.trim())?.[1] ?? Number.NaN);
  const column = (GROWTH_MONTHS as readonly number[]).indexOf(months);
  if (column !== -1) return column;
  return problem(`interval: write one of ${GROWTH_MONTHS.map((known) => `${known}month`).join(', ')}`);
}

/** Parses a code in upper or lower case: `MALE` is male. */
function readCode<Code extends string>(code: string, known: readonly Code[]): Code | Problem {
  const folded = code.trim().toLowerCase();
  return (
    known.find((one) => one === folded) ?? problem(`code: the sandbox knows ${known.join(', ')}, in any case`)
  );
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'problem' in value;
}

type Shape = (typeof searchFilter)['shape'];
export type FilterName = keyof Shape;
export type FilterValue<Name extends FilterName> = NonNullable<z.output<Shape[Name]>>;

/** Creates the test of one filter from its value. */
type MakeTest<Name extends FilterName> = (
  value: FilterValue<Name>,
  population: Population,
  platform: Influencer['platform'],
) => Test | Problem;

type FilterTests = { readonly [Name in FilterName]?: MakeTest<Name> };

/** Minimum scores of the magic score's levels. */
const MAGIC = { high: 70, very_high: 90 } as const;

/** Number of common topics that make two influencers similar. */
const ALIKE = 2;

/** Filters by the influencer's own profile. */
const profileFilters = {
  filter_ids: (lists) => {
    const wanted = new Set(lists.flat());
    return ({ userId }) => wanted.has(userId);
  },
  text: (keyword) => {
    const wanted = foldText(keyword);
    return ({ bio }) => foldText(bio).includes(wanted);
  },
  keywords: (keyword) => {
    const wanted = foldText(keyword);
    return ({ postWords }) => postWords.includes(wanted);
  },
  relevance: ({ value }, population, platform) => {
    const likes = readLikeness(value, population, platform);
    return ({ topics }) => likes.some((like) => like(topics));
  },
  last_posted: (days) => {
    const most = Number(days);
    return ({ daysSinceLastPost }) => daysSinceLastPost <= most;
  },
  age: (range) => inRange(range, ({ age }) => age),
  lang: ({ code }) => {
    const wanted = code.trim().toLowerCase();
    return ({ language }) => language === wanted;
  },
  followers: (range) => inRange(range, ({ followers }) => followers),
  views: (range) => inRange(range, ({ views }) => views),
  engagements: (range) => inRange(range, ({ engagements }) => engagements),
  engagement_rate: ({ value }) => {
    const least = Number(value);
    return ({ engagementRate }) => engagementRate >= least;
  },
  geo: (locations) => {
    const wanted = new Set(locations.map(({ id }) => id));
    return ({ cityId, countryId }) => wanted.size === 0 || wanted.has(cityId) || wanted.has(countryId);
  },
  followers_growth: (growth) => grownBy(growth, ({ followersGrowth }) => followersGrowth),
  total_views_growth: (growth) => grownBy(growth, ({ viewsGrowth }) => viewsGrowth),
  with_contact: (channels) => readContacts(channels),
  gender: ({ code }) => {
    const wanted = readCode(code, GENDERS);
    return isProblem(wanted) ? wanted : ({ gender }) => gender === wanted;
  },
  ih_magic: (score) => {
    const least = MAGIC[score];
    return ({ magic }) => magic >= least;
  },
  is_hidden:
    (wanted) =>
    ({ isHidden }) =>
      isHidden === wanted,
  is_verified:
    (wanted) =>
    ({ isVerified }) =>
      isVerified === wanted,
  account_type:
    (wanted) =>
    ({ accountType }) =>
      accountType === wanted,
  reels_plays: (range) => inRange(range, ({ reelsPlays }) => reelsPlays),
} satisfies FilterTests;

/**
 * Parses a similarity filter: `#topic` requires that topic, a handle requires topics similar to that
 * influencer's.
 */
function readLikeness(
  value: string,
  population: Population,
  platform: Influencer['platform'],
): readonly ((topics: readonly string[]) => boolean)[] {
  return value.split(/[\s,]+/).flatMap((part) => {
    if (part === '') return [];
    if (part.startsWith('#'))
      return [(topics: readonly string[]) => topics.includes(part.slice(1).toLowerCase())];
    const model = population.findByHandle(part, platform);
    if (model === null) return [];
    return [
      (topics: readonly string[]) => topics.filter((topic) => model.topics.includes(topic)).length >= ALIKE,
    ];
  });
}

function grownBy(
  { value, interval }: { value: Numeric; interval: string },
  read: (influencer: Influencer) => readonly number[],
): Test | Problem {
  const column = readInterval(interval);
  if (isProblem(column)) return column;
  const least = Number(value);
  return (influencer) => (read(influencer)[column] ?? Number.NEGATIVE_INFINITY) >= least;
}

function readContacts(
  channels: readonly { readonly type: string; readonly action: string }[],
): Test | Problem {
  const tests: Test[] = [];
  for (const { type, action } of channels) {
    const wanted = CONTACT_TYPES.find((known) => known === type.trim().toLowerCase());
    if (wanted === undefined) return problem(`type: the sandbox knows ${CONTACT_TYPES.join(', ')}`);
    if (action !== 'must' && action !== 'must_not') return problem('action: write must or must_not');
    tests.push(({ contacts }) => contacts.includes(wanted) === (action === 'must'));
  }
  return (influencer) => tests.every((test) => test(influencer));
}

/** Filters by audience. An influencer whose audience is unknown matches none of them. */
const audienceFilters = {
  audience_relevance: ({ value }, population, platform) => {
    const likes = readLikeness(value, population, platform);
    return ofAudience(({ interests }) => likes.some((like) => like(interests)));
  },
  audience_age_range: (range) => {
    const least = readWeight(range.weight);
    return ofAudience((audience) => shareOfAges(audience, range) >= least);
  },
  audience_lang: ({ code }) => {
    const wanted = code.trim().toLowerCase();
    return ofAudience(({ languages }) => isMainLanguage(languages, wanted));
  },
  audience_geo: (locations) => {
    const wanted = locations.map(({ id, weight }) => [id, readWeight(weight)] as const);
    return ofAudience(({ places }) => wanted.every(([id, least]) => (places.get(id) ?? 0) >= least));
  },
  audience_race: ({ code, weight }) => {
    const wanted = readCode(code, RACES);
    if (isProblem(wanted)) return wanted;
    const least = readWeight(weight);
    return ofAudience(({ races }) => races[wanted] >= least);
  },
  audience_gender: ({ code, weight }) => {
    const wanted = readCode(code, GENDERS);
    if (isProblem(wanted)) return wanted;
    // Without a weight, at least half of the audience.
    const least = weight === undefined ? 0.5 : readWeight(weight);
    return ofAudience(({ female }) => (wanted === 'female' ? female : 1 - female) >= least);
  },
  audience_credibility_class: (classes) => ofAudience(({ credibility }) => classes.includes(credibility)),
  has_audience_data:
    (wanted) =>
    ({ audience }) =>
      (audience !== null) === wanted,
} satisfies FilterTests;

function ofAudience(test: (audience: Audience) => boolean): Test {
  return ({ audience }) => audience !== null && test(audience);
}

/** The total share of the age brackets that lie entirely within the bounds. */
function shareOfAges({ ages }: Audience, { left_number, right_number }: Range): number {
  const least = left_number === undefined ? 0 : Number(left_number);
  const most = right_number === undefined ? Number.POSITIVE_INFINITY : Number(right_number);
  let share = 0;
  for (const [index, [from, to]] of AGE_BRACKETS.entries()) {
    if (from >= least && to <= most) share += ages[index] ?? 0;
  }
  return share;
}

/** @returns true if no other language has a larger share. */
function isMainLanguage(languages: ReadonlyMap<string, number>, wanted: string): boolean {
  const share = languages.get(wanted) ?? 0;
  if (share === 0) return false;
  for (const other of languages.values()) if (other > share) return false;
  return true;
}

/** All filters of the table in section "Search and reports". The sandbox evaluates each of them. */
const tests: FilterTests = { ...profileFilters, ...audienceFilters };
