import {
  AGE_BRACKETS,
  type Audience,
  GROWTH_MONTHS,
  type Influencer,
  pictureUrl,
  profileUrl,
} from './influencer.ts';

/**
 * Describes everything that the sandbox knows about an influencer. The specification does not show the
 * content of a real report.
 */
export function describeReport(influencer: Influencer): unknown {
  const { audience, followersGrowth, viewsGrowth } = influencer;
  return {
    user_id: influencer.userId,
    username: influencer.handle,
    fullname: influencer.fullName,
    platform: influencer.platform,
    url: profileUrl(influencer),
    picture: pictureUrl(influencer),
    bio: influencer.bio,
    topics: influencer.topics,
    age: influencer.age,
    gender: influencer.gender,
    language: influencer.language,
    geo: { city: influencer.cityId, country: influencer.countryId },
    followers: influencer.followers,
    engagements: influencer.engagements,
    engagement_rate: influencer.engagementRate,
    views: influencer.views,
    reels_plays: influencer.reelsPlays,
    followers_growth: byMonths(followersGrowth),
    total_views_growth: byMonths(viewsGrowth),
    days_since_last_post: influencer.daysSinceLastPost,
    contacts: influencer.contacts,
    ih_magic: influencer.magic,
    is_hidden: influencer.isHidden,
    is_verified: influencer.isVerified,
    account_type: influencer.accountType,
    audience: audience === null ? null : describeAudience(audience),
  };
}

function describeAudience(audience: Audience): unknown {
  return {
    ages: AGE_BRACKETS.map(([from, to], index) => ({
      left_number: from,
      right_number: Number.isFinite(to) ? to : null,
      weight: audience.ages[index] ?? 0,
    })),
    genders: { female: audience.female, male: 1 - audience.female },
    languages: Object.fromEntries(audience.languages),
    geo: [...audience.places].map(([id, weight]) => ({ id, weight })),
    races: audience.races,
    credibility_class: audience.credibility,
    interests: audience.interests,
  };
}

function byMonths(growth: readonly number[]): readonly unknown[] {
  return GROWTH_MONTHS.map((months, index) => ({ months, percent: growth[index] ?? 0 }));
}
