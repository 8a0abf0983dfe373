import { foldHandle } from '../account/account.ts';
import {
  AGE_BRACKETS,
  type Audience,
  GROWTH_MONTHS,
  type Influencer,
  pictureUrl,
  profileUrl,
} from '../search/population.ts';
import { searchInfluencers } from '../search/search-influencers.ts';
import { foldText, TOPICS } from '../search/words.ts';
import { answer, type Handlers, refuse } from './operation.ts';

/** Section Limits: 10 influencers per request, 1 search credit for each new one. */
const PAGE = 10;
const HUNDREDTHS_A_NEW_ONE = 100;

/** Section "Search and reports": the answer gives the remaining credits divided by this number. */
const CREDITS_A_UNIT = 50;

/** Maximum number of items in the answer to a look-up. */
const MAX_ITEMS = 20;

export const search: Handlers = {
  get_search: ({ account, population, body, clock }) => {
    const { platform, filter, offset = 0 } = body;
    const knownUntil = body.search_timestamp ?? Math.floor(clock.now() / 1000);
    const found = searchInfluencers(population, { platform, filter, knownUntil });
    if (found.kind === 'problem') return refuse(400, found.message);
    const shown = found.influencers.slice(offset, offset + PAGE);
    const fresh = shown.filter(({ userId }) => !account.seen.items.has(userId));
    if (!account.credits.spendSearch(fresh.length * HUNDREDTHS_A_NEW_ONE)) {
      const left = account.credits.search();
      return refuse(402, `Not enough search credits: ${fresh.length} are needed and ${left} are left.`);
    }
    for (const { userId } of fresh) account.seen.set(userId, true);
    return answer({
      results: { accounts: shown.map(describeEntry), total: found.influencers.length },
      cost: String(fresh.length),
      shown_accounts: shown.map(({ userId }) => userId),
      search_credits_left: account.credits.search() / CREDITS_A_UNIT,
      search_timestamp: knownUntil,
      success: true,
      // The specification does not say what happens to unknown filters. The sandbox ignores them and lists
      // them here.
      ...(found.ignored.length === 0 ? {} : { ignored_filters: found.ignored }),
    });
  },

  database_influencers: ({ population, query }) => {
    const { type, platform } = query;
    const wanted = foldHandle(query.q.replace(/^\s*#/, ''));
    const matching = population
      .of(platform)
      .filter(({ userId, handle, fullName }) =>
        [userId, handle, fullName.toLowerCase()].some((name) => name.includes(wanted)),
      );
    if (type === 'search') return answer({ items: matching.slice(0, MAX_ITEMS).map(({ userId }) => userId) });
    const topics = TOPICS.flatMap(([topic]) => (topic.includes(wanted) ? [`#${topic}`] : []));
    const handles = matching.map(({ handle }) => `@${handle}`);
    return answer({ items: [...topics, ...handles].slice(0, MAX_ITEMS) });
  },

  locations: ({ population, query }) => {
    const wanted = foldText(query.q);
    const places = population.places.filter(({ name }) => foldText(name).includes(wanted));
    const items = places.map(({ id, name, type, country }) => ({ id, name, type, country }));
    return answer({ items: items.slice(0, MAX_ITEMS), inputPhrase: query.q });
  },

  get_analytics_page: ({ account, population, query, clock }) => {
    const { user_id, influencer_handle, platform } = query;
    if (!user_id && !influencer_handle)
      return refuse(400, 'user_id: at least one of user_id and influencer_handle is required');
    const influencer = user_id
      ? population.find(user_id)
      : population.findByHandle(influencer_handle ?? '', platform);
    if (influencer === null || (platform !== undefined && influencer.platform !== platform))
      return refuse(404, 'Influencer not found: no influencer has this user_id or influencer_handle.');
    const madeBefore = account.reports.items.get(influencer.userId);
    if (madeBefore === undefined && !account.credits.spendReport())
      return refuse(402, 'Not enough report credits: none are left.');
    const madeAt = madeBefore ?? new Date(clock.now()).toISOString();
    if (madeBefore === undefined) account.reports.set(influencer.userId, madeAt);
    return answer({
      report: describeReport(influencer),
      generated_at: madeAt,
      newly_generated: madeBefore === undefined,
      report_credits_left: account.credits.reports(),
      success: true,
    });
  },
};

function describeEntry(influencer: Influencer): unknown {
  const { userId, handle, fullName, platform, followers, engagementRate, engagements, isVerified } =
    influencer;
  return {
    user_id: userId,
    username: handle,
    fullname: fullName,
    platform,
    url: profileUrl(influencer),
    picture: pictureUrl(influencer),
    followers,
    engagements,
    engagement_rate: engagementRate,
    is_verified: isVerified,
  };
}

/**
 * Describes everything that the sandbox knows about an influencer. The specification does not show the
 * content of a real report.
 */
function describeReport(influencer: Influencer): unknown {
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
