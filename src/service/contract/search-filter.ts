import { z } from 'zod';
import { text } from './fields.ts';

/** Bounds and weights are numeric strings in the specification's sample; numbers are accepted too. */
const numeric = z.union([
  z
    .string()
    .regex(/^-?[0-9]+(\.[0-9]+)?$/, 'must be a number or a numeric string')
    .meta({ title: 'number as text' }),
  z.number(),
]);
const range = z.looseObject({ left_number: numeric.optional(), right_number: numeric.optional() });
const weight = numeric.optional();
const growth = z.looseObject({ value: numeric, interval: z.string().describe('Allowed values: not shown.') });
const code = z.string().describe('Allowed values: not shown.');
const locationId = z.int();

/**
 * Filters that only some platforms support; all others apply to all three. From column "Applies to" of the
 * table "Filter members".
 */
export const filterPlatforms: Readonly<Record<string, readonly string[]>> = {
  views: ['tiktok', 'youtube'],
  engagements: ['instagram'],
  engagement_rate: ['instagram'],
  total_views_growth: ['tiktok', 'youtube'],
  audience_race: ['instagram'],
  reels_plays: ['instagram'],
};

/**
 * The table "Filter members" of `POST /v1/search/get_search`. In the descriptions, I is Instagram, T TikTok
 * and Y YouTube.
 */
export const searchFilter = z.looseObject({
  filter_ids: z.array(z.array(text)).optional().describe('I T Y. Individual influencers by user id.'),
  text: z.string().optional().describe('I T Y. Keyword in the profile description.'),
  keywords: z.string().optional().describe('I T Y. Single keyword in posts.'),
  relevance: z.looseObject({ value: z.string() }).optional().describe('I T Y. Lookalike influencer.'),
  audience_relevance: z.looseObject({ value: z.string() }).optional().describe('I T Y. Lookalike audience.'),
  last_posted: z.enum(['30', '90', '180']).optional().describe('I T Y. Days since the last post.'),
  audience_age_range: range.extend({ weight }).optional().describe('I T Y. Audience age and minimum share.'),
  age: range.optional().describe('I T Y. Age of the influencer.'),
  audience_lang: z.looseObject({ code }).optional().describe('I T Y. Audience language.'),
  lang: z.looseObject({ code }).optional().describe('I T Y. Profile language.'),
  followers: range.optional().describe('I T Y. Number of followers.'),
  views: range.optional().describe('T Y. Average number of views.'),
  engagements: range.optional().describe('I. Total engagements.'),
  engagement_rate: z.looseObject({ value: numeric }).optional().describe('I. Minimum rate, as a decimal.'),
  audience_geo: z
    .array(z.looseObject({ id: locationId, weight }))
    .optional()
    .describe('I T Y. Locations of the audience, each with a weight.'),
  geo: z
    .array(z.looseObject({ id: locationId }))
    .optional()
    .describe('I T Y. Locations of the influencer.'),
  followers_growth: growth.optional().describe('I T Y. Minimum growth of followers in percent.'),
  total_views_growth: growth.optional().describe('T Y. Minimum growth of views in percent.'),
  with_contact: z
    .array(z.looseObject({ type: z.string(), action: z.string() }))
    .optional()
    .describe(
      'I T Y. Contact channels that the influencer must or must not have. Allowed values: not shown.',
    ),
  audience_race: z.looseObject({ code, weight }).optional().describe('I. Ethnicity and minimum share.'),
  gender: z.looseObject({ code }).optional().describe('I T Y. Gender of the influencer.'),
  audience_gender: z.looseObject({ code, weight }).optional().describe('I T Y. Gender of the audience.'),
  ih_magic: z.enum(['high', 'very_high']).optional().describe("I T Y. The service's magic score."),
  audience_credibility_class: z
    .array(z.enum(['low', 'normal', 'high', 'best']))
    .optional()
    .describe('I T Y.'),
  has_audience_data: z.boolean().optional().describe('I T Y.'),
  is_hidden: z.boolean().optional().describe('I T Y.'),
  is_verified: z.boolean().optional().describe('I T Y.'),
  account_type: z.enum(['1', '2', '3']).optional().describe('I T Y. 1 regular, 2 business, 3 creator.'),
  reels_plays: range.optional().describe('I. Number of reel plays.'),
});
