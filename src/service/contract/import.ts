import { z } from 'zod';
import {
  answeredId,
  brandId,
  countryCode,
  dealAddress,
  emailAddress,
  messageResponse,
  platform,
  text,
} from './fields.ts';
import { defineOperation, wordsOfQueue } from './operation.ts';

export const importOperations = {
  create_deal: defineOperation({
    group: 'import',
    method: 'POST',
    path: '/v1/crm/create_deal',
    body: z.looseObject({
      influencer_handle: text,
      platform: text.describe('Allowed values: not shown.'),
      brand_id: brandId,
      dealflow_id: text,
      first_name: z.string().optional(),
      last_name: z.string().optional(),
      email: emailAddress.optional(),
      funnel_step: z.int().optional().describe('Funnel step to set.'),
      address_line: z.string().optional(),
      postcode: z.string().optional(),
      region: z.string().optional().describe('Region or state.'),
      city: z.string().optional(),
      country_code: countryCode.optional(),
      phone_nr: z.string().optional(),
      total_payouts: z.number().optional().describe('Payouts already made.'),
      total_commission_earned: z.number().optional(),
      total_fixed_fee_earned: z.number().optional(),
      total_sales: z.number().optional(),
      total_referrals: z.number().optional(),
      code: z.string().optional().describe('Discount code.'),
      code_perc: z.number().min(0).max(100).optional().describe('Discount in percent, 0 to 100.'),
      custom_url: z.string().optional().describe('Custom affiliate URL to track.'),
      custom_url_target: z.string().optional().describe('Landing page or reference name for custom_url.'),
      commission_perc: z.number().optional().describe('Commission in percent.'),
      create_affiliate_details: z
        .boolean()
        .optional()
        .describe(
          'True: creates the code and the link in the connected store; false: only records them on the deal page.',
        ),
    }),
    response: messageResponse.extend({
      deal_id: answeredId,
      deal_page_url: dealAddress.optional().describe('{app_url}/deal/<deal_id>'),
    }),
    repeatable: false,
    description:
      'Creates a deal page in a dealflow, without outreach. Endpoints, Import influencers; States and transitions.',
  }),
  submit_influencers: defineOperation({
    group: 'import',
    method: 'POST',
    path: '/v1/search/submit_influencers',
    body: z.looseObject({
      outreach_id: text.describe('Campaign id.'),
      influencer_ids: z.array(text).describe('User ids of influencers.'),
      platform,
    }),
    response: messageResponse.extend({
      total_added: z.int(),
      duplicates_ignored: z.int(),
      success: z.boolean(),
      status: z.int(),
    }),
    repeatable: false,
    // Its counts say how many were added.
    usualWords: [...wordsOfQueue, 'added'],
    credits: '0.04 search credits for each influencer added; duplicates are skipped',
    description:
      'Adds influencers to an outreach campaign, which may send mail to them. Endpoints, Import influencers; Limits.',
  }),
};
