import { createHash } from 'node:crypto';
import { seededRandom } from '../random-id.ts';
import {
  BIO_OPENINGS,
  FIRST_NAMES,
  LAST_NAMES,
  listLanguages,
  listPlaces,
  type Place,
  TOPICS,
} from './words.ts';

/** Number of influencers per platform. */
const INFLUENCERS_A_PLATFORM = 8_000;

export const PLATFORMS = ['instagram', 'tiktok', 'youtube'] as const satisfies readonly Platform[];

/** One in this number of e-mail addresses that no profile contains is an influencer's as well. */
const ONE_IN = 10;

/**
 * Fictional influencers, all derived from the seed. The influencers of a platform are created when they are
 * first needed.
 */
export type Population = {
  /** Influencers of a platform, the most followed first. */
  of(platform: Platform): readonly Influencer[];
  find(userId: string): Influencer | null;
  /** @param platform default: the first platform that has the handle. */
  findByHandle(handle: string, platform?: Platform): Influencer | null;
  /**
   * Finds the owner of an e-mail address: the profile that contains it, or, for a tenth of all other
   * addresses, an influencer chosen by the seed.
   */
  findByEmail(email: string): Influencer | null;
  readonly places: readonly Place[];
};

type Made = {
  readonly ranked: readonly Influencer[];
  readonly byId: ReadonlyMap<string, Influencer>;
  readonly byHandle: ReadonlyMap<string, Influencer>;
};

/**
 * Creates the population of a seed.
 * @param daysAhead returns how many days the clock was set ahead. In that time influencers grow at the rate
 *   of the month before.
 */
export function createPopulation(seed: string, daysAhead: () => number = () => 0): Population {
  const places = listPlaces();
  const made = new Map<Platform, Made>();
  const grown = new Map<Platform, { readonly days: number; readonly made: Made }>();

  function open(platform: Platform): Made {
    const days = daysAhead();
    if (days <= 0) return openToday(platform);
    const known = grown.get(platform);
    if (known?.days === days) return known.made;
    const later = toMade(openToday(platform).ranked.map((influencer) => grow(influencer, days)));
    grown.set(platform, { days, made: later });
    return later;
  }

  function openToday(platform: Platform): Made {
    const known = made.get(platform) ?? makePlatform(seed, platform, places);
    made.set(platform, known);
    return known;
  }

  function findByHandle(handle: string, platform?: Platform): Influencer | null {
    const folded = handle.trim().replace(/^@/, '').toLowerCase();
    const among = platform === undefined ? PLATFORMS : [platform];
    for (const one of among) {
      const found = open(one).byHandle.get(folded);
      if (found !== undefined) return found;
    }
    return null;
  }

  return {
    places,
    of: (platform) => open(platform).ranked,
    find(userId) {
      for (const platform of PLATFORMS) {
        const found = open(platform).byId.get(userId);
        if (found !== undefined) return found;
      }
      return null;
    },
    findByHandle,
    findByEmail(email) {
      const address = email.trim().toLowerCase();
      if (!/^[^@\s]+@[^@\s]+$/.test(address)) return null;
      const own = /^(.+)@creators\.example$/.exec(address)?.[1];
      const owner = own === undefined ? null : findByHandle(own);
      if (owner?.email === address) return owner;
      const digest = createHash('sha256').update(`${seed}/address/${address}`).digest();
      if (digest.readUInt32LE(0) % ONE_IN !== 0) return null;
      const { ranked } = open(PLATFORMS[digest.readUInt8(4) % PLATFORMS.length] ?? 'instagram');
      return ranked[digest.readUInt32LE(5) % ranked.length] ?? null;
    },
  };
}

function makePlatform(seed: string, platform: Platform, places: readonly Place[]): Made {
  const draw = createDraw(seededRandom(`${seed}/population/${platform}`));
  const ground: Ground = {
    cities: places.filter(({ type }) => type === 'city') as unknown as Ground['cities'],
    languages: listLanguages() as Ground['languages'],
  };
  const influencers = Array.from({ length: INFLUENCERS_A_PLATFORM }, (_, number) =>
    makeInfluencer(draw, platform, number, ground),
  );
  return toMade(influencers);
}

const DAYS_A_MONTH = 30;

function grow(influencer: Influencer, days: number): Influencer {
  const { followers, views, followersGrowth, viewsGrowth } = influencer;
  const after = (count: number, percentAMonth = 0): number =>
    Math.round(count * Math.max(0, 1 + percentAMonth / 100) ** (days / DAYS_A_MONTH));
  return {
    ...influencer,
    followers: after(followers, followersGrowth[0]),
    views: after(views, viewsGrowth[0]),
  };
}

function toMade(influencers: readonly Influencer[]): Made {
  return {
    ranked: influencers.toSorted((a, b) => b.followers - a.followers),
    byId: new Map(influencers.map((influencer) => [influencer.userId, influencer])),
    byHandle: new Map(influencers.map((influencer) => [influencer.handle, influencer])),
  };
}

/** The cities and languages to draw from. */
type Ground = {
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
function makeInfluencer(draw: Draw, platform: Platform, number: number, ground: Ground): Influencer {
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

export type Platform = 'instagram' | 'tiktok' | 'youtube';

/** Age brackets of an audience, from and to; the last is open-ended. */
export const AGE_BRACKETS = [
  [13, 17],
  [18, 24],
  [25, 34],
  [35, 44],
  [45, 64],
  [65, Number.POSITIVE_INFINITY],
] as const;

export const GENDERS = ['male', 'female'] as const;
export const RACES = ['asian', 'black', 'hispanic', 'white'] as const;
const CREDIBILITY = ['low', 'normal', 'high', 'best'] as const;
export const CONTACT_TYPES = ['email', 'phone', 'whatsapp', 'linktree', 'website', 'facebook'] as const;
/** Periods in months for which growth is known. */
export const GROWTH_MONTHS = [1, 2, 3, 4, 5, 6, 12] as const;

/** An influencer's audience. Shares are fractions of 1. */
export type Audience = {
  /** Shares by bracket of `AGE_BRACKETS`; they add up to 1. */
  readonly ages: readonly number[];
  readonly female: number;
  readonly languages: ReadonlyMap<string, number>;
  /** Shares by id of the place: countries, and cities in them. */
  readonly places: ReadonlyMap<number, number>;
  readonly races: Readonly<Record<(typeof RACES)[number], number>>;
  readonly credibility: (typeof CREDIBILITY)[number];
  /** The audience's interests: three topics. */
  readonly interests: readonly string[];
};

export type Influencer = {
  readonly userId: string;
  readonly platform: Platform;
  readonly handle: string;
  readonly fullName: string;
  readonly email: string | null;
  readonly bio: string;
  /** Three topics of the posts. */
  readonly topics: readonly string[];
  /** Words in the posts, in lower case and without accents. */
  readonly postWords: readonly string[];
  readonly age: number;
  readonly gender: (typeof GENDERS)[number];
  readonly language: string;
  readonly cityId: number;
  readonly countryId: number;
  readonly followers: number;
  /** Likes and comments per post. */
  readonly engagements: number;
  /** Engagements per follower: 0.03 is 3 percent. */
  readonly engagementRate: number;
  readonly views: number;
  readonly reelsPlays: number;
  /** Growth in percent over each of `GROWTH_MONTHS`. */
  readonly followersGrowth: readonly number[];
  readonly viewsGrowth: readonly number[];
  readonly daysSinceLastPost: number;
  readonly contacts: readonly (typeof CONTACT_TYPES)[number][];
  /** The magic score, 0 to 100. */
  readonly magic: number;
  readonly isHidden: boolean;
  readonly isVerified: boolean;
  readonly accountType: '1' | '2' | '3';
  /** When the influencer was added to the database, in Unix seconds. */
  readonly knownSince: number;
  /** Null if the audience is unknown. */
  readonly audience: Audience | null;
};

/** The address of the influencer's profile; the domain does not exist. */
export function profileUrl({ platform, handle }: Influencer): string {
  return `https://${platform}.example/${handle}`;
}

export function pictureUrl({ userId }: Influencer): string {
  return `https://pictures.example/${userId}.jpg`;
}

/** Random draws from one sequence, so that the same seed gives the same draws. */
export type Draw = {
  /** A number from 0 to 1. */
  fraction(): number;
  /** An integer from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  chance(probability: number): boolean;
  one<Item>(items: readonly [Item, ...Item[]]): Item;
  /** Up to `count` different items, in the order in which they were drawn. */
  some<Item>(items: readonly Item[], count: number): readonly Item[];
  /** Fractions that add up to 1, each roughly in proportion to its weight. */
  shares(weights: readonly number[]): readonly number[];
  /** A roughly normal number around 0, mostly between -2 and 2. */
  normal(): number;
};

export function createDraw(random: () => number): Draw {
  const whole = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  return {
    fraction: random,
    whole,
    chance: (probability) => random() < probability,
    one: (items) => items[whole(0, items.length - 1)] ?? items[0],
    some(items, count) {
      const left = [...items];
      return Array.from({ length: Math.min(count, left.length) }, () =>
        left.splice(whole(0, left.length - 1), 1),
      ).flat();
    },
    shares(weights) {
      const drawn = weights.map((weight) => weight * (0.2 + random()));
      const sum = drawn.reduce((total, share) => total + share, 0);
      return drawn.map((share) => share / sum);
    },
    normal: () => (random() + random() + random() + random() - 2) * 1.7,
  };
}
