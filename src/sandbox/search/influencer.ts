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
export const CREDIBILITY = ['low', 'normal', 'high', 'best'] as const;
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

/** A fictional influencer. */
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
