export type Platform = 'instagram' | 'tiktok' | 'youtube';

/** Ages of an audience, as brackets from and to; the last is open. */
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
export const CREDIBILITY = ['low', 'normal', 'high', 'best'] as const;
export const CONTACT_TYPES = ['email', 'phone', 'whatsapp', 'linktree', 'website', 'facebook'] as const;
/** Months over which growth is known. */
export const GROWTH_MONTHS = [1, 2, 3, 4, 5, 6, 12] as const;

/** Shares are fractions of 1. */
export type Audience = {
  /** By bracket of `AGE_BRACKETS`; they add up to 1. */
  readonly ages: readonly number[];
  readonly female: number;
  readonly languages: ReadonlyMap<string, number>;
  /** By id of place: countries, and the cities in them. */
  readonly places: ReadonlyMap<number, number>;
  readonly races: Readonly<Record<(typeof RACES)[number], number>>;
  readonly credibility: (typeof CREDIBILITY)[number];
  /** What it cares for: three topics. */
  readonly interests: readonly string[];
};

/** One invented influencer. */
export type Influencer = {
  readonly userId: string;
  readonly platform: Platform;
  readonly handle: string;
  readonly fullName: string;
  readonly email: string | null;
  readonly bio: string;
  /** Three topics that the posts are about. */
  readonly topics: readonly string[];
  /** Words of the posts, in lower case and without accents. */
  readonly postWords: readonly string[];
  readonly age: number;
  readonly gender: (typeof GENDERS)[number];
  readonly language: string;
  readonly cityId: number;
  readonly countryId: number;
  readonly followers: number;
  /** Likes and comments of a post. */
  readonly engagements: number;
  /** Engagements for each follower: 0.03 is 3 percent. */
  readonly engagementRate: number;
  readonly views: number;
  readonly reelsPlays: number;
  /** Percent over each of `GROWTH_MONTHS`. */
  readonly followersGrowth: readonly number[];
  readonly viewsGrowth: readonly number[];
  readonly daysSinceLastPost: number;
  readonly contacts: readonly (typeof CONTACT_TYPES)[number][];
  /** The magic score, 0 to 100. */
  readonly magic: number;
  readonly isHidden: boolean;
  readonly isVerified: boolean;
  readonly accountType: '1' | '2' | '3';
  /** Unix seconds since which the database has it. */
  readonly knownSince: number;
  /** Null where nothing is known of the audience. */
  readonly audience: Audience | null;
};

/** The page of the influencer; the domain leads nowhere. */
export function profileUrl({ platform, handle }: Influencer): string {
  return `https://${platform}.example/${handle}`;
}

export function pictureUrl({ userId }: Influencer): string {
  return `https://pictures.example/${userId}.jpg`;
}
