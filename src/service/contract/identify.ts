import { z } from 'zod';
import { brandId, brandIdInQuery, emailAddress, webAddress } from './fields.ts';
import { defineOperation, wordsOfQueue } from './operation.ts';

export const identifyOperations = {
  identify_influencers: defineOperation({
    group: 'identify',
    method: 'POST',
    path: '/v1/search/identify_influencers',
    body: z.looseObject({
      influencer_list: z.array(emailAddress).describe('Addresses to check.'),
      brand_id: brandId.optional().describe('Omitted: the first brand of the account.'),
      source_type: z
        .string()
        .optional()
        .describe('In the request sample; meaning and allowed values: not shown.'),
    }),
    response: z.looseObject({
      message: z.string().describe('States that the contacts were queued.'),
      success: z.boolean().optional().describe('Only in one variant.'),
    }),
    repeatable: true,
    usualWords: wordsOfQueue,
    description:
      'Queues contacts. Those who are influencers appear after some minutes, or at the latest after an hour. Endpoints, Identify influencers; Limits.',
  }),
  identify_influencers_real_time: defineOperation({
    group: 'identify',
    method: 'GET',
    path: '/v1/search/identify_influencers_real_time',
    query: z.looseObject({ brand_id: brandIdInQuery.optional(), influencer_email: emailAddress.optional() }),
    response: z.looseObject({
      is_influencer: z.boolean().optional().describe('The answer when there is no match: not shown.'),
      type: z.string().nullish().describe('Platform.'),
      user_id: z.string().nullish(),
      url: webAddress.nullish(),
      username: z.string().nullish(),
      fullname: z.string().nullish(),
      picture: webAddress.nullish().describe('Address of an image.'),
      followers: z.int().nullish(),
      is_verified: z.boolean().nullish(),
    }),
    repeatable: true,
    // It knows no such person.
    usualWords: ['no', 'not', 'unknown', 'exist', 'exists'],
    description:
      'Identifies one influencer by e-mail address, and answers at once. Which query members are required: not shown. Endpoints, Identify influencers.',
  }),
};
