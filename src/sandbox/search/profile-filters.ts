import type { z } from 'zod';
import type { searchFilter } from '../../service/contract/search-filter.ts';
import { CONTACT_TYPES, GENDERS, type Influencer } from './influencer.ts';
import { foldText } from './places.ts';
import type { Population } from './population.ts';
import {
  inRange,
  isProblem,
  type Numeric,
  type Problem,
  problem,
  readCode,
  readInterval,
  type Test,
} from './read-filter.ts';

type Shape = (typeof searchFilter)['shape'];
export type FilterName = keyof Shape;
export type FilterValue<Name extends FilterName> = NonNullable<z.output<Shape[Name]>>;

/** Creates the test of one filter from its value. */
export type MakeTest<Name extends FilterName> = (
  value: FilterValue<Name>,
  population: Population,
  platform: Influencer['platform'],
) => Test | Problem;

export type FilterTests = { readonly [Name in FilterName]?: MakeTest<Name> };

/** Minimum scores of the magic score's levels. */
const MAGIC = { high: 70, very_high: 90 } as const;

/** Number of common topics that make two influencers similar. */
const ALIKE = 2;

/** Filters by the influencer's own profile. */
export const profileFilters = {
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
export function readLikeness(
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
  { value, interval }: { readonly value: Numeric; readonly interval: string },
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
