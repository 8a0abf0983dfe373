import type { Draw } from './draw.ts';
import {
  type AGE_BRACKETS,
  type Audience,
  CONTACT_TYPES,
  CREDIBILITY,
  GROWTH_MONTHS,
  type Influencer,
  type Platform,
} from './influencer.ts';
import type { Place } from './places.ts';
import { BIO_OPENINGS, FIRST_NAMES, LAST_NAMES, TOPICS } from './words.ts';

/** The cities and languages to draw from. */
export type Ground = {
  readonly cities: readonly [Place, ...Place[]];
  readonly languages: readonly [string, ...string[]];
};

/** 1 January 2019 and 2025, in Unix seconds. Influencers were added to the database between these dates. */
const KNOWN_FROM = 1_546_300_800;
const KNOWN_UNTIL = 1_735_689_600;

/** First digit of a platform's user ids, so that no id exists on two platforms. */
const ID_DIGIT: Readonly<Record<Platform, string>> = { instagram: '4', tiktok: '6', youtube: '8' };

/**
 * Invents one influencer. Its properties are correlated: an influencer with many followers is verified more
 * often, and an audience lives mostly where the influencer does.
 *
 * @param number its index on the platform, which makes its id and handle unique.
 */
export function makeInfluencer(draw: Draw, platform: Platform, number: number, ground: Ground): Influencer {
  const [first, gender] = draw.one(FIRST_NAMES as typeof FIRST_NAMES & [(typeof FIRST_NAMES)[number]]);
  const last = draw.one(LAST_NAMES);
  const topics = draw.some(TOPICS, 3);
  const names = topics.map(([topic]) => topic);
  const city = draw.one(ground.cities);
  const language = draw.chance(0.8) ? city.language : draw.one(ground.languages);
  const followers = Math.round(10 ** (3 + draw.fraction() ** 1.6 * 4));
  const engagementRate = Math.round((0.002 + draw.fraction() ** 2 * 0.12) * 10_000) / 10_000;
  const engagements = Math.round(followers * engagementRate);
  const handle = `${first}.${names[0] ?? ''}${number}`.toLowerCase();
  return {
    userId: `${ID_DIGIT[platform]}${String(number * 7919 + 1_000_003).padStart(9, '0')}`,
    platform,
    handle,
    fullName: `${first} ${last}`,
    email: draw.chance(0.55) ? `${handle}@creators.example` : null,
    bio: `${draw.one(BIO_OPENINGS)} ${names.join(', ')}. ${city.name}.`,
    topics: names,
    postWords: topics.flatMap(([topic, ...words]) => [topic, ...draw.some(words, 2)]),
    age: Math.min(70, 16 + Math.round(draw.fraction() ** 1.5 * 45)),
    gender,
    language,
    cityId: city.id,
    countryId: city.countryId,
    followers,
    engagements,
    engagementRate,
    views: Math.round(followers * (0.05 + draw.fraction())),
    reelsPlays: Math.round(followers * (0.1 + draw.fraction() * 1.5)),
    followersGrowth: makeGrowth(draw),
    viewsGrowth: makeGrowth(draw),
    daysSinceLastPost: Math.floor(draw.fraction() ** 3 * 400),
    contacts: draw.some(CONTACT_TYPES, draw.whole(0, 3)),
    magic: draw.whole(0, 100),
    isHidden: draw.chance(0.03),
    isVerified: draw.chance(Math.log10(followers) / 20),
    accountType: draw.one(['1', '2', '3', '3']),
    knownSince: draw.whole(KNOWN_FROM, KNOWN_UNTIL),
    audience: draw.chance(0.85) ? makeAudience(draw, city, { language, topics: names, ground }) : null,
  };
}

function makeGrowth(draw: Draw): readonly number[] {
  let total = 0;
  let month = 0;
  return GROWTH_MONTHS.map((until) => {
    for (; month < until; month += 1) total += draw.normal() * 4 + 1;
    return Math.round(total * 100) / 100;
  });
}

/** Approximate distribution of an audience over `AGE_BRACKETS`. */
const AGE_WEIGHTS = [8, 34, 32, 14, 9, 3] as const satisfies {
  readonly length: (typeof AGE_BRACKETS)['length'];
};

function makeAudience(
  draw: Draw,
  city: Place,
  { language, topics, ground }: { language: string; topics: readonly string[]; ground: Ground },
): Audience {
  const [home = 1, second = 0, third = 0] = draw.shares([6, 2, 1]);
  const [own = 1, other = 0] = draw.shares([4, 1]);
  const places = new Map<number, number>();
  const add = (id: number, share: number): void => void places.set(id, (places.get(id) ?? 0) + share);
  add(city.countryId, home);
  add(city.id, home * (0.2 + draw.fraction() * 0.6));
  for (const [abroad, share] of [second, third].map((share) => [draw.one(ground.cities), share] as const)) {
    add(abroad.countryId, share);
    add(abroad.id, share * draw.fraction());
  }
  const languages = new Map([[language, own]]);
  const foreign = draw.one(ground.languages);
  languages.set(foreign, (languages.get(foreign) ?? 0) + other);
  const [asian = 0, black = 0, hispanic = 0, white = 0] = draw.shares([1, 1, 1, 2]);
  return {
    ages: draw.shares(AGE_WEIGHTS),
    female: draw.fraction(),
    languages,
    places,
    races: { asian, black, hispanic, white },
    credibility: draw.one(CREDIBILITY),
    interests: draw.chance(0.5) ? topics : draw.some(TOPICS, 3).map(([topic]) => topic),
  };
}
