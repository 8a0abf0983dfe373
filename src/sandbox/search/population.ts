import { createHash } from 'node:crypto';
import { seededRandom } from '../random-id.ts';
import { createDraw } from './draw.ts';
import type { Influencer, Platform } from './influencer.ts';
import { type Ground, makeInfluencer } from './make-influencer.ts';
import { listLanguages, listPlaces, type Place } from './places.ts';

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
